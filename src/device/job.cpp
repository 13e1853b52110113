#include "device/job.h"

#include "device/mpi.h"
#include "device/socket_transport.h"

namespace hilo {
namespace {

Result<void> check_options(const JobOptions& options) {
  if (options.processes < 1 || options.rank < 0 || options.coordinator.empty())
    return fail(ErrorKind::Usage,
                "a job of several processes needs --processes, --rank and --coordinator");
  if (options.rank >= options.processes)
    return fail(ErrorKind::Usage, "--rank={}: ranks of {} processes are below {}", options.rank,
                options.processes, options.processes);
  return {};
}

Result<Job> join_at(int rank, int size, std::unique_ptr<KeyValueServer> server,
                    const std::string& address, const JobOptions& options) {
  Job out{std::move(server), nullptr};
  HILO_TRY(const auto store, open_store(address, options.timeout_s));
  HILO_TRY(out.communicator, join_processes(rank, size, *store, options));
  return out;
}

// MPI tells where rank 0 listens; what follows is ours, so that the death of a process is noticed
// and named.
Result<Job> join_launched(MpiKind kind, const JobOptions& options) {
  HILO_TRY(const auto mpi, Mpi::start(kind));
  std::unique_ptr<KeyValueServer> server;
  std::string address;
  if (mpi->rank() == 0) {
    HILO_TRY(server, KeyValueServer::start(""));
    address = server->address();
  }
  HILO_TRY(address, mpi->broadcast(address));
  return join_at(mpi->rank(), mpi->size(), std::move(server), address, options);
}

}  // namespace

Result<std::optional<Job>> join_job(const JobOptions& options) {
  const bool is_named = options.processes > 0 || options.rank >= 0 || !options.coordinator.empty();
  if (is_named) {
    HILO_DO(check_options(options));
    std::unique_ptr<KeyValueServer> server;
    if (options.rank == 0) {
      HILO_TRY(server, KeyValueServer::start(options.coordinator));
    }
    return join_at(options.rank, options.processes, std::move(server), options.coordinator,
                   options);
  }
  const auto kind = Mpi::launcher();
  if (!kind) return std::optional<Job>();
  return join_launched(*kind, options);
}

Result<std::shared_ptr<Communicator>> join_processes(int rank, int size, KeyValueStore& store,
                                                     const JobOptions& options) {
  HILO_TRY(auto transport, connect_mesh({rank, size, options.name, options.timeout_s}, store));
  return std::make_shared<Communicator>(std::move(transport), options.communicator);
}

}  // namespace hilo
