// The sentences of TPU compilers and runtimes, of GPU allocators and of XLA's runtimes, since 2016.
#include "report/message_sentences.h"

#include <algorithm>

namespace hilo {
namespace {

using Source = MemoryMessage::Source;
using Words = std::vector<std::string>;

int64_t bytes_of(const std::string& text) {
  std::string compact;
  for (const char c : text)
    if (c != ' ') compact += c;
  if (compact.ends_with("bytes")) compact.resize(compact.size() - 5);
  return read_human_bytes(compact).value_or(-1);
}

class Sentences {
 public:
  Sentences(const MessageText& text, DumpContents& contents)
      : text_(text), flat_(text.flat()), contents_(contents) {}

  void read();

 private:
  struct Row {
    std::string_view pattern;
    void (Sentences::*take)(const Words& words, size_t offset);
  };
  static const Row rows[];

  MemoryMessage& message() { return *contents_.picture.message; }
  void from(Source source, MachineFamily family, std::string reason) {
    if (!known_source_) message().source = source;
    known_source_ = true;
    if (contents_.evidence.family) return;
    contents_.evidence.family = family;
    contents_.evidence.family_reason = std::move(reason);
  }
  void from_tpu(Source source) { from(source, MachineFamily::Tpu, "the message is a TPU's"); }
  void from_gpu(std::string reason) {
    from(Source::GpuRuntime, MachineFamily::Gpu, std::move(reason));
  }
  // The first figure of a kind counts: later ones are repetitions and smaller attempts.
  static void set(int64_t& figure, int64_t bytes) {
    if (figure < 0) figure = bytes;
  }
  void state_capacity(int64_t space, const std::string& text) {
    const int64_t bytes = bytes_of(text);
    contents_.limits.try_emplace(space, bytes);
    contents_.evidence.capacities.push_back({space, bytes, rounding_of(text) / 2 + 1});
  }
  void add_part(std::string name, int64_t bytes, bool is_of_program = false) {
    if (bytes >= 0 && message().part(name) < 0)
      message().parts.push_back({std::move(name), bytes, is_of_program});
  }

  void take_space(const Words& words, size_t);
  void take_used(const Words& words, size_t offset);
  void take_scoped(const Words& words, size_t);
  void take_stack(const Words& words, size_t);
  void take_too_large(const Words& words, size_t offset);
  void take_cores(const Words& words, size_t);
  void take_device_allocation(const Words& words, size_t);
  void take_reserve(const Words& words, size_t);
  void take_largest_free(const Words& words, size_t);
  void take_program(const Words& words, size_t);
  void take_buffer(const Words&, size_t);
  void take_execution(const Words& words, size_t);
  void take_request(const Words& words, size_t);
  void take_allocator(const Words& words, size_t);
  void take_old_allocator(const Words& words, size_t);
  void take_constant(const Words& words, size_t);
  void take_pinned(const Words& words, size_t);
  void take_driver(const Words& words, size_t);
  void take_tensor(const Words& words, size_t);
  void take_host(const Words& words, size_t);
  void take_shared(const Words& words, size_t);
  void take_remat(const Words& words, size_t);
  void take_output(const Words& words, size_t);
  void take_usage_rows(const Words& words, size_t offset);
  void take_limit(const Words& words, size_t);
  void take_in_use(const Words& words, size_t);
  void take_largest_block(const Words& words, size_t);
  void take_chunks(const Words& words, size_t);
  void take_fragmentation(const Words& words, size_t);

