// The processes that a client's devices are in. Private to `pjrt`.
#pragma once

#include <map>
#include <mutex>

#include "device/device.h"
#include "pjrt/topology.h"

namespace hilo::pjrt {

struct ClientProcesses {
  std::shared_ptr<Communicator> communicator;  // null: this one alone
  int own = 0;
  std::vector<int64_t> devices;  // of each process
};
// Finds the others that `options` names by the store of who creates the client. Usage where it
// gives none; Io where another does not come in time, naming it; Input where it is another version.
Result<ClientProcesses> find_processes(const ClientOptions& options,
                                       const PJRT_Client_Create_Args& args);

// Runs of programs whose devices are in several processes: each process has one at a time, so that
// all do them in one order.
class SharedRuns {
 public:
  // What the processes of a program agree on.
  struct Program {
    std::string name, fingerprint;
    std::vector<int> ranks;  // in order
  };
  // For the next run of the program: a number that all its processes have alike. Before the first
  // one they compare what they run: Input where it is not the same. `turn` is held until it ends.
  Result<uint64_t> begin(Communicator& communicator, const Program& program,
                         std::unique_lock<std::mutex>& turn);

 private:
  std::mutex turn_;
  std::map<std::string, uint64_t> runs_;          // so far, by fingerprint
  std::map<std::vector<int>, int64_t> compared_;  // programs, by their processes
};

}  // namespace hilo::pjrt
