#include "compile/object_steps.h"

#include <algorithm>
#include <charconv>

#include "compile/routine_steps.h"
#include "rewrite/rewrite.h"
#include "text/text.h"

namespace hilo {
namespace {

constexpr std::string_view form = "hilo object 1";

// A copy whose entry is the steps, in their order, and nothing else.
Module module_of(const Module& module, std::span<const LibraryStep> steps) {
  Module out = module;
  out.header = {};
  out.header.name = module.header.name;
  out.entry = out.add_computation("steps");
  {
    Editor editor(out);
    std::vector<InstructionId> results;
    for (const LibraryStep& step : steps) {
      std::vector<InstructionId> operands;
      for (InstructionId operand : module.operands(step.instruction))
        operands.push_back(
            editor.add_parameter(out.entry, step.instruction, module.shape(operand)));
      results.push_back(editor.clone(step.instruction, out.entry, operands));
    }
    std::vector<Shape> shapes;
    for (InstructionId id : results) shapes.push_back(out.shape(id));
    out[out.entry].root =
        out.add_instruction(out.entry, Op::Tuple, Shape::tuple(std::move(shapes)), results);
  }
  remove_unreachable(out);
  return out;
}

std::string line_of(const LibraryStep& step) {
  std::string out;
  const auto add = [&](const Address& address) {
    out += fmt::format("{}{}+{}", out.empty() ? "" : " ", address.allocation, address.offset);
  };
  for (const std::vector<Address>& operand : step.operands) std::ranges::for_each(operand, add);
  std::ranges::for_each(step.results, add);
  return out;
}

// Takes the text apart from its start.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::string_view line() {
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    const std::string_view out = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return out;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

template <class Number>
bool take_number(std::string_view& text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return error == std::errc();
}

Result<std::vector<Address>> read_addresses(std::string_view line) {
  std::vector<Address> out;
  while (!line.empty()) {
    Address one;
    bool is_well = take_number(line, one.allocation) && line.starts_with('+');
    if (is_well) line.remove_prefix(1);
    is_well = is_well && take_number(line, one.offset);
    if (!is_well) return fail(ErrorKind::Format, "ALLOCATION+OFFSET was expected: {}", line);
    out.push_back(one);
    if (line.starts_with(' ')) line.remove_prefix(1);
  }
  return out;
}

// The line's addresses, given to operands and result in turn.
Result<LibraryStep> read_step(const Module& module, InstructionId id, std::string_view line) {
  HILO_TRY(const std::vector<Address> addresses, read_addresses(line));
  LibraryStep out{.instruction = id};
  size_t at = 0;
  const auto take = [&](const Shape& shape, std::vector<Address>& into) {
    for (size_t i = leaf_count(shape); i > 0 && at < addresses.size(); --i)
      into.push_back(addresses[at++]);
    return std::ssize(into) == leaf_count(shape);
  };
  bool is_whole = true;
  for (InstructionId operand : module.operands(id))
    is_whole &= take(module.shape(operand), out.operands.emplace_back());
  is_whole &= take(module.shape(id), out.results) && at == addresses.size();
  if (!is_whole) return fail(ErrorKind::Format, "a place for each array was expected: {}", line);
  return out;
}

Result<void> check_border(const Module& module, InstructionId id) {
  bool is_dynamic = false;
  for_each_leaf(module.shape(id), [&](const Shape& leaf, std::span<const int64_t>) {
    is_dynamic |= leaf.is_array() && leaf.has_dynamic_dims();
  });
  if (!is_dynamic) return {};
  return std::unexpected(Error{ErrorKind::Unsupported,
                               fmt::format("an object file takes and gives arrays of fixed sizes, "
                                           "not {}",
                                           to_string_without_layout(module.shape(id))),
                               module.place(id)});
}

}  // namespace

Result<void> check_object_steps(const Module& module, std::span<const LibraryStep> steps,
                                const EvalOptions& options) {
  for (InstructionId id : module[module.entry].parameters) HILO_DO(check_border(module, id));
  HILO_DO(check_border(module, module[module.entry].root));
  const int64_t devices = device_count(module, options);
  const std::vector<RoutineStep> routines = find_routines(module, steps, options);
  for (size_t i = 0; i < steps.size(); ++i) {
    const InstructionId id = steps[i].instruction;
    if (routines[i].routine) continue;
    std::string reason;
    if (devices > 1)
      reason = fmt::format("an object file runs on one device, the module on {}", devices);
    else if (!is_known(module, id))
      reason = "an object file has no custom calls that Hilo does not know";
    if (!reason.empty())
      return std::unexpected(
          Error{ErrorKind::Unsupported,
                fmt::format("{}: {} '{}'", reason, text_of(module[id].op), module[id].name),
                module.place(id)});
  }
  return {};
}

std::string text_of_steps(const Module& module, std::span<const LibraryStep> steps, int threads) {
  std::string out = fmt::format("{}, {} threads\n", form, threads);
  for (const LibraryStep& step : steps) out += line_of(step) + "\n";
  return out + "\n" + (steps.empty() ? "" : print(module_of(module, steps)));
}

Result<ObjectSteps> read_steps(std::string_view text) {
  Reader reader(text);
  ObjectSteps out;
  std::string_view head = reader.line();
  const std::string start = fmt::format("{}, ", form);
  if (!head.starts_with(start))
    return fail(ErrorKind::Format, "the object is of another version of Hilo: {}", head);
  head.remove_prefix(start.size());
  if (!take_number(head, out.threads) || head != " threads")
    return fail(ErrorKind::Format, "a number of threads was expected: {}", head);
  std::vector<std::string_view> lines;
  for (std::string_view line = reader.line(); !line.empty(); line = reader.line())
    lines.push_back(line);
  if (lines.empty()) return out;
  HILO_TRY(out.module, parse(reader.rest(), {.file = "the object's steps"}));
  const InstructionId root = out.module[out.module.entry].root;
  const auto results = out.module.operands(root);
  if (results.size() != lines.size())
    return fail(ErrorKind::Format, "{} steps were expected, {} are there", lines.size(),
                results.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    HILO_TRY(LibraryStep step, read_step(out.module, results[i], lines[i]));
    out.steps.push_back(std::move(step));
  }
  return out;
}

}  // namespace hilo