  const MessageText& text_;
  const std::string& flat_;
  DumpContents& contents_;
  bool known_source_ = false;
};

void Sentences::take_space(const Words& words, size_t) {
  from_tpu(Source::TpuCompiler);
  if (message().space < 0) message().space = space_of_name(words[0], contents_);
}

void Sentences::take_used(const Words& words, size_t offset) {
  const int64_t used = bytes_of(words[0]), limit = bytes_of(words[1]);
  if (used < 0 || limit < 0)
    return contents_.fault(text_.error_at(offset, "expected \"Used SIZE of SIZE SPACE.\""));
  const int64_t space = space_of_name(words[2], contents_);
  if (message().space < 0) message().space = space;
  contents_.totals.try_emplace(space, DumpContents::Stated{used, text_.where(offset)});
  state_capacity(space, words[1]);
  if (message().space != space) return;
  set(message().needed, used);
  set(message().limit, limit);
}

void Sentences::take_scoped(const Words& words, size_t) {
  from_tpu(Source::TpuCompiler);
  if (message().space < 0) message().space = space_of_name(words[2], contents_);
  set(message().scoped, bytes_of(words[0]));
  set(message().scoped_limit, bytes_of(words[1]));
  int64_t& most = contents_.evidence.in_use[space_of_name(words[2], contents_)];
  most = std::max(most, bytes_of(words[1]));  // no limit is above what the chip has
}

void Sentences::take_stack(const Words& words, size_t) {
  const std::string& label = words[0];
  message().task = label.substr(0, label.find(" = "));
  if (!contents_.picture.instructions.empty()) return;
  PictureInstruction& instruction = contents_.picture.instructions.emplace_back();
  describe_instruction(instruction, label.starts_with('%') ? label.substr(1) : label);
  instruction.name = message().task.starts_with('%') ? message().task.substr(1) : message().task;
}

// "Allocation (size=134217728) would exceed memory (size=67108864)": without a space it is hbm's.
void Sentences::take_too_large(const Words& words, size_t offset) {
  from_tpu(Source::TpuCompiler);
  const auto detail = find_sentence(
      flat_, ":: #allocation{n} [shape = '{t}', space={w}, size = {w}, tag = '{t}']", offset);
  const bool is_its = detail && detail->offset < offset + 200;
  const int64_t space = space_of_name(is_its ? detail->words[2] : "hbm", contents_);
  if (message().space < 0) message().space = space;
  set(message().asked, bytes_of(words[0]));
  set(message().limit, bytes_of(words[1]));
  state_capacity(space, words[1]);
  if (!is_its || !contents_.picture.values.empty()) return;
  const std::string& tag = detail->words[4];
  PictureInstruction& instruction = contents_.picture.instructions.emplace_back();
  for (const std::string_view start : {"scoped memory for ", "output of "})
    if (tag.starts_with(start)) {
      const std::string_view name = std::string_view(tag).substr(start.size());
      instruction.name = name.substr(0, name.find('@'));
    }
  if (instruction.name.empty()) instruction.name = "allocation " + detail->words[0];
  PictureValue& value = contents_.picture.values.emplace_back();
  value.defined.instruction = contents_.picture.instructions.size() - 1;
  value.shape = detail->words[1];
  value.kind = tag.substr(0, tag.find(". "));
  value.bytes = bytes_of(words[0]);
  value.space = space;
}

void Sentences::take_cores(const Words& words, size_t) {
  from_tpu(Source::TpuCompiler);
  if (message().space < 0) message().space = 0;
  const int64_t tensor = bytes_of(words[0]), sparse = bytes_of(words[1]);
  add_part("TensorCore", tensor);
  add_part("SparseCore", sparse);
  set(message().needed, add_bytes(tensor, sparse));
  set(message().limit, bytes_of(words[2]));
  state_capacity(0, words[2]);
}

void Sentences::take_device_allocation(const Words& words, size_t) {
  from_tpu(Source::TpuRuntime);
  set(message().asked, bytes_of(words[0]));
  set(message().free, bytes_of(words[1]));
}

void Sentences::take_reserve(const Words& words, size_t) {
  from_tpu(Source::TpuRuntime);
  set(message().asked, bytes_of(words[0]));
  set(message().free, bytes_of(words[1]));
  set(message().largest_free, bytes_of(words[3]));
  add_part("reserved", bytes_of(words[2]));
}

void Sentences::take_largest_free(const Words& words, size_t) {
  set(message().largest_free, bytes_of(words[0]));
}

void Sentences::take_program(const Words& words, size_t) {
  if (message().task.empty()) message().task = fmt::format("loading the program {}", words[0]);
}

void Sentences::take_buffer(const Words&, size_t) {
  if (message().task.empty()) message().task = "making an array on the device";
}

void Sentences::take_execution(const Words& words, size_t) {
  from_gpu("only XLA's GPU runtime writes so");
  set(message().asked, bytes_of(words[0]));
}

void Sentences::take_request(const Words& words, size_t) {
  from_gpu("device ordinals are a GPU's");
  set(message().asked, bytes_of(words[1]));
}

void Sentences::take_allocator(const Words& words, size_t) {
  if (words[0].starts_with("GPU_")) from_gpu(words[0] + " is XLA's allocator of a GPU");
  else from(Source::Host, MachineFamily::Cpu, words[0] + " is an allocator of the host");
  if (message().allocator.empty()) message().allocator = words[0];
  set(message().asked, bytes_of(words[1]));
}

void Sentences::take_old_allocator(const Words& words, size_t) {
  from_gpu("allocators of GPUs wrote so until 2017");
  set(message().asked, bytes_of(words[0]));
}

void Sentences::take_constant(const Words& words, size_t) {
  from_gpu("only XLA's GPU runtime writes so");
  message().task = "placing a constant of the program";
  set(message().asked, bytes_of(words[0]));
}

void Sentences::take_pinned(const Words& words, size_t) {
  from_gpu(words[1] + " is the word of a GPU's driver");
  message().space = space_of_name("host", contents_);
  message().task = "pinning memory of the host for copies";
  set(message().asked, bytes_of(words[0]));
}

void Sentences::take_driver(const Words& words, size_t) {
  const bool is_amd = words[2].starts_with("HIP") || words[2].starts_with("hip");
  from_gpu(words[2] +
           (is_amd ? " is the word of AMD's driver" : " is the word of NVIDIA's driver"));
  if (is_amd && contents_.evidence.architecture.empty()) contents_.evidence.architecture = "gfx";
  set(message().asked, bytes_of(words[1]));
}

void Sentences::take_tensor(const Words& words, size_t) {
  if (words[3].starts_with("GPU_")) from_gpu(words[3] + " is XLA's allocator of a GPU");
  else from(Source::Host, MachineFamily::Cpu, words[3] + " is an allocator of the host");
  if (message().allocator.empty()) message().allocator = words[3];
  if (message().task.empty())
    message().task = fmt::format("making a tensor {}[{}]", words[1], words[0]);
}

void Sentences::take_host(const Words& words, size_t) {
  from(Source::Host, MachineFamily::Cpu, "only XLA's CPU runtime writes so");
  set(message().asked, bytes_of(words[0]));
}

void Sentences::take_shared(const Words& words, size_t) {
  from_gpu("shared memory is a GPU's");
  message().space = space_of_name("shared memory", contents_);
  set(message().needed, bytes_of(words[0]));
  set(message().limit, bytes_of(words[1]));
  contents_.limits.try_emplace(message().space, bytes_of(words[1]));
  contents_.totals.try_emplace(message().space, DumpContents::Stated{bytes_of(words[0]), {}});
}

void Sentences::take_remat(const Words& words, size_t) {
  set(message().remat_goal, bytes_of(words[1]));
  set(message().remat_reached, bytes_of(words[3]));
}

void Sentences::take_output(const Words& words, size_t) {
  add_part("output", bytes_of(words[0]));
  add_part("output in arguments", bytes_of(words[1]));
}

// "reserved 530.00M program 20.50G arguments unknown size", each perhaps with more in parentheses.
void Sentences::take_usage_rows(const Words& words, size_t offset) {
  const int64_t space = space_of_name(words[0], contents_);
  const bool is_total = flat_.compare(offset, 5, "Total") == 0;
  if (message().space < 0) message().space = space;
  if (space != message().space) return;
  const size_t colon = flat_.find(": ", offset);
  if (colon == std::string::npos) return;
  std::string_view rest = std::string_view(flat_).substr(colon + 1);
  while (true) {
    const size_t start = rest.find_first_of("0123456789.;:");
    constexpr size_t longest_name = 40;
    if (start == std::string_view::npos || start < 3 || start > longest_name) return;
    std::string name(rest.substr(1, start - 2));
    if (const size_t unknown = name.find("unknown size "); unknown != std::string::npos)
      name = name.substr(unknown + 13);
    const auto size = match_sentence(rest.substr(start), "{b}");
    if (!size || name.starts_with("Output ") || name.starts_with("Largest ")) return;
    rest.remove_prefix(start + size->front().size());
    if (name == "reserved" && is_total && space == 0)
      contents_.evidence.reserved = bytes_of(size->front());
    if (name != "reserved" || is_total) add_part(name, bytes_of(size->front()), !is_total);
    if (!rest.starts_with(" (")) continue;
    int depth = 0;
    size_t end = 1;
    do depth += rest[end] == '(' ? 1 : rest[end] == ')' ? -1 : 0;
    while (++end < rest.size() && depth > 0);
    rest.remove_prefix(end);
  }
}

void Sentences::take_fragmentation(const Words& words, size_t) {
  add_part("fragmentation", bytes_of(words[0]), true);
}

void Sentences::take_limit(const Words& words, size_t) {
  set(message().limit, bytes_of(words[0]));
  contents_.limits.try_emplace(0, bytes_of(words[0]));
}
void Sentences::take_in_use(const Words& words, size_t) {
  set(message().in_use, bytes_of(words[0]));
}
void Sentences::take_largest_block(const Words& words, size_t) {
  set(message().largest_free, bytes_of(words[0]));
}

void Sentences::take_chunks(const Words& words, size_t) {
  const int64_t count = bytes_of(words[0]), bytes = bytes_of(words[1]);
  for (const MemoryMessage::Chunks& one : message().chunks)
    if (one.bytes == bytes) return;
  if (count > 0 && bytes >= 0) message().chunks.push_back({count, bytes});
}

const Sentences::Row Sentences::rows[] = {
    {"Allocator ({w}) ran out of memory trying to allocate {b}", &Sentences::take_allocator},
    {"Ran out of memory in memory space {w}", &Sentences::take_space},
    {"Used {b} of {b} {w}", &Sentences::take_used},
    {"Scoped allocation with size {b} and limit {b} exceeded scoped {w} limit",
     &Sentences::take_scoped},
    {"while allocating on stack for {t}. Scoped", &Sentences::take_stack},
    {"while allocating on stack for {w} = ", &Sentences::take_stack},
    {"Allocation (size={n}) would exceed memory (size={n})", &Sentences::take_too_large},
    {"TPU TensorCore Hbm usage: {b}, SparseCore Hbm usage {b}, exceeding available bytes: {b}",
     &Sentences::take_cores},
    {"TC Hbm usage: {b}, SC Hbm usage {b}, exceeding available bytes: {b}", &Sentences::take_cores},
    {"Attempting to reserve {b} at the bottom of memory. That was not possible. There are {b} "
     "free, "
     "{b} reserved, and {b} reservable",
     &Sentences::take_reserve},
    {"Attempting to allocate {b}. That was not possible. There are {b} free",
     &Sentences::take_device_allocation},
    {"The largest contiguous region of free memory is {b}", &Sentences::take_largest_free},
    {"Error loading program '{w}'", &Sentences::take_program},
    {"Error allocating device buffer", &Sentences::take_buffer},
    {"ut of memory while trying to allocate {b}", &Sentences::take_execution},
    {"Failed to allocate request for {b} ({n}B) on device ordinal {n}", &Sentences::take_request},
    {"failed to allocate {b} ({n} bytes) from device: {w}", &Sentences::take_driver},
    {"Ran out of memory trying to allocate {b}", &Sentences::take_old_allocator},
    {"Failed to allocate {n} bytes for new constant", &Sentences::take_constant},
    {"failed to alloc {n} bytes on host: {w}", &Sentences::take_pinned},
    {"OOM when allocating tensor with shape[{t}] and type {w} on {w} by allocator {w}",
     &Sentences::take_tensor},
    {"Out of memory allocating {n} bytes", &Sentences::take_host},
    {"Shared memory size limit exceeded: requested {n}, available: {n}", &Sentences::take_shared},
    {"reduce memory use below {b} ({n} bytes) by rematerialization; only reduced to {b} ({n} "
     "bytes)",
     &Sentences::take_remat},
    {"Output size {b}; shares {b} with arguments", &Sentences::take_output},
    {"Total {w} usage >= {b}:", &Sentences::take_usage_rows},
    {"Program {w} requirement {b}:", &Sentences::take_usage_rows},
    {"% fragmentation ({b})", &Sentences::take_fragmentation},
    {"Limit: {n} InUse: {n}", &Sentences::take_limit},
    {"InUse: {n}", &Sentences::take_in_use},
    {"LargestFreeBlock: {n}", &Sentences::take_largest_block},
};

void Sentences::read() {
  contents_.picture.message.emplace();
  message().space = -1;
  for (const Row& row : rows) {
    size_t at = 0;
    while (const auto found = find_sentence(flat_, row.pattern, at)) {
      (this->*row.take)(found->words, found->offset);
      at = found->offset + 1;
    }
  }
  for (const MessageText::Line& line : text_.lines())
    if (const auto words = match_sentence(line.text, "{n} Chunks of size {n} totalling"))
      take_chunks(*words, 0);
  message().space = std::max<int64_t>(message().space, 0);
  if (!known_source_ && contents_.evidence.family == MachineFamily::Gpu)
    message().source = Source::GpuRuntime;
}

// Sentences of which each tells that there is a message, by their first words.
constexpr std::string_view telling[] = {
    "Ran out of memory in memory space",
    "Scoped allocation with size ",
    ") would exceed memory (size=",
    "SparseCore Hbm usage ",
    "SC Hbm usage ",
    "That was not possible.",
    "ut of memory while trying to allocate ",
    "Failed to allocate request for ",
    " ran out of memory trying to allocate ",
    "Ran out of memory trying to allocate ",
    " bytes for new constant",
    "OOM when allocating tensor with shape[",
    "Out of memory allocating ",
    "OUT_OF_MEMORY: out of memory",
    "HIP_ERROR_OutOfMemory",
    "Shared memory size limit exceeded",
    "BufferAssignment OOM Debugging.",
    "Largest program allocations in ",
    "Sum Total of in-use chunks",
};

}  // namespace

void read_sentences(const MessageText& text, DumpContents& contents) {
  Sentences(text, contents).read();
}

bool has_message(std::string_view text) {
  return std::any_of(std::begin(telling), std::end(telling),
                     [&](std::string_view words) { return text.contains(words); });
}

int64_t space_of_name(std::string_view name, DumpContents& contents) {
  for (const Chip& chip : chips_of(MachineFamily::Tpu))
    for (const MemorySpace& space : chip.machine->spaces)
      if (space.name == name) return space.number;
  if (name == "HBM") return 0;
  constexpr int64_t first_unknown = 100;
  for (const auto& [number, known] : contents.space_names)
    if (known == name) return number;
  const auto number = first_unknown + static_cast<int64_t>(contents.space_names.size());
  contents.space_names[number] = name;
  return number;
}

}  // namespace hilo
