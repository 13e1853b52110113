#include "eval/block_program.h"

#include <algorithm>
#include <cstring>

namespace hilo {

struct BlockProgram::Block {
  std::span<const void* const> sources;
  std::span<void* const> outputs;
  int64_t begin, n, capacity;
  int64_t done, total;  // elements of this run before the block, and of all of it
  std::byte* scratch;
  std::byte* at(int64_t offset) const { return scratch + offset * capacity; }
};

int BlockProgram::add_register(ElementType type) {
  registers_.push_back({type});
  return static_cast<int>(registers_.size() - 1);
}

int BlockProgram::add_source(Source source, ElementType type) {
  source.value = add_register(type);
  const bool given = source.kind != SourceKind::Constant && source.kind != SourceKind::Iota;
  if (given) source.argument = arguments_++;
  sources_.push_back(std::move(source));
  return sources_.back().value;
}

int BlockProgram::add_source(ElementType stored) {
  return add_source(Source{SourceKind::Stream}, stored);
}

int BlockProgram::add_uniform(ElementType stored) {
  return add_source(Source{SourceKind::Uniform}, stored);
}

int BlockProgram::add_view(ElementType stored, View view) {
  Source source{SourceKind::Strided};
  source.view = view.simplified();
  return add_source(std::move(source), stored);
}

int BlockProgram::add_constant(const Literal& scalar) {
  Source source{SourceKind::Constant};
  source.constant = scalar;
  return add_source(std::move(source), scalar.type());
}

int BlockProgram::add_iota(ElementType type, int64_t inner, int64_t size) {
  Source source{SourceKind::Iota};
  source.inner = inner, source.size = size;
  const bool exact = type == ElementType::S64 || type == ElementType::U64;
  return add_convert(add_source(std::move(source), exact ? type : ElementType::S64), type);
}

int BlockProgram::add_convert(int from, ElementType to) {
  const ElementType type = registers_[from].type;
  if (type == to) return from;
  ElementwiseKernel kernel;
  kernel.kernel = convert_kernel(type, to);
  kernel.finish = finish_kernel(to);
  kernel.first = bits_of(to);
  kernel.operands[0] = type, kernel.result = to;
  return add(kernel, std::array{from});
}

int BlockProgram::add(const ElementwiseKernel& kernel, std::span<const int> operands) {
  if (!kernel.kernel) return operands[0];  // a conversion to the same type
  BlockStep step{kernel.kernel, kernel.finish, {}, static_cast<int>(operands.size()), 0,
                 kernel.first,  kernel.second};
  for (size_t i = 0; i < operands.size(); ++i)
    step.in[i] = add_convert(operands[i], kernel.operands[i]);
  step.out = add_register(kernel.result);
  registers_[step.out].step = static_cast<int>(steps_.size());
  steps_.push_back(step);
  return kernel.rounded ? add_convert(step.out, *kernel.rounded) : step.out;
}

// An output that is a source is copied first, because other outputs may stand in its place.
void BlockProgram::add_output(int value) {
  if (registers_[value].step < 0) {
    BlockStep copy{nullptr, nullptr, {value}, 1, add_register(registers_[value].type), 0, 0};
    registers_[copy.out].step = static_cast<int>(steps_.size());
    steps_.push_back(copy);
    value = copy.out;
  }
  outputs_.push_back({value});
}

void BlockProgram::find_last_uses() {
  for (size_t s = 0; s < steps_.size(); ++s)
    for (int i = 0; i < steps_[s].inputs; ++i)
      registers_[steps_[s].in[i]].last_use = static_cast<int>(s);
  for (const Output& output : outputs_)
    registers_[output.value].last_use = static_cast<int>(steps_.size());
}

// A step may write where the caller wants the output when no later step reads what the caller
// gave: outputs may be inputs.
void BlockProgram::choose_direct_outputs() {
  int last_read = -1;
  for (const Source& source : sources_)
    if (source.kind == SourceKind::Stream)
      last_read = std::max(last_read, registers_[source.value].last_use);
  for (Output& output : outputs_) {
    const Register& value = registers_[output.value];
    const auto same = [&](const Output& other) { return other.value == output.value; };
    output.direct = value.step >= last_read && !output.narrow &&
                    std::count_if(outputs_.begin(), outputs_.end(), same) == 1;
  }
}

int64_t BlockProgram::claim(int64_t bytes, std::vector<std::pair<int64_t, int64_t>>& free) {
  for (size_t i = 0; i < free.size(); ++i)
    if (free[i].second == bytes) {
      const int64_t offset = free[i].first;
      free.erase(free.begin() + i);
      return offset;
    }
  // Offsets are multiples of 16 bytes for each element of capacity: any type is aligned.
  const int64_t offset = scratch_bytes_;
  scratch_bytes_ += std::max<int64_t>(bytes, 1);
  return offset;
}

void BlockProgram::assign_registers() {
  std::vector<std::pair<int64_t, int64_t>> free;  // offset, bytes
  for (Source& source : sources_) {
    const ElementType type = registers_[source.value].type;
    registers_[source.value].scratch = claim(bytes_of(representation_of(type)), free);
    if (load_kernel(type)) source.stored_scratch = claim(storage_bytes(type), free);
  }
  std::vector<std::vector<const Register*>> read_last(steps_.size());  // in each step
  for (const Register& value : registers_)
    if (value.step >= 0 && value.last_use >= 0 && value.last_use < std::ssize(steps_))
      read_last[static_cast<size_t>(value.last_use)].push_back(&value);
  for (size_t s = 0; s < steps_.size(); ++s) {
    Register& out = registers_[steps_[s].out];
    out.scratch = claim(bytes_of(representation_of(out.type)), free);
    for (const Register* value : read_last[s])
      free.push_back({value->scratch, bytes_of(representation_of(value->type))});
  }
}

void BlockProgram::choose_kernels() {
  for (Source& source : sources_) {
    const ElementType type = registers_[source.value].type;
    source.widen = load_kernel(type), source.bytes = storage_bytes(type);
  }
  for (Output& output : outputs_) {
    const ElementType type = registers_[output.value].type;
    output.narrow = store_kernel(type), output.bytes = storage_bytes(type);
  }
}

void BlockProgram::finish() {
  find_last_uses();
  choose_kernels();
  choose_direct_outputs();
  assign_registers();
}

namespace {

void run_kernel(Kernel kernel, const void* in, void* out, int64_t n) {
  kernel(KernelArguments{{in}, out, n});
}

template <class T>
void count(int64_t begin, int64_t n, int64_t inner, int64_t size, T* out) {
  int64_t within = begin % inner, index = begin / inner % size;
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<T>(index);
    if (++within == inner) {
      within = 0;
      if (++index == size) index = 0;
    }
  }
}

}  // namespace

