// A compiled program and what is told of it. Private to `pjrt`.
#pragma once

#include <array>
#include <mutex>

#include "compile/compile.h"
#include "pjrt/buffer.h"
#include "pjrt/compile_options.h"
#include "pjrt/ffi.h"
#include "pjrt/named_values.h"
#include "pjrt/shards.h"

namespace hilo::pjrt {

// As a client gave it.
struct ProgramSource {
  std::string code, format, compile_options;
  // Of the client's partitioners, call by call; nothing: they are to be asked.
  std::optional<std::vector<std::string>> answers = {};
  // By stage, what the client's transformations have made of the module, as an HloModuleProto;
  // empty: they have left it.
  std::array<std::string, transform_stages> transformed = {};
};

// Results and parameters as a client sees them on each device, in arrays that queries show.
struct ProgramValues {
  std::vector<Cut> cuts;
  std::vector<PJRT_Buffer_Type> types;
  std::vector<int64_t> dims;  // of all, one after another
  std::vector<size_t> ranks;
  std::vector<size_t> kinds;  // of memory
  std::vector<const char*> kind_names;
  std::vector<size_t> kind_sizes;
  std::vector<std::string> shardings, listed_shardings;  // messages
  std::vector<const char*> sharding_bytes;
  std::vector<size_t> sharding_sizes;

  size_t size() const { return cuts.size(); }
  const SharedShape& shape(size_t i) const { return cuts[i].held; }
  // What a client gives for a token may be any array.
  Literal argument(size_t i, Literal value) const {
    return shape(i)->is_array() ? std::move(value) : Literal::token();
  }
  Result<void> add(const Shape& whole, const Sharding* sharding, int64_t devices);
  void show();  // fills the arrays of pointers
};

// On which devices a run does what.
enum class Spread : uint8_t {
  Alone,    // each runs the program by itself
  Each,     // all run the program, each with arguments of its own, and meet in it
  Together  // one runs the program on whole values, whose shards the devices hold
};

struct Program {
  ProgramSource source;
  CompileSettings settings;
  Executable executable;
  std::string name, fingerprint, assignment;
  ProgramValues parameters, results;
  Spread spread = Spread::Alone;
  bool has_whole_values = false;  // which its devices hold cut
  // Where its devices are in several processes, which run it together; else without ranks.
  SharedRuns::Program shared = {};
  std::vector<bool> is_donated;  // by parameter: a run may take its memory
  UserCalls user_calls;          // functions that were registered and that it calls
  bool is_short = false;         // a run takes less than to hand it to another thread
  NamedValues cost;

  // Written when it is first asked for.
  const Result<std::string>& optimized() const;

 private:
  mutable std::once_flag optimized_once_;
  mutable Result<std::string> optimized_;
};

// Memory, threads and cache are the client's; null: the program has its own, and no cache.
Result<std::shared_ptr<const Program>> make_program(ProgramSource source,
                                                    const PJRT_Client* client);
std::string serialize(const ProgramSource& source);
// The other way; Format for what another version has written.
Result<ProgramSource> read_serialized(std::string_view bytes);

}  // namespace hilo::pjrt
