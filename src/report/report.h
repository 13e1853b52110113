// Front door of `report`: where the memory of a program goes. MemoryPicture is one record of it,
// made from a plan of ours or read back from XLA's dumps; every text, the JSON and the HTML page
// are written from it alone. Numbers of bytes that are not known are -1.
#pragma once

#include "plan/plan.h"
#include "report/comparison.h"

namespace hilo {

struct PictureInstruction {
  std::string name, op, op_name, computation;
  std::string source_file;  // of the innermost stack frame when the metadata names one
  int64_t source_line = 0;
  int64_t moment = -1;  // in the flattened schedule; -1: not there, or not known
  std::string text;     // the whole instruction, where the picture was asked to keep it
  bool has_cost = false;
  Cost cost;
};

// Data that devices exchange.
struct PictureCollective {
  PictureInstruction instruction;
  std::string kind;       // "all-gather", of an all-gather-start too
  int64_t devices = 0;    // that exchange with each other
  double link_bytes = 0;  // collective_bytes() of one run
  double runs = 0;
  bool runs_known = true;
  std::string axes;  // of the mesh, along which they exchange; empty: groups name none
  // One run on the picture's machine, and how long of it nothing is computed; -1: not known.
  double seconds = -1, exposed_seconds = -1;
  struct Behind {
    std::string name;
    double seconds = 0;
  };
  std::vector<Behind> behind;  // what is computed meanwhile, most first
  double hidden_seconds() const {
    return seconds < 0 ? -1 : std::max(0.0, seconds - exposed_seconds);
  }
  // Which two shardings met, where the partitioner made it: the array, the instruction that wanted
  // it, what it had and what was wanted.
  struct Reason {
    std::string array, wanted_by, from, to;
  };
  std::optional<Reason> reason;
};

// Where a value stands (a position) or is read (a use).
struct PicturePosition {
  size_t instruction = 0;  // in MemoryPicture::instructions
  int64_t operand = -1;    // of a use
  bool has_index = false;  // the result, or the operand, is a tuple: XLA prints the index
  Dims index;
};

// An array, or a tuple's table of pointers, that has a place in memory.
struct PictureValue {
  int64_t number = -1;      // XLA's id
  PicturePosition defined;  // has_index: "fusion.3{1}"
  bool is_phi = false;
  std::string shape;            // with its layout
  std::string kind;             // as a message calls it: "scoped", "HLO temp"
  int64_t bytes = 0;            // taken: tiles padded
  int64_t unpadded_bytes = -1;  // of the elements side by side; what XLA's peak counts
  int64_t array_bytes = -1;     // with tiles padded, where `bytes` are those of more than the array
  static constexpr size_t no_allocation = SIZE_MAX;  // not known
  size_t allocation = no_allocation;                 // in MemoryPicture::allocations
  int64_t offset = 0, space = 0;
  size_t buffer = 0;                             // values of one buffer must lie in one place
  int64_t start = 0, end = -1;                   // moments, both included; start > end: not known
  std::vector<PicturePosition> positions, uses;  // the defining position first
  bool has_range() const { return start <= end; }
};

struct PictureAllocation {
  int64_t number = 0;  // as printed
  int64_t bytes = 0, space = 0;
  std::optional<int64_t> parameter;
  Dims parameter_index;
  std::string parameter_shape, output_shape;  // without layout; output_shape: holds the result
  bool is_constant = false, is_thread_local = false, is_live_out = false, is_temp = false;
  std::optional<int64_t> page;  // printed by XLA since 2026
  std::vector<size_t> values;   // by number
  // The caller's, or there before the program starts: in use at every moment.
  bool is_always_there() const { return parameter || is_constant; }
};

// One memory of the machine, XLA's color.
struct PictureSpace {
  int64_t space = 0;
  std::string name;         // "hbm"; "space 7" when nobody knows
  int64_t capacity = 0;     // what programs may take of it; 0: not known
  int64_t alignment = 1;    // of offsets in its temporary allocation
  int64_t total_bytes = 0;  // all allocations but thread-local ones
  int64_t thread_local_bytes = 0, temp_bytes = 0;
  int64_t lower_bound_bytes = -1;  // of temp_bytes: the most that must be there at one moment
  // Bytes in use at each moment, each buffer once, parameters and constants throughout; empty
  // without a schedule. The peak is the first largest one; fragmentation is what the temporary
  // allocation holds above lower_bound_bytes; none where results' memory holds some of them too.
  std::vector<int64_t> in_use;
  int64_t peak_moment = -1, peak_bytes = -1;
  int64_t fragmentation_bytes() const {
    return lower_bound_bytes < 0 ? -1 : std::max<int64_t>(0, temp_bytes - lower_bound_bytes);
  }
};

// What an out-of-memory message says beside its buffers. Bytes; -1: it does not say.
struct MemoryMessage {
  enum class Source : uint8_t { TpuCompiler, TpuRuntime, GpuRuntime, Host };
  Source source = Source::TpuCompiler;
  std::string allocator;                             // "GPU_0_bfc"
  std::string task;                                  // "loading the program 'jit_step'"
  int64_t space = 0;                                 // that ran out
  int64_t needed = -1, limit = -1;                   // in all, and what there is
  int64_t asked = -1, free = -1, largest_free = -1;  // of the allocation that failed
  int64_t scoped = -1, scoped_limit = -1;            // of one instruction
  int64_t in_use = -1;                               // by all that runs, of an allocator
  int64_t remat_goal = -1, remat_reached = -1;       // of the compiler's rematerialisation
  struct Part {
    std::string name;  // "arguments", "HLO temp"
    int64_t bytes = -1;
    bool is_of_program = false;  // counted in what the program needs
  };
  std::vector<Part> parts;
  struct Chunks {
    int64_t count = 0, bytes = 0;  // of one
  };
  std::vector<Chunks> chunks;  // in use, of an allocator
  int64_t part(std::string_view name) const;
};

// A change that would save memory. The figures come from packing or planning the changed program.
struct Advice {
  std::string kind;  // donate, drop-copies, recompute, reorder, unpad, narrow, repack
  std::string text;  // one sentence: what to change, and where in the source
  int64_t space = 0;
  int64_t saved_bytes = 0, total_bytes = 0;  // of the space's total: less by, and then
  std::vector<size_t> values;                // that go away or get smaller
  std::optional<size_t> donated;             // the parameter's value
  bool is_combined = false;                  // one of those that CombinedAdvice takes together
};
// Changes of one space that were packed again together, taken greedily, most bytes first and those
// that round values last, until the limit was met or none was left that saves more.
struct CombinedAdvice {
  int64_t space = 0, total_bytes = 0, count = 0;
  bool in_found_order = false;  // and in the order that Hilo finds, each packed again there
};

struct MemoryPicture {
  std::string module_name;
  std::string read_from;                // "planned by Hilo", "buffer assignment: a.txt"
  std::string machine, machine_reason;  // "v5e"; "named by --target", "assumed: tiled layouts"
  bool is_machine_assumed = false;
  std::vector<std::string> other_machines;  // that agree with what was seen as well
  std::vector<PictureInstruction> instructions;
  std::vector<size_t> sequence;  // the instruction of each moment
  std::vector<PictureValue> values;
  std::vector<PictureAllocation> allocations;
  std::vector<PictureSpace> spaces;            // by number
  std::vector<PictureCollective> collectives;  // most bytes first
  // XLA's peak: the moment with the largest sum of unpadded bytes over all spaces, with ties the
  // first; its values largest first, then by name. moment -1: no schedule.
  struct UnpaddedPeak {
    int64_t moment = -1, bytes = -1;
    std::vector<size_t> values;
  } unpadded_peak;
  bool is_partial = false;         // not all values are known, only totals and the largest
  std::vector<std::string> notes;  // what was assumed, and what is missing because of it
  std::vector<Error> faults;       // of the input: what could not be used, and why
  std::optional<MemoryMessage> message;
  std::vector<MemoryPicture> further;  // of other messages, in the order of the log
  std::vector<Advice> advice;          // most bytes first
  std::vector<CombinedAdvice> combined;
  std::optional<int64_t> limit;  // bytes that space 0 may take; the texts say whether it fits

