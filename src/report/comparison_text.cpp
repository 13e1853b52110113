#include <fmt/ranges.h>

#include <algorithm>

#include "report/comparison_parts.h"
#include "report/dump_reading.h"
#include "report/report_parts.h"

namespace hilo {
namespace {

using Side = TextTable::Side;

// "+3", "-1", "=", or in hundredths where the numbers are large.
std::string difference_text(double a, double b) {
  constexpr double small = 10000;
  if (a == b) return "=";
  if (a == 0 || (std::abs(a) < small && std::abs(b) < small)) return fmt::format("{:+.0f}", b - a);
  return fmt::format("{:+.1f}%", 100 * (b - a) / a);
}

class TotalsTable {
 public:
  void add(const std::string& what, double a, double b) {
    table_.add({what, human_number(a), human_number(b), difference_text(a, b)});
  }
  void add_bytes(const std::string& what, int64_t a, int64_t b) {
    const auto text = [](int64_t bytes) { return bytes < 0 ? "?" : human_bytes(bytes); };
    table_.add(
        {what, text(a), text(b),
         a < 0 || b < 0 ? "" : difference_text(static_cast<double>(a), static_cast<double>(b))});
  }
  void add_count(const std::string& what, int64_t a, int64_t b) {
    table_.add(
        {what, std::to_string(a), std::to_string(b), a == b ? "=" : fmt::format("{:+}", b - a)});
  }
  void add_texts(const std::string& what, const std::string& a, const std::string& b) {
    table_.add({what, a, b, a == b ? "=" : ""});
  }
  std::string text(size_t width) const { return table_.text(0, width); }

 private:
  TextTable table_{{{""}, {"A", Side::Right}, {"B", Side::Right}, {"", Side::Right}}};
};

void add_memory(TotalsTable& table, const MemoryPicture& a, const MemoryPicture& b) {
  std::map<int64_t, std::array<const PictureSpace*, 2>> spaces;
  for (const PictureSpace& space : a.spaces) spaces[space.space][0] = &space;
  for (const PictureSpace& space : b.spaces) spaces[space.space][1] = &space;
  for (const auto& [number, both] : spaces) {
    const std::string name = (both[0] ? both[0] : both[1])->name;
    const auto add = [&](const std::string& what, int64_t PictureSpace::* member) {
      const auto of = [&](const PictureSpace* space) { return space ? space->*member : 0; };
      table.add_bytes(fmt::format("{} {}", name, what), of(both[0]), of(both[1]));
    };
    add("total", &PictureSpace::total_bytes);
    add("temporary", &PictureSpace::temp_bytes);
    add("peak in use", &PictureSpace::peak_bytes);
  }
  table.add_bytes("XLA's peak", a.unpadded_peak.bytes, b.unpadded_peak.bytes);
}

std::string totals_text(const ModuleComparison& comparison, const ComparedSide& side_a,
                        const ComparedSide& side_b, size_t width) {
  const ModuleTotals &a = comparison.totals_a, &b = comparison.totals_b;
  TotalsTable table;
  const auto add_count = [&](const std::string& what, int64_t ModuleTotals::* member) {
    table.add_count(what, a.*member, b.*member);
  };
  add_count("instructions", &ModuleTotals::instructions);
  add_count("computations", &ModuleTotals::computations);
  add_count("parameters", &ModuleTotals::parameters);
  add_count("results", &ModuleTotals::results);
  if (side_a.memory && side_b.memory) add_memory(table, *side_a.memory, *side_b.memory);
  table.add("flops", a.flops, b.flops);
  table.add("transcendentals", a.transcendentals, b.transcendentals);
  table.add("bytes moved", a.bytes, b.bytes);
  auto collectives = a.collectives;
  collectives.insert(b.collectives.begin(), b.collectives.end());
  for (const auto& [kind, ignored] : collectives) {
    const auto of = [&](const ModuleTotals& totals) {
      const auto found = totals.collectives.find(kind);
      return found == totals.collectives.end() ? ModuleTotals::Collective() : found->second;
    };
    const auto text = [](const ModuleTotals::Collective& one) {
      return fmt::format("{} of {}B", one.count, human_number(one.bytes));
    };
    table.add_texts(kind, text(of(a)), text(of(b)));
  }
  return table.text(width);
}

// Instructions that one row stands for.
struct Group {
  int64_t bytes = 0;
  std::string op, what, source;
  std::vector<std::string> names;
};

std::string source_of(const Module& module, InstructionId id) {
  PictureInstruction described;
  describe_instruction(described, module, id);
  return short_source(described);
}

std::string text_of_change(const Difference& change) {
  constexpr size_t shown = 40;  // columns of each side
  if (change.what == "shape" || change.what == "layout")
    return fmt::format("{} → {}", cut_text(change.from, shown), cut_text(change.to, shown));
  if (change.from.empty() && change.to.empty()) return change.what;
  if (change.what == "fusion") return fmt::format("moved from {} to {}", change.from, change.to);
  return fmt::format("{}: {} → {}", change.what, cut_text(change.from, shown),
                     cut_text(change.to, shown));
}

class Chapter {
 public:
  Chapter(std::string title, const Module& module, const ComparisonStyle& style)
      : title_(std::move(title)), module_(module), style_(style), fusions_(fusions_of(module)) {}

