#include "report/roles.h"

#include <algorithm>
#include <array>

#include "report/picture.h"

namespace hilo {
namespace {

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool has_any(std::string_view text, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.contains(word); });
}

// "state.opt_state[0].mu['w']", "params['layer']['w']", "batch['tokens']"
Role role_of_argument(std::string_view name) {
  static constexpr std::string_view state[] = {"opt_state", "optimizer", "optimiser",
                                               "momentum",  ".mu",       ".nu",
                                               "['mu']",    "['nu']",    "exp_avg"};
  static constexpr std::string_view parameters[] = {"param", "weight", "kernel", "embedding"};
  const std::string lower = lower_case(name);
  if (has_any(lower, state)) return Role::OptimiserState;
  return has_any(lower, parameters) ? Role::Parameter : Role::Input;
}

const PictureAllocation* allocation_of(const MemoryPicture& picture, const PictureValue& value) {
  return value.allocation == PictureValue::no_allocation ? nullptr
                                                         : &picture.allocations[value.allocation];
}

}  // namespace

bool tells_role(Role role) { return role != Role::Input && role != Role::Other; }

std::string_view text_of(Role role) {
  static constexpr std::string_view texts[] = {"parameters",  "optimiser state", "inputs",
                                               "activations", "gradients",       "other"};
  return texts[static_cast<size_t>(role)];
}

Role role_of(const MemoryPicture& picture, size_t v) {
  const PictureValue& value = picture.values[v];
  const PictureInstruction& instruction = picture.instruction_of(value);
  const PictureAllocation* allocation = allocation_of(picture, value);
  const bool is_argument_of_message =
      !allocation && picture.message && instruction.op == "parameter";
  if ((allocation && allocation->parameter) || is_argument_of_message)
    return instruction.op_name.empty() ? Role::Input : role_of_argument(instruction.op_name);
  const auto writer = writer_in_body(picture, value);
  const std::string& name = writer ? picture.instructions[*writer].op_name : instruction.op_name;
  if (name.contains("transpose(jvp")) return Role::Gradient;
  return name.contains("jvp(") ? Role::Activation : Role::Other;
}

Role role_of(const MemoryPicture& picture, const Advice& advice) {
  if (advice.donated) return role_of(picture, *advice.donated);
  return advice.values.empty() ? Role::Other : role_of(picture, advice.values[0]);
}

std::vector<RoleBytes> bytes_by_role(const MemoryPicture& picture, const PictureSpace& space) {
  std::array<int64_t, 6> sums{};
  if (space.peak_moment < 0 || picture.is_partial) return {};
  for (const size_t v : values_at(picture, space.peak_moment, space.space)) {
    int64_t& sum = sums[static_cast<size_t>(role_of(picture, v))];
    sum = add_bytes(sum, picture.values[v].bytes);
  }
  std::vector<RoleBytes> out;
  bool tells = false;
  for (size_t role = 0; role < sums.size(); ++role) {
    if (sums[role] == 0) continue;
    out.push_back({static_cast<Role>(role), sums[role]});
    tells = tells || tells_role(out.back().role);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const RoleBytes& a, const RoleBytes& b) { return a.bytes > b.bytes; });
  return tells ? out : std::vector<RoleBytes>();
}

std::optional<size_t> writer_in_body(const MemoryPicture& picture, const PictureValue& value) {
  const PictureInstruction& own = picture.instruction_of(value);
  if (value.allocation == PictureValue::no_allocation) return std::nullopt;
  if (!value.is_phi && !own.op_name.empty() && own.op != "broadcast" && own.op != "copy")
    return std::nullopt;
  bool carried = false;
  std::optional<size_t> writer;
  for (const size_t other : picture.allocations[value.allocation].values) {
    const PictureValue& there = picture.values[other];
    if (there.buffer != value.buffer) continue;
    carried = carried || there.is_phi;
    const PictureInstruction& instruction = picture.instruction_of(there);
    if (there.is_phi || instruction.op == "parameter" ||
        (!own.computation.empty() && instruction.computation == own.computation))
      continue;
    const bool updates = instruction.op.contains("update") || instruction.name.contains("update");
    if (!writer || updates) writer = there.defined.instruction;
  }
  return carried ? writer : std::nullopt;
}

std::string shown_name(const MemoryPicture& picture, const PictureValue& value) {
  const auto writer = writer_in_body(picture, value);
  if (!writer) return picture.name_of(value);
  return fmt::format("{} in {}", picture.instructions[*writer].name, picture.name_of(value));
}

}  // namespace hilo
