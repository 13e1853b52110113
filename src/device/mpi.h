// The processes that an MPI launcher has started. Private to `device`.
#pragma once

#include <memory>
#include <optional>

#include "base/base.h"

namespace hilo {

// Two libraries with the same functions and different handles: Open MPI's are addresses, MPICH's
// (and those of its kin) numbers.
enum class MpiKind : uint8_t { OpenMpi, Mpich };

// The library, opened when a launcher is there: the program does not depend on it. One in a
// process, used by one thread.
class Mpi {
 public:
  // What the environment says of a launcher; none: this process was started alone.
  static std::optional<MpiKind> launcher();
  static Result<std::unique_ptr<Mpi>> start(MpiKind kind);
  ~Mpi();  // waits for all processes, as MPI_Finalize does
  int rank() const;
  int size() const;
  // What rank 0 says, on all of them; at most 1 KiB.
  Result<std::string> broadcast(const std::string& text) const;

 private:
  struct State;
  explicit Mpi(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hilo
