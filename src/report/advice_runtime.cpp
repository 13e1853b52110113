// An allocation that failed while programs ran: too much is alive, or it is in pieces.
#include <algorithm>

#include "report/advice.h"

namespace hilo {
namespace {

using Source = MemoryMessage::Source;

class RuntimeAdvice {
 public:
  explicit RuntimeAdvice(MemoryPicture& picture) : picture_(picture), message_(*picture.message) {}

  void advise() {
    if (message_.asked < 0 && message_.in_use < 0) return;
    if (message_.source == Source::TpuRuntime) advise_tpu();
    if (message_.source == Source::GpuRuntime) advise_gpu();
    if (message_.source == Source::Host)
      add("host",
          "the host's memory ran out: a smaller program at a time, fewer processes, or a limit "
          "that "
          "is not the machine's (ulimit -v, a container's)");
  }

 private:
  void add(std::string kind, std::string text) {
    Advice advice;
    advice.kind = std::move(kind);
    advice.text = std::move(text);
    advice.space = message_.space;
    advice.saved_bytes = advice.total_bytes = -1;
    picture_.advice.push_back(std::move(advice));
  }

  // Enough is free, but not in one block.
  bool is_fragmented() const {
    const int64_t free = message_.free >= 0 ? message_.free
                         : message_.in_use >= 0 && message_.limit >= 0
                             ? message_.limit - message_.in_use
                             : -1;
    return free >= 0 && message_.asked >= 0 && message_.asked <= free;
  }

  void advise_tpu() {
    const bool is_program = message_.task.starts_with("loading");
    if (is_fragmented())
      add("fragmentation",
          "enough is free, but not in one block: make the large arrays first, and delete those "
          "that "
          "lie between");
    if (is_program)
      add("program",
          "a program's temporary memory is taken as one block when it is loaded: what counts is "
          "what other arrays leave. hilo explain of the program's module shows what it needs");
    add("alive",
        "arrays stay alive as long as something refers to them: donate what a step replaces "
        "(donate_argnums), delete old states (x.delete()), keep less on the device between steps");
    add("list", "LIBTPU_INIT_ARGS=--tpu_log_allocations_on_oom lists what is allocated");
  }

  void advise_gpu() {
    int64_t temporary = 0;
    for (const PictureAllocation& allocation : picture_.allocations)
      if (allocation.is_temp) temporary = add_bytes(temporary, allocation.bytes);
    if (temporary > 0 && message_.asked > 0 && message_.asked >= temporary - temporary / 50 &&
        message_.asked <= temporary + temporary / 50)
      add("program",
          fmt::format("the block asked for is the program's temporary memory ({}), taken as one "
                      "block beside its arguments: the peak buffers say what fills it",
                      human_bytes(temporary)));
    if (is_fragmented())
      add("fragmentation",
          "enough is free, but not in one block: TF_GPU_ALLOCATOR=cuda_malloc_async or "
          "XLA_PYTHON_CLIENT_ALLOCATOR=platform give memory in pages");
    if (!message_.allocator.empty() || message_.in_use >= 0)
      add("preallocation",
          "XLA's allocator takes 75% of a GPU's memory by default: "
          "XLA_PYTHON_CLIENT_MEM_FRACTION=.95 lets it have more, "
          "XLA_PYTHON_CLIENT_PREALLOCATE=false leaves to other processes what it does not use; "
          "nvidia-smi shows whether another process holds the memory");
    if (message_.in_use > 0 && message_.limit > 0 && message_.in_use > message_.limit / 2)
      add("alive",
          fmt::format("{} was in use already: arrays stay alive as long as something refers to "
                      "them; donate what a step replaces (donate_argnums)",
                      human_bytes(message_.in_use)));
  }

  MemoryPicture& picture_;
  const MemoryMessage message_;
};

}  // namespace

void advise_on_runtime(MemoryPicture& picture) {
  if (picture.message) RuntimeAdvice(picture).advise();
}

}  // namespace hilo