  // `is_told_elsewhere`: only --all shows it.
  void add(InstructionId id, std::string what, std::string name, bool is_told_elsewhere) {
    const Instruction& instruction = module_[id];
    ++count_;
    if (!style_.all && is_told_elsewhere) {
      ++left_out_;
      return;
    }
    Group one{bytes_of_result(module_, id), std::string(text_of(instruction.op)), std::move(what),
              source_of(module_, id)};
    std::string key = style_.all ? std::to_string(count_)
                                 : fmt::format("{}\n{}\n{}", one.op, one.what, one.source);
    const auto [at, is_new] = index_.emplace(std::move(key), groups_.size());
    if (is_new) groups_.push_back(std::move(one));
    Group& group = groups_[at->second];
    if (!is_new) group.bytes = add_bytes(group.bytes, one.bytes);
    group.names.push_back(std::move(name));
  }
  // Inside of a fusion, or a name, a constant, a tuple: the entry's parameters are values.
  bool stands_back(InstructionId id) const {
    const Instruction& instruction = module_[id];
    if (fusions_[instruction.computation.value]) return true;
    if (instruction.op == Op::Parameter && instruction.computation == module_.entry) return false;
    return instruction.op == Op::Tuple || has_trait(instruction.op, TraitNoTraffic);
  }

  std::string text() {
    if (count_ == 0) return "";
    if (!style_.all) std::ranges::stable_sort(groups_, std::greater(), &Group::bytes);
    std::string out = fmt::format("\n{}: {}\n", title_, count_);
    TextTable table({{"bytes", Side::Right},
                     {"count", Side::Right},
                     {"op"},
                     {"what"},
                     {"source line"},
                     {"names"}});
    const size_t rows =
        style_.all ? groups_.size() : std::min(groups_.size(), static_cast<size_t>(style_.rows));
    for (size_t i = 0; i < rows; ++i) {
      const Group& group = groups_[i];
      table.add({human_bytes(group.bytes), std::to_string(group.names.size()), group.op, group.what,
                 group.source, names_text(group.names)});
    }
    if (rows > 0) out += table.text(2, static_cast<size_t>(style_.width));
    int64_t more = 0;
    for (size_t i = rows; i < groups_.size(); ++i) more += std::ssize(groups_[i].names);
    if (more > 0) out += fmt::format("  … {} more, --all shows them\n", more);
    if (left_out_ > 0)
      out += fmt::format(
          "  … {} inside of fusions, constants, or that pass values on, --all shows them\n",
          left_out_);
    return out;
  }

 private:
  static std::string names_text(const std::vector<std::string>& names) {
    constexpr size_t shown = 3;
    std::string out;
    for (size_t i = 0; i < std::min(names.size(), shown); ++i)
      out += (i > 0 ? ", " : "") + names[i];
    if (names.size() > shown) out += fmt::format(", … {} more", names.size() - shown);
    return out;
  }

  std::string title_;
  const Module& module_;
  const ComparisonStyle& style_;
  std::vector<InstructionId> fusions_;
  std::map<std::string, size_t> index_;
  std::vector<Group> groups_;
  int64_t count_ = 0, left_out_ = 0;
};

std::string chapter_of(const std::string& title, const Module& module,
                       const std::vector<InstructionId>& ids, const ComparisonStyle& style) {
  Chapter chapter(title, module, style);
  for (const InstructionId id : ids)
    chapter.add(id, to_string(module.shape(id)), std::string(module[id].name),
                chapter.stands_back(id));
  return chapter.text();
}

std::string changed_chapter(const ModuleComparison& comparison, const ComparisonStyle& style) {
  const Module &a = *comparison.a, &b = *comparison.b;
  Chapter chapter("changed", b, style);
  for (const ChangedInstruction& changed : comparison.changed) {
    std::string what;
    for (const Difference& change : changed.changes)
      what += (what.empty() ? "" : "; ") + text_of_change(change);
    const std::string_view before = a[changed.in_a].name, after = b[changed.in_b].name;
    std::string name(after);
    if (before != after) name = fmt::format("{} → {}", before, after);
    const bool is_form = std::ranges::all_of(changed.changes, [](const Difference& change) {
      return change.what == "shape" || change.what == "layout" || change.what == "memory space";
    });
    chapter.add(changed.in_b, what, std::move(name), is_form && chapter.stands_back(changed.in_b));
  }
  return chapter.text();
}

}  // namespace

std::string comparison_text(const ModuleComparison& comparison, const ComparedSide& a,
                            const ComparedSide& b, const ComparisonStyle& style) {
  const size_t width = static_cast<size_t>(style.width);
  const auto title = [&](char letter, const ComparedSide& side, const Module& module) {
    const std::string text = fmt::format("{}: {} ({})", letter, side.file, module.header.name);
    return cut_text(plain_text(text), width) + "\n";
  };
  std::string out = title('A', a, *comparison.a) + title('B', b, *comparison.b);
  out += "\n" + totals_text(comparison, a, b, width) + "\n";
  if (comparison.is_equal())
    return out + fmt::format("equal: all {} instructions have their counterpart{}\n",
                             comparison.matched,
                             comparison.renamed == 0
                                 ? ""
                                 : fmt::format(", {} under another name", comparison.renamed));
  out += fmt::format("{} matched ({} under another name), {} changed, {} new, {} gone",
                     comparison.matched, comparison.renamed, comparison.changed.size(),
                     comparison.added.size(), comparison.gone.size());
  if (comparison.reordered > 0)
    out += fmt::format(", {} elsewhere in the schedule", comparison.reordered);
  out += "\n";
  for (const Difference& change : comparison.header)
    out += cut_text(plain_text("header: " + text_of_change(change)), width) + "\n";
  out += changed_chapter(comparison, style);
  out += chapter_of("new", *comparison.b, comparison.added, style);
  out += chapter_of("gone", *comparison.a, comparison.gone, style);
  return out;
}

}  // namespace hilo
