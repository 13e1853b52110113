// How this process joins others. Shown through device.h.
#pragma once

#include <optional>

#include "device/communicator.h"
#include "device/key_value_store.h"

namespace hilo {

// Of a job that no launcher has started: all three.
struct JobOptions {
  int processes = 0, rank = -1;
  std::string coordinator;  // HOST:PORT, where rank 0 listens
  double timeout_s = 60;    // for all to come
  CommunicatorOptions communicator = {};
  std::string name = "hilo";  // begins the names of keys: each job of a store has its own
};
struct Job {
  std::unique_ptr<KeyValueServer> server;  // of rank 0
  std::shared_ptr<Communicator> communicator;
};
// None where the options name no job and no MPI launcher has started one. Usage where options are
// missing or do not fit; Io where another process does not come, naming it.
Result<std::optional<Job>> join_job(const JobOptions& options);

// The processes of a store that somebody else has opened.
Result<std::shared_ptr<Communicator>> join_processes(int rank, int size, KeyValueStore& store,
                                                     const JobOptions& options);

}  // namespace hilo
