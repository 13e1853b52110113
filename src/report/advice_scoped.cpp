// The memories beside the main one: what an instruction takes for itself, and which flags limit it.
#include <algorithm>

#include "report/advice.h"
#include "report/chip.h"

namespace hilo {
namespace {

class ScopedAdvice {
 public:
  explicit ScopedAdvice(MemoryPicture& picture) : picture_(picture), message_(*picture.message) {
    const Machine* machine = find_machine(picture.machine);
    const Chip* chip = machine ? chip_of(*machine) : nullptr;
    if (chip) default_limit_ = chip->scoped;
    if (machine && message_.space != 0) capacity_ = usable_bytes(*machine, message_.space);
    for (const PictureSpace& space : picture.spaces)
      if (space.space == message_.space) name_ = space.name;
    if (message_.scoped < 0 && message_.limit > 0) capacity_ = message_.limit;
  }

  void advise() {
    if (name_ == "vmem") advise_vmem();
    if (name_ == "smem")
      add("scalars",
          "smem holds scalars, and the tables that Pallas kernels prefetch (scalar_prefetch: page "
          "tables, block indices, sequence lengths): make them smaller, by fewer sequences or "
          "larger pages at a time, or read them from vmem");
    if (name_ == "sflag")
      add("flags",
          "sflag holds the semaphores of copies and collectives that run at once: fewer of them, "
          "or fewer semaphores in a kernel's scratch memory");
    if (name_ == "shared memory")
      add("blocks",
          fmt::format("one block of the kernel takes {} of the {} that a GPU's core has: smaller "
                      "block shapes, a narrower type, or fewer stages (num_stages)",
                      human_bytes(message_.needed), human_bytes(message_.limit)));
    advise_cores();
  }

 private:
  void add(std::string kind, std::string text, std::vector<size_t> values = {}) {
    Advice advice;
    advice.kind = std::move(kind);
    advice.text = std::move(text);
    advice.space = message_.space;
    advice.saved_bytes = advice.total_bytes = -1;
    advice.values = std::move(values);
    picture_.advice.push_back(std::move(advice));
  }

  void advise_vmem() {
    for (size_t v = 0; v < picture_.values.size(); ++v)
      if (picture_.values[v].space == message_.space) advise_instruction(v);
    advise_flag();
  }

  // Why an instruction takes so much.
  void advise_instruction(size_t v) {
    const PictureValue& value = picture_.values[v];
    const PictureInstruction& instruction = picture_.instruction_of(value);
    const std::string who = fmt::format("{}{} takes {}", picture_.name_of(value),
                                        at_source(picture_, v), human_bytes(value.bytes));
    const std::string& text = instruction.text;
    if (text.contains("spill slots") || value.kind.contains("spill"))
      return add("blocks",
                 fmt::format("{} for values that do not fit into registers: smaller blocks, or the "
                             "kernel's loop over parts of a block",
                             who),
                 {v});
    if (value.kind.contains("window") || value.kind.contains("scratch"))
      return add("blocks",
                 fmt::format("{} ({}): smaller block shapes in the kernel's BlockSpec, or scratch "
                             "of fewer bytes",
                             who, value.kind),
                 {v});
    if (instruction.op == "custom-call" || text.contains("tpu_custom_call"))
      return add("blocks",
                 fmt::format("{}; it is a kernel (Pallas): smaller block shapes, fewer buffers, or "
                             "its own limit, vmem_limit_bytes in pltpu.CompilerParams",
                             who),
                 {v});
    if (instruction.op == "reduce-window")
      return add("window",
                 fmt::format("{}: a reduce-window over a whole dimension is what cumulative sums "
                             "(cumsum, cumprod, cummax) become; run it along another dimension or "
                             "in blocks, or use jax.lax.associative_scan",
                             who),
                 {v});
    if (value.kind.contains("scoped"))
      add("split",
          fmt::format("{}, scoped: its own scratch memory, from its start to its end. Split the "
                      "operation, or keep it out of a large fusion",
                      who),
          {v});
  }

  void advise_flag() {
    constexpr int64_t kib = 1024;
    const std::string flag = "--xla_tpu_scoped_vmem_limit_kib";
    const std::string by_default =
        default_limit_ > 0
            ? fmt::format(" ({} by default on {})", default_limit_ / kib, picture_.machine)
            : "";
    const int64_t most = std::max(message_.scoped, message_.part("scoped"));
    if (message_.scoped >= 0 && (capacity_ == 0 || message_.scoped <= capacity_)) {
      constexpr int64_t step = 1024 * kib;
      const int64_t enough = (message_.scoped + step - 1) / step * step / kib;
      return add("flag",
                 fmt::format("LIBTPU_INIT_ARGS={}={} raises the limit of scoped memory{}; what one "
                             "instruction takes is not there for values kept in vmem",
                             flag, enough, by_default));
    }
    if (most <= 0) return;
    add("flag",
        fmt::format("scoped memory is what single instructions take for themselves; {}=N in "
                    "LIBTPU_INIT_ARGS limits it{}. {}",
                    flag, by_default,
                    capacity_ > 0 && most > capacity_
                        ? fmt::format("Here {} is more than all of vmem ({}): raising it does not "
                                      "help, the instruction must take less",
                                      human_bytes(most), human_bytes(capacity_))
                        : "A smaller limit leaves more of vmem to the rest"));
  }

  void advise_cores() {
    const int64_t tensor = message_.part("TensorCore"), sparse = message_.part("SparseCore");
    if (tensor < 0 || sparse < 0) return;
    add("sparsecore",
        sparse > tensor
            ? fmt::format("the SparseCore takes {}, the TensorCore {}: shard embedding tables over "
                          "more chips, avoid feature widths below 8, and try "
                          "--xla_sc_num_serialized_tables_to_optimize_hbm",
                          human_bytes(sparse), human_bytes(tensor))
            : fmt::format("the TensorCore takes {}, the SparseCore {}: the program's temporary "
                          "values come first; a dump of it shows them",
                          human_bytes(tensor), human_bytes(sparse)));
  }

  MemoryPicture& picture_;
  const MemoryMessage message_;
  std::string name_;
  int64_t default_limit_ = 0, capacity_ = 0;
};

}  // namespace

void advise_on_scoped(MemoryPicture& picture) {
  if (picture.message) ScopedAdvice(picture).advise();
}

}  // namespace hilo
