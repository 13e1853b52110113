#include "pjrt/processes.h"

#include <fmt/ranges.h>

#include <charconv>

#include "pjrt/callback_store.h"

namespace hilo::pjrt {
namespace {

// A store outlives clients: each one that this process creates takes the next name.
std::string job_name(const ClientOptions& options, KeyValueStore& store) {
  for (int64_t number = 0;; ++number) {
    std::string out = fmt::format("hilo/{}", number);
    if (!store.get(fmt::format("{}/devices/{}", out, options.process), 0)) return out;
  }
}

// How many devices each process has.
Result<std::vector<int64_t>> exchange_devices(const ClientOptions& options, const std::string& job,
                                              KeyValueStore& store) {
  const auto key = [&](int64_t process) { return fmt::format("{}/devices/{}", job, process); };
  HILO_DO(store.put(key(options.process), fmt::format("{}", options.devices)));
  std::vector<int64_t> out;
  for (int64_t process = 0; process < options.processes; ++process) {
    const auto said = store.get(key(process), static_cast<double>(options.timeout));
    if (!said)
      return fail(ErrorKind::Io, "rank {} has not come within {} s: {}", process, options.timeout,
                  said.error().message);
    int64_t& devices = out.emplace_back(0);
    const char* const end = said->data() + said->size();
    if (std::from_chars(said->data(), end, devices).ptr != end || devices < 1 ||
        devices > max_devices)
      return fail(ErrorKind::Io, "rank {} says that it has '{}' devices: expected 1 to {}", process,
                  said->substr(0, 20), max_devices);
  }
  return out;
}

uint64_t number_of(const std::string& text) { return std::hash<std::string>()(text) | 1; }

}  // namespace

Result<ClientProcesses> find_processes(const ClientOptions& options,
                                       const PJRT_Client_Create_Args& args) {
  ClientProcesses out;
  out.devices = {options.devices};
  if (options.processes == 1) return out;
  CallbackStore store(args);
  if (!store.is_there())
    return fail(ErrorKind::Usage,
                "num_nodes: {} processes find each other by a key-value store, and none is given",
                options.processes);
  const std::string job = job_name(options, store);
  HILO_TRY(out.devices, exchange_devices(options, job, store));
  out.own = static_cast<int>(options.process);
  JobOptions joining;
  joining.timeout_s = static_cast<double>(options.timeout);
  joining.name = job;
  joining.communicator.finds_deadlocks = true;
  HILO_TRY(out.communicator,
           hilo::join_processes(out.own, static_cast<int>(options.processes), store, joining));
  std::vector<int> ranks;
  for (int rank = 0; rank < options.processes; ++rank) ranks.push_back(rank);
  HILO_DO(compare_facts(*out.communicator, ranks, {number_of("clients"), {}},
                        {{"version of Hilo", platform_version()}}));
  return out;
}

Result<uint64_t> SharedRuns::begin(Communicator& communicator, const Program& program,
                                   std::unique_lock<std::mutex>& turn) {
  turn = std::unique_lock(turn_);
  uint64_t& runs = runs_[program.fingerprint];
  if (runs == 0) {
    const std::string group = fmt::format("programs of {}", fmt::join(program.ranks, ","));
    const MessageTag tag = {number_of(group), {compared_[program.ranks]++}};
    HILO_DO(compare_facts(communicator, program.ranks, tag,
                          {{"program", program.name + " " + program.fingerprint}}));
  }
  return number_of(fmt::format("{} {}", program.fingerprint, ++runs));
}

}  // namespace hilo::pjrt
