#include "compile/library_steps.h"

#include <algorithm>
#include <cstring>

namespace hilo {
namespace {

// They stay while somebody holds them, where a run has taken them for itself. A token has none.
Bytes bytes_at(const Address& address, const DeviceMemory& memory) {
  if (address.allocation == UINT32_MAX) return {};
  std::byte* const at = memory.pointers[address.allocation] + address.offset;
  if (address.allocation < memory.owners.size() && memory.owners[address.allocation])
    return Bytes(memory.owners[address.allocation], at);
  return Bytes(at, [](std::byte*) {});
}

class Operands {
 public:
  explicit Operands(const DeviceMemory& memory) : memory_(memory) {}

  Literal view(const Shape& shape, std::span<const Address> addresses, size_t& leaf) {
    if (shape.is_tuple()) {
      std::vector<Literal> elements;
      for (const Shape& element : shape.elements)
        elements.push_back(view(element, addresses, leaf));
      return Literal::tuple(std::move(elements));
    }
    const Address& address = addresses[leaf++];
    if (!shape.is_array()) return Literal::token();
    // A second owner, so that evaluation does not write over it.
    owners_.push_back(bytes_at(address, memory_));
    return view_of(shape, address, memory_, owners_.back());
  }

 private:
  const DeviceMemory& memory_;
  std::vector<Bytes> owners_;
};

void write(const Literal& value, Address address, DeviceMemory& memory) {
  if (!value.shape().is_array()) return;
  const auto bytes = value.raw();
  std::byte* const to = memory.pointers[address.allocation] + address.offset;
  if (!bytes.empty() && bytes.data() != to) std::memmove(to, bytes.data(), bytes.size());
  if (!value.shape().has_dynamic_dims()) return;
  const std::pair<uint32_t, int64_t> place = {address.allocation, address.offset};
  if (value.dynamic_sizes().empty()) memory.sizes.erase(place);
  else memory.sizes[place] = value.dynamic_sizes();
}

}  // namespace

bool is_known(const Module& module, InstructionId id) {
  if (module[id].op != Op::CustomCall) return true;
  return find_custom_call(module.attributes<CustomCallAttributes>(id).custom_call_target) !=
         nullptr;
}

Result<void> check_custom_calls(const Module& module, std::span<const LibraryStep> steps,
                                const EvalOptions& options) {
  const auto& entry = module[module.entry].instructions;
  for (const LibraryStep& step : steps) {
    const InstructionId id = step.instruction;
    if (is_known(module, id) || std::ranges::find(entry, id) == entry.end()) continue;
    const std::string& target = module.attributes<CustomCallAttributes>(id).custom_call_target;
    if (options.custom_calls.contains(target)) continue;
    return std::unexpected(
        Error{ErrorKind::Unsupported, unknown_custom_call(module, id), module.place(id)});
  }
  return {};
}

Literal view_of(const Shape& shape, Address address, const DeviceMemory& memory, Bytes owner) {
  Literal out = Literal::view(shape, std::move(owner));
  if (!shape.has_dynamic_dims()) return out;
  const auto found = memory.sizes.find({address.allocation, address.offset});
  if (found == memory.sizes.end()) return out;
  for (size_t d = 0; d < shape.dims.size(); ++d)
    if (found->second[d] != shape.dims[d]) out.set_size(d, found->second[d]);
  return out;
}

Result<void> run_library_step(const Module& module, const LibraryStep& step, DeviceMemory& memory,
                              VirtualDevices& devices, int64_t device) {
  Operands views(memory);
  std::vector<Literal> arguments;
  const auto operands = module.operands(step.instruction);
  for (size_t i = 0; i < operands.size(); ++i) {
    size_t leaf = 0;
    arguments.push_back(views.view(module.shape(operands[i]), step.operands[i], leaf));
  }
  std::vector<Bytes> into;
  for (const Address& address : step.results) into.push_back(bytes_at(address, memory));
  HILO_TRY(const Literal out,
           devices.evaluate(device, step.instruction, std::move(arguments), into));
  size_t leaf = 0;
  for_each_leaf(out, [&](const Literal& value) { write(value, step.results[leaf++], memory); });
  return {};
}

}  // namespace hilo
