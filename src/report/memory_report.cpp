// The report for people, from a picture alone.
#include <algorithm>

#include "report/report_parts.h"
#include "report/roles.h"

namespace hilo {
namespace {

using Side = TextTable::Side;

std::string heading(const ReportStyle& style, std::string_view text) {
  return style.color ? fmt::format("\n\033[1m{}\033[0m\n", text) : fmt::format("\n{}\n", text);
}

std::string known_bytes(int64_t bytes) { return bytes < 0 ? "?" : human_bytes(bytes); }

std::string instruction_at(const MemoryPicture& picture, int64_t moment) {
  if (moment < 0 || moment >= static_cast<int64_t>(picture.sequence.size())) return "";
  return picture.instructions[picture.sequence[static_cast<size_t>(moment)]].name;
}

// Whoever reads the figures must know whose they are.
std::string chip_line(const MemoryPicture& picture) {
  const Machine* machine = find_machine(picture.machine);
  std::string out = fmt::format("chip: {} ({})", picture.machine, picture.machine_reason);
  if (machine && machine->family == MachineFamily::Cpu && !picture.is_machine_assumed) return out;
  if (!picture.other_machines.empty()) {
    std::string others;
    for (const std::string& other : picture.other_machines)
      others += (others.empty() ? "" : ", ") + other;
    out += fmt::format("; it may as well be {}", others);
  }
  return picture.is_machine_assumed ? out + "; --target=CHIP names it" : out;
}

std::string notes_of(const MemoryPicture& picture) {
  std::string out;
  for (const std::string& note : picture.notes) out += "note: " + plain_text(note) + '\n';
  return out;
}

std::string first_lines(const MemoryPicture& picture) {
  std::string out =
      (picture.module_name.empty() ? "" : picture.module_name + ": ") + picture.read_from;
  out = plain_text(out) + '\n' + plain_text(chip_line(picture)) + '\n';
  if (!picture.faults.empty())
    out += fmt::format(
        "WARNING: {} in the input; the figures are of the part that could be used\n",
        picture.faults.size() == 1 ? "a fault" : fmt::format("{} faults", picture.faults.size()));
  return picture.message ? out : out + notes_of(picture);
}

std::string space_table(const MemoryPicture& picture, const ReportStyle& style) {
  TextTable table({{"memory"},
                   {"total", Side::Right},
                   {"of", Side::Right},
                   {"temporary", Side::Right},
                   {"lower bound", Side::Right},
                   {"fragmentation", Side::Right},
                   {"peak in use", Side::Right},
                   {"at"}});
  for (const PictureSpace& space : picture.spaces) {
    const std::string at = instruction_at(picture, space.peak_moment);
    table.add({fmt::format("{} ({})", space.name, space.space), known_bytes(space.total_bytes),
               space.capacity > 0 ? human_bytes(space.capacity) : "", known_bytes(space.temp_bytes),
               known_bytes(space.lower_bound_bytes), known_bytes(space.fragmentation_bytes()),
               known_bytes(space.peak_bytes),
               space.peak_moment < 0 ? "" : fmt::format("{}: {}", space.peak_moment, at)});
  }
  return table.text(0, static_cast<size_t>(style.width));
}

// What the total of a space is made of.
std::string parts_line(const MemoryPicture& picture, const PictureSpace& space) {
  int64_t parameters = 0, aliased = 0, results = 0, constants = 0;
  for (const PictureAllocation& allocation : picture.allocations) {
    if (allocation.space != space.space || allocation.is_thread_local) continue;
    int64_t* sum = allocation.parameter     ? &parameters
                   : allocation.is_constant ? &constants
                   : allocation.is_live_out ? &results
                                            : nullptr;
    if (sum) *sum = add_bytes(*sum, allocation.bytes);
    if (allocation.parameter && allocation.is_live_out)
      aliased = add_bytes(aliased, allocation.bytes);
  }
  std::string out =
      fmt::format("total {} bytes: parameters {}", space.total_bytes, human_bytes(parameters));
  if (aliased > 0) out += fmt::format(" ({} of them reused for results)", human_bytes(aliased));
  out += fmt::format(", results {}, constants {}, temporary {}", human_bytes(results),
                     human_bytes(constants), human_bytes(space.temp_bytes));
  if (space.thread_local_bytes > 0)
    out += fmt::format("; besides, thread-local {}", human_bytes(space.thread_local_bytes));
  return out + '\n';
}

std::string peaks(const MemoryPicture& picture, const PictureSpace& space) {
  std::string out;
  if (space.peak_moment >= 0)
    out += fmt::format("peak in use (allocated, padded): {} bytes ({}) at step {} of {}: {}\n",
                       space.peak_bytes, human_bytes(space.peak_bytes), space.peak_moment,
                       space.in_use.size() - 1, instruction_at(picture, space.peak_moment));
  if (space.lower_bound_bytes > space.temp_bytes)
    out += fmt::format(
        "temporary: {} bytes; of the {} that must be there at once the rest lies where results "
        "do\n",
        space.temp_bytes, space.lower_bound_bytes);
  else if (space.lower_bound_bytes >= 0 && space.temp_bytes > 0)
    out += fmt::format("temporary: {} bytes, {} above the lower bound of {} ({:.2f}%)\n",
                       space.temp_bytes, space.fragmentation_bytes(), space.lower_bound_bytes,
                       100 * static_cast<double>(space.fragmentation_bytes()) /
                           static_cast<double>(space.temp_bytes));
  return out;
}

// "by role: parameters 3.00GiB, optimiser state 6.00GiB"
std::string roles_line(const MemoryPicture& picture, const PictureSpace& space) {
  std::string out;
  for (const RoleBytes& one : bytes_by_role(picture, space))
    out += fmt::format("{}{} {}", out.empty() ? "by role, as far as names tell: " : ", ",
                       text_of(one.role), human_bytes(one.bytes));
  return out.empty() ? out : out + '\n';
}

// What XLA prints of all spaces together.
std::string xla_figures(const MemoryPicture& picture) {
  std::string out;
  int64_t all = 0;
  for (const PictureSpace& space : picture.spaces)
    all = add_bytes(all, add_bytes(space.total_bytes, space.thread_local_bytes));
  if (!picture.is_partial)
    out += fmt::format("XLA's total (all spaces, thread-local too): {} bytes ({})\n", all,
                       human_bytes(all));
  const auto& peak = picture.unpadded_peak;
  if (peak.moment >= 0)
    out += fmt::format("XLA's peak (all spaces, without padding): {} bytes ({}) at step {}: {}\n",
                       peak.bytes, human_bytes(peak.bytes), peak.moment,
                       instruction_at(picture, peak.moment));
  return out;
}

std::string space_name(const MemoryPicture& picture, int64_t number) {
  for (const PictureSpace& space : picture.spaces)
    if (space.space == number) return space.name;
  return fmt::format("space {}", number);
}

bool is_worth_a_chapter(const MemoryPicture& picture, const PictureSpace& space) {
  if (picture.message)
    return std::any_of(picture.values.begin(), picture.values.end(),
                       [&](const PictureValue& value) { return value.space == space.space; });
  int64_t largest = 0;
  for (const PictureSpace& other : picture.spaces) largest = std::max(largest, other.total_bytes);
  return space.total_bytes > 0 && space.total_bytes >= largest / 1000;
}

std::string space_chapter(const MemoryPicture& picture, const PictureSpace& space,
                          const ReportStyle& style) {
  if (picture.message)
    return heading(style, fmt::format("largest allocations in {}", space.name)) +
           peak_table(picture, space, style);
  std::string out = heading(style, fmt::format("{} (memory space {})", space.name, space.space));
  if (!picture.is_partial) out += parts_line(picture, space);
  out += peaks(picture, space) + roles_line(picture, space);
  if (const std::string chart =
          usage_chart(picture, space, static_cast<size_t>(std::max(style.width, 0)));
      !chart.empty())
    out += heading(style, "  in use over the schedule") + chart;
  const bool at_peak = space.peak_moment >= 0 && !picture.is_partial;
  const std::string table = peak_table(picture, space, style);
  out += heading(
      style, at_peak ? fmt::format("  in use at step {}", space.peak_moment) : "  largest values");
  return out + table;
}

}  // namespace

static std::string combined_line(const MemoryPicture& picture, const CombinedAdvice& combined,
                                 size_t width) {
  const std::string name = space_name(picture, combined.space);
  const std::string which =
      combined.in_found_order
          ? fmt::format("in the order that Hilo finds, with {} of these kinds to {} there",
                        counted(static_cast<size_t>(combined.count), "change"), name)
          : fmt::format("those with + that are of {} together", name);
  std::string text = fmt::format("  {}: {} ({} bytes)", which, human_bytes(combined.total_bytes),
                                 combined.total_bytes);
  if (picture.limit && combined.space == 0)
    text += combined.total_bytes <= *picture.limit
                ? ", which fits into the limit"
                : fmt::format(", {} more than the limit",
                              human_bytes(combined.total_bytes - *picture.limit));
  return wrapped(text, 4, width) + '\n';
}

static std::string advice_line(const MemoryPicture& picture, const Advice& advice, size_t width) {
  const bool is_known = advice.saved_bytes >= 0;
  const std::string_view mark = advice.is_combined && !picture.combined.empty() ? "+" : " ";
  const std::string start =
      is_known ? fmt::format("{} {:>10} less: ", mark, human_bytes(advice.saved_bytes)) : "  - ";
  std::string text = plain_text(advice.text);
  if (is_known && advice.total_bytes >= 0)
    text += fmt::format("; then {} ({})", human_bytes(advice.total_bytes),
                        space_name(picture, advice.space));
  return start + wrapped(text, start.size(), width) + '\n';
}

// By what is changed, most bytes first, where names tell that of any of it.
std::string advice_list(const MemoryPicture& picture, const ReportStyle& style) {
  if (picture.advice.empty()) return "";
  const auto width = static_cast<size_t>(std::clamp(style.width, 40, 120));
  std::vector<std::pair<Role, std::string>> groups;
  bool tells = false;
  for (const Advice& advice : picture.advice) {
    const Role role = role_of(picture, advice);
    tells = tells || tells_role(role);
    auto group = std::ranges::find(groups, role, &std::pair<Role, std::string>::first);
    if (group == groups.end()) group = groups.insert(groups.end(), {role, ""});
    group->second += advice_line(picture, advice, width);
  }
  std::ranges::stable_partition(groups, [](const auto& one) { return one.first != Role::Other; });
  std::string out;
  for (const auto& [role, lines] : groups)
    out += (tells ? fmt::format(" {}\n", text_of(role)) : "") + lines;
  for (const CombinedAdvice& combined : picture.combined)
    out += combined_line(picture, combined, width);
  return heading(style,
                 picture.message ? "What would help" : "What would help, each planned again") +
         out;
}

std::string memory_report(const MemoryPicture& picture, const ReportStyle& style) {
  std::string out = first_lines(picture) + '\n';
  out += picture.message ? message_chapter(picture, style)
                         : space_table(picture, style) + xla_figures(picture);
  if (picture.is_partial && !picture.unpadded_peak.values.empty())
    out += heading(style, "alive at XLA's peak") +
           value_table(picture, picture.unpadded_peak.values, style);
  for (const PictureSpace& space : picture.spaces)
    if (is_worth_a_chapter(picture, space)) out += space_chapter(picture, space, style);
  out += advice_list(picture, style);
  if (picture.limit) out += heading(style, "Limit") + limit_chapter(picture);
  if (const std::string costs = cost_tables(picture, style); !costs.empty())
    out += heading(style, "Cost of one run") + costs;
  if (const std::string table = collective_table(picture, style); !table.empty())
    out += heading(style, "Collectives of one run") + table;
  if (picture.message && !picture.notes.empty()) out += '\n' + notes_of(picture);
  for (const MemoryPicture& other : picture.further)
    out += heading(style, "Another message of the log") + memory_report(other, style);
  return out;
}

}  // namespace hilo
