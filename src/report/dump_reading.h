// Private to report: the lines of a dump, and what readers of its sections fill.
#pragma once

#include <unordered_map>

#include "report/chip.h"
#include "report/picture.h"

namespace hilo {

// No memory is larger; larger numbers in a dump are damage.
inline constexpr int64_t max_bytes = int64_t{1} << 48;

// The lines of one text. The prefixes that loggers and mails put before lines are left out.
class DumpLines {
 public:
  explicit DumpLines(const DumpText& dump);
  bool done() const { return done_; }
  std::string_view line() const { return line_; }
  bool is_last() const { return rest_.empty(); }
  void advance();
  Place place() const;
  Error error(std::string message) const;

 private:
  std::string_view rest_, line_;
  std::string file_;
  int64_t number_ = 0;
  bool done_ = false;
};

// Reads one line from the left.
struct DumpCursor {
  std::string_view rest;
  bool eat(std::string_view text);
  std::optional<int64_t> number();                              // digits; none when too large
  std::optional<std::string_view> until(std::string_view end);  // and eats the end
  std::optional<Dims> index();                                  // "{0,1}"
};

// "copy-start.1{0}" taken apart; an index is optional.
struct DumpName {
  std::string instruction;
  bool has_index = false;
  Dims index;
  std::string key() const { return instruction + text_of_index(index); }
};
std::optional<DumpName> read_dump_name(std::string_view text);

// "<31 constant.16{0} (phi) @0>"; after it the cursor stands behind the '>'.
struct DumpLabel {
  int64_t number = 0, space = 0;
  DumpName name;
  bool is_phi = false;
};
std::optional<DumpLabel> read_label(DumpCursor& cursor);

// "1.26G", "512.0KiB", "16B" in bytes, rounded as it was printed.
std::optional<int64_t> read_human_bytes(std::string_view text);
// Half of the last digit: how far the printed number may be from the true one.
int64_t rounding_of(std::string_view human);

// What sections of one module's dumps say, before it is put together.
struct DumpContents {
  MemoryPicture picture;
  std::vector<DumpKind> kinds;  // of the sections that were there
  std::unordered_map<int64_t, size_t> value_of_number;
  std::unordered_map<std::string, size_t> value_of_key;
  std::unordered_map<std::string, size_t> instruction_of_name;
  struct Stated {
    int64_t bytes = 0;
    Place place;
  };
  std::optional<Stated> total;                 // "Total bytes used", all allocations
  std::unordered_map<int64_t, Stated> totals;  // of a usage report, by space
  std::vector<Place> allocation_locations;     // by allocation
  struct Range {
    DumpName name;
    LiveRange range;
    Place place;
  };
  std::vector<Range> ranges;
  struct Peak {
    int64_t moment = 0;
    Place place;
    std::vector<std::pair<DumpName, int64_t>> values;  // bytes
  };
  std::optional<Peak> peak;
  std::unordered_map<int64_t, int64_t> limits;  // that a message states, by space
  std::map<int64_t, std::string> space_names;   // of spaces that no machine knows
  ChipEvidence evidence;

  size_t instruction(const std::string& name);  // made when new
  void fault(Error error);                      // the first hundred are kept
};

// Each reads its section from the line that begins it to the first line that is not its own.
void read_buffer_assignment(DumpLines& lines, DumpContents& contents);
void read_used_values(DumpLines& lines, DumpContents& contents);
void read_live_range(DumpLines& lines, DumpContents& contents);
void read_memory_usage(DumpLines& lines, DumpContents& contents);
// All of a text: messages stand among other lines.
void read_out_of_memory(const DumpText& dump, DumpContents& contents);

// Fills op, names and source of an instruction from its HLO text, or from its module.
void describe_instruction(PictureInstruction& instruction, std::string_view text);
void describe_instruction(PictureInstruction& instruction, const Module& module, InstructionId id);

// Of a module with its costs, by instruction; with times, where these are known.
std::vector<PictureCollective> find_collectives(const Module& module, std::span<const Cost> costs,
                                                const StepTimes* times = nullptr);
// Puts ranges, buffers, totals and peaks into the picture, and finds what contradicts itself.
void join_dumps(DumpContents& contents, const DumpOptions& options);
// join_places(), its conflicts as faults.
void find_overlaps(DumpContents& contents);
// The kind of section that a line begins.
std::optional<DumpKind> section_of(std::string_view line);

}  // namespace hilo