  bool fits() const;                                     // into the limit, where there is one
  std::string name_of(const PictureValue& value) const;  // "fusion.3{1}", "add"
  // "model.py:12", or "" when not known.
  std::string source_of(const PictureValue& value) const;
  const PictureInstruction& instruction_of(const PictureValue& value) const {
    return instructions[value.defined.instruction];
  }
};

// Which chip a module or a dump was made for, and why that is thought.
struct AssumedMachine {
  const Machine* machine = nullptr;
  std::string reason;
  bool is_certain = false;          // no other known chip agrees with what was seen
  std::vector<std::string> others;  // chips that do
};
// What is known beside the module: the name of its file, and a plan of it.
struct MachineHints {
  std::string file;
  const Plan* plan = nullptr;
};
AssumedMachine assume_machine(const Module& module, const MachineHints& hints = {});
// Puts it into the picture, which says whether it was named (reason "named …"), follows, or is only
// assumed.
void set_machine(MemoryPicture& picture, const AssumedMachine& machine);

struct PictureOptions {
  bool instruction_texts = false;  // for values_text
  bool older_texts = false;        // with the shapes of operands, as before 2026
  bool costs = true;
};
MemoryPicture picture_of(const Module& module, const Machine& machine, const Plan& plan,
                         const PictureOptions& options = {});
// What of a space is in use at a moment, one value for each place of a buffer, the largest first,
// then by name. Parameters and constants always are, thread-local ones never.
std::vector<size_t> values_at(const MemoryPicture& picture, int64_t moment, int64_t space);

// What XLA and its runtimes write about memory, told by its content.
enum class DumpKind : uint8_t {
  BufferAssignment,  // also with "Used values" and a live range in the same file, as before 2026
  Values,
  LiveRange,
  MemoryUsage,
  OutOfMemory,
};
std::optional<DumpKind> dump_kind(std::string_view text);
std::string_view text_of(DumpKind kind);

struct DumpText {
  std::string file;
  std::string_view text;
  int64_t first_line = 1;  // of the file, where the text is not from its beginning
};
struct DumpOptions {
  const Module* module = nullptr;    // whose dump it is; without it, what the dump tells
  const Machine* machine = nullptr;  // without it one is assumed
};
// One picture of the dumps of one module; of several of one kind the first, but of out-of-memory
// messages each, in `further`. What is damaged is left out and stands in `faults`, each with file
// and line; an Error when nothing is left.
Result<MemoryPicture> read_dumps(std::span<const DumpText> dumps, const DumpOptions& options = {});

// XLA's texts. Layouts: today's, and that of before 2026.
enum class DumpForm : uint8_t { Today, Older };
std::string buffer_assignment_text(const MemoryPicture& picture);
std::string values_text(const MemoryPicture& picture, DumpForm form = DumpForm::Today);
std::string memory_usage_text(const MemoryPicture& picture);
// The three parts of before 2026 in one file.
std::string older_dump_text(const MemoryPicture& picture);
// HloLiveRange of today, stack traces included.
std::string live_range_text(const Module& module, const Aliases& aliases, const Liveness& liveness);

// Fills picture.advice from the picture alone: packs again what each change would leave. The second
// one also plans the module again, in another order or with donated parameters, as often as its
// size allows. The module is the one that the picture is of, with the copies that it needs.
void find_advice(MemoryPicture& picture);
void find_advice(MemoryPicture& picture, const Module& module, const Machine& machine);

// Sizes of shapes are counted in 63 bits of bits: from here on they stand for any larger one.
inline constexpr int64_t uncountable_bytes = int64_t{1} << 60;

// "1 copy", "3 copies"; without another form the noun takes an s.
std::string counted(size_t count, std::string_view noun, std::string_view several = "");
std::string fixed(double number, int digits);  // 1.200e+20 where doubles no longer count

struct ReportStyle {
  int rows = 20;    // of each table
  int width = 100;  // columns of the terminal
  bool color = false;
};
std::string memory_report(const MemoryPicture& picture, const ReportStyle& style = {});
std::string memory_json(const MemoryPicture& picture);  // schema "hilo.explain.1"
std::string html_page(const MemoryPicture& picture);

// Every collective of a partitioned module: bytes that a device sends in one run, groups, source
// lines, which shardings met there and what would save it; sums by axis and by source line. On a
// machine with links also how long it takes, in the order of the module, and behind what it hides.
std::string collective_report(const Module& module, const Machine* machine = nullptr,
                              const ReportStyle& style = {});
// Schema "hilo.collectives.1".
std::string collectives_json(const Module& module, const Machine* machine = nullptr);

// Every array of a program of whole arrays: the axes of each dimension, and which annotations at
// which source lines they came from. The module is left as sharding-propagation leaves it.
Result<std::string> sharding_report(Module& module, const ReportStyle& style = {});
Result<std::string> shardings_json(Module& module);  // schema "hilo.shardings.1"

// The commands of a planned program in their order, computation by computation: what each moves and
// computes, its estimate on the machine, where its arrays lie, and why it is no kernel.
std::string commands_report(const Module& module, const Plan& plan, const Machine& machine,
                            const ReportStyle& style = {});
std::string commands_json(const Module& module, const Plan& plan,
                          const Machine& machine);  // schema "hilo.commands.1"

// Something that took time on a device. Times in seconds from one zero.
struct TraceEvent {
  std::string name, category;
  int64_t device = 0;
  double start = 0, seconds = 0;
  std::vector<std::pair<std::string, std::string>> arguments;
};
// The JSON of Chrome's trace event format, which ui.perfetto.dev opens; times in microseconds.
std::string trace_json(std::string_view title, std::span<const TraceEvent> events);

}  // namespace hilo
