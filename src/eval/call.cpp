#include "eval/call.h"

#include "eval/evaluation.h"

namespace hilo {

// Ideal arithmetic: floats of 16 bits and more, and complex numbers, are held and computed in f64
// without rounding to the declared type, so that two forms of one program differ there by mistakes
// only. What keeps fewer than 16 bits still rounds: conversions to floats of 8 bits and narrower
// and to integers, and reduce-precision to such a format. Ops that look at bits (bitcast-convert,
// bitcasts to another type) round to the declared type first and hold the result again.
ElementType held_type(ElementType declared, bool ideal_floats) {
  if (!ideal_floats || bits_of(declared) < 16) return declared;
  if (is_floating(declared)) return ElementType::F64;
  return is_complex(declared) ? ElementType::C128 : declared;
}

Shape held_shape(Shape declared, bool ideal) {
  if (!ideal) return declared;
  declared.type = held_type(declared.type, true);
  for (Shape& element : declared.elements) element = held_shape(std::move(element), true);
  return declared;
}

bool Call::ideal() const { return options().ideal_floats; }
bool Call::is_reference() const { return options().reference; }
ElementType Call::held(ElementType declared) const { return held_type(declared, ideal()); }
Shape Call::held(const Shape& declared) const { return held_shape(declared, ideal()); }

Literal Call::make() const {
  if (held_stated) return Literal::uninitialized(held_stated, device.evaluation->allocate());
  return make(shape());
}

Literal Call::make(const Shape& declared) const { return make_held(held(declared)); }

Literal Call::make_held(const Shape& exact) const {
  return Literal::uninitialized(exact, device.evaluation->allocate());
}

SharedShape Call::result_shape() const {
  return held_stated ? held_stated : std::make_shared<const Shape>(held(shape()));
}

Result<Literal> Call::with_shape(const Literal& value, SharedShape shape) const {
  const Shape& from = value.shape();
  if (from.is_array() && shape->is_array() && value.count() == element_count(*shape) &&
      storage_bytes(value.type()) == storage_bytes(shape->type))
    return value.with_shape(std::move(shape));
  return error(ErrorKind::Shape,
               fmt::format("expected a result of as many bytes as {}, found {}",
                           to_string_without_layout(from), to_string_without_layout(*shape)));
}

Result<void> Call::need_memory(int64_t bytes) const {
  const StoragePool& storage = device.evaluation->storage();
  if (storage.fits(bytes)) return {};
  return error(ErrorKind::Memory,
               fmt::format("{} bytes of values are alive and {} more are needed; the limit is {}",
                           storage.alive(), bytes, storage.limit()));
}

ThreadPool& Call::pool() const { return device.evaluation->pool(); }
const EvalOptions& Call::options() const { return device.evaluation->options(); }

Result<Literal> Call::apply(ComputationId computation, std::vector<Literal> arguments) const {
  return device.evaluation->run(device, module, computation, std::move(arguments), depth + 1);
}

void Call::parallel(int64_t count, int64_t grain,
                    const std::function<void(int64_t begin, int64_t end)>& body) const {
  grain = std::max<int64_t>(1, grain);
  if (count <= grain) {
    if (count > 0) body(0, count);
    return;
  }
  const Evaluation& evaluation = *device.evaluation;
  pool().run((count + grain - 1) / grain, [&](int64_t tile) {
    if (evaluation.is_interrupted()) return;
    const FlushSubnormals flush;
    body(tile * grain, std::min(count, (tile + 1) * grain));
  });
}

Parallel Call::in_chunks() const {
  return {pool().threads(), [this](int64_t count, int64_t grain, const Parallel::Body& body) {
            parallel(count, grain, body);
          }};
}

std::unexpected<Error> Call::error(ErrorKind kind, std::string message) const {
  return std::unexpected(Error{kind, std::move(message), module.place(id)});
}

Result<Literal> evaluate_Call(Call& call) {
  return call.apply(call.attributes<CallAttributes>().to_apply,
                    {std::make_move_iterator(call.operands.begin()),
                     std::make_move_iterator(call.operands.end())});
}

}  // namespace hilo
