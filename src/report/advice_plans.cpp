// Changes that only another plan of the module can judge: another order, and parameters that a
// result may overwrite in place.
#include <algorithm>

#include "pass/pass.h"
#include "report/advice.h"

namespace hilo {
namespace {

int64_t total_of(const Plan& plan) {
  for (const SpacePlan& space : plan.spaces)
    if (space.space == 0) return space.total_bytes;
  return 0;
}

// Planning takes time in proportion to the instructions.
int64_t count_to_plan(const Module& module) {
  return std::clamp<int64_t>(30'000 / (static_cast<int64_t>(module.instructions.size()) + 1), 0, 8);
}

class OtherPlans {
 public:
  OtherPlans(MemoryPicture& picture, const Module& module, const Machine& machine)
      : picture_(picture), module_(module), machine_(machine), left_(count_to_plan(module)) {}

  void advise() {
    for (const PictureSpace& space : picture_.spaces)
      if (space.space == 0) total_ = space.total_bytes;
    if (module_.header.is_scheduled) advise_order();
    advise_donations_in_place();
  }

 private:
  void add(std::string kind, std::string text, int64_t total) {
    if (total_ - total <= total_ / 1000) return;
    Advice advice;
    advice.kind = std::move(kind);
    advice.text = std::move(text);
    advice.saved_bytes = total_ - total;
    advice.total_bytes = total;
    picture_.advice.push_back(std::move(advice));
  }

  void advise_order() {
    if (left_-- <= 0) return;
    const auto other = plan(module_, machine_, {.keep_order = false});
    if (!other) return;
    add("reorder", "run the instructions in the order that Hilo finds", total_of(*other));
    if (total_of(*other) < total_) combine_in_order(*other);
  }

  // What else helps there is tried there.
  void combine_in_order(const Plan& other) {
    MemoryPicture again = picture_of(module_, machine_, other, {.costs = false});
    again.limit = picture_.limit;
    advise_at_peaks(again, false);
    for (CombinedAdvice combined : again.combined)
      if (combined.space == 0) {
        combined.in_found_order = true;
        picture_.combined.push_back(combined);
      }
  }

  bool is_aliased(int64_t parameter, const Dims& index) const {
    const auto& aliases = module_.header.input_output_alias;
    return std::any_of(aliases.begin(), aliases.end(), [&](const BufferAlias& alias) {
      return alias.parameter == parameter && alias.parameter_index == index;
    });
  }

  // The index of a result's value in the entry's result.
  std::optional<Dims> output_index(const PictureAllocation& result) const {
    const std::string_view root = module_[module_[module_.entry].root].name;
    for (const size_t v : result.values)
      for (const PicturePosition& place : picture_.values[v].positions) {
        const PictureInstruction& instruction = picture_.instructions[place.instruction];
        if (instruction.name == root && instruction.computation == module_[module_.entry].name)
          return place.index;
      }
    return std::nullopt;
  }

  bool is_given_already(const PictureAllocation& result) const {
    return std::any_of(picture_.advice.begin(), picture_.advice.end(), [&](const Advice& advice) {
      return advice.kind == "donate" && advice.values == result.values;
    });
  }

  void advise_donations_in_place() {
    for (const PictureAllocation& result : picture_.allocations) {
      if (!result.is_live_out || result.parameter || result.space != 0 ||
          result.bytes <= total_ / 1000 || is_given_already(result))
        continue;
      const auto index = output_index(result);
      for (const PictureAllocation& parameter : picture_.allocations)
        if (index && parameter.parameter && !parameter.is_live_out && parameter.space == 0 &&
            parameter.bytes == result.bytes &&
            !is_aliased(*parameter.parameter, parameter.parameter_index)) {
          if (left_-- <= 0) return;
          try_donation(parameter, *index);
          break;
        }
    }
  }

  void try_donation(const PictureAllocation& parameter, const Dims& output) {
    Module changed = module_;
    changed.header.input_output_alias.push_back(
        {output, *parameter.parameter, parameter.parameter_index, false});
    if (!insert_copies(changed, {.machine = &machine_})) return;
    const auto other = plan(changed, machine_);
    if (!other) return;
    const std::string index =
        parameter.parameter_index.empty() ? "" : " " + text_of_index(parameter.parameter_index);
    add("donate",
        fmt::format("donate parameter {}{} ({}) to the result's {}", *parameter.parameter, index,
                    picture_.name_of(picture_.values[parameter.values[0]]), text_of_index(output)),
        total_of(*other));
  }

  MemoryPicture& picture_;
  const Module& module_;
  const Machine& machine_;
  int64_t left_, total_ = 0;
};

}  // namespace

void find_advice(MemoryPicture& picture, const Module& module, const Machine& machine) {
  advise_at_peaks(picture, false);
  OtherPlans(picture, module, machine).advise();
  sort_advice(picture);
}

}  // namespace hilo