// One element for all of a block.
const void* BlockProgram::load_repeated(const Source& source, const Block& block) const {
  const auto* element = static_cast<const std::byte*>(source.kind == SourceKind::Constant
                                                          ? source.constant.raw().data()
                                                          : block.sources[source.argument]);
  if (block.n == 1 && !source.widen) return element;
  const Register& value = registers_[source.value];
  std::byte* own = block.at(value.scratch);
  if (block.done > 0) return own;  // filled for the first block
  alignas(16) std::byte one[16];
  if (source.widen) run_kernel(source.widen, element, one, 1);
  else std::memcpy(one, element, source.bytes);
  const int64_t count = std::min(block.capacity, block.total);
  read_view(View{{count}, {0}, 0}, bytes_of(representation_of(value.type)), one, 0, count, own);
  return own;
}

// Where the block's elements of a source stand, in their representation.
const void* BlockProgram::load(const Source& source, const Block& block) const {
  if (source.kind == SourceKind::Constant || source.kind == SourceKind::Uniform)
    return load_repeated(source, block);
  std::byte* own = block.at(registers_[source.value].scratch);
  if (source.kind == SourceKind::Iota) {
    count(block.begin, block.n, source.inner, source.size, reinterpret_cast<int64_t*>(own));
    return own;
  }
  const auto* start = static_cast<const std::byte*>(block.sources[source.argument]);
  if (source.kind == SourceKind::Stream) {
    start += block.begin * source.bytes;
  } else {
    std::byte* stored = source.widen ? block.at(source.stored_scratch) : own;
    read_view(source.view, source.bytes, start, block.begin, block.n, stored);
    start = stored;
  }
  if (!source.widen) return start;
  run_kernel(source.widen, start, own, block.n);
  return own;
}

void BlockProgram::store(const Output& output, const void* value, std::byte* to, int64_t n) const {
  if (output.narrow) run_kernel(output.narrow, value, to, n);
  else std::memcpy(to, value, n * output.bytes);
}

void BlockProgram::run_steps(const Block& block, const void** at) const {
  for (const BlockStep& step : steps_) {
    KernelArguments arguments;
    for (int i = 0; i < step.inputs; ++i) arguments.in[i] = at[step.in[i]];
    void* out = const_cast<void*>(at[step.out]);  // ours, or the caller's output
    arguments.out = out, arguments.n = block.n;
    arguments.first = step.first, arguments.second = step.second;
    if (step.kernel) step.kernel(arguments);
    else
      std::memmove(out, arguments.in[0],
                   block.n * bytes_of(representation_of(registers_[step.out].type)));
    if (step.finish) step.finish(arguments);
  }
}

void BlockProgram::run(std::span<const void* const> sources, std::span<void* const> outputs,
                       int64_t begin, int64_t n) const {
  // Blocks of programs with many values are shorter, so that all stay in the cache.
  const int64_t most =
      std::clamp<int64_t>((256 << 10) / (scratch_bytes_ + 1) / 64 * 64, 256, block);
  const int64_t capacity = n <= 16 ? 16 : std::min(most, (n + 63) / 64 * 64);
  alignas(64) std::byte small[8192];
  std::vector<std::byte> large;
  std::byte* scratch = small;
  if (const int64_t needed = scratch_bytes_ * capacity; needed > int64_t{sizeof small} - 64) {
    large.resize(needed + 64);
    scratch = large.data() + (64 - reinterpret_cast<uintptr_t>(large.data()) % 64);
  }
  const FlushSubnormals flush;
  const void* few[64];
  std::vector<const void*> many;
  const void** at = few;
  if (registers_.size() > std::size(few)) {
    many.resize(registers_.size());
    at = many.data();
  }
  for (int64_t done = 0; done < n; done += capacity) {
    const Block now{sources, outputs, begin + done, std::min(capacity, n - done), capacity,
                    done,    n,       scratch};
    for (const Source& source : sources_) at[source.value] = load(source, now);
    for (const BlockStep& step : steps_) at[step.out] = now.at(registers_[step.out].scratch);
    const auto place = [&](size_t r) {
      return static_cast<std::byte*>(outputs[r]) + done * outputs_[r].bytes;
    };
    for (size_t r = 0; r < outputs_.size(); ++r)
      if (outputs_[r].direct) at[outputs_[r].value] = place(r);
    run_steps(now, at);
    for (size_t r = 0; r < outputs_.size(); ++r)
      if (!outputs_[r].direct) store(outputs_[r], at[outputs_[r].value], place(r), now.n);
  }
}

}  // namespace hilo
