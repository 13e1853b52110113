// Included before tests of the evaluator, so that these judge devices in several processes: threads
// stand for these, each with its own devices, and nothing but messages goes between them. What they
// give has the bits that one process gives.
#pragma once

#include <gtest/gtest.h>

#include <thread>

#include "device/device.h"
#include "eval/eval.h"

namespace hilo::test {

// One communicator a rank; their deadlocks are found fast.
inline std::vector<std::shared_ptr<Communicator>> communicators(int size) {
  CommunicatorOptions options;
  options.finds_deadlocks = true;
  options.heartbeat_s = 0.01;
  std::vector<std::shared_ptr<Communicator>> out;
  for (std::unique_ptr<Transport>& transport : local_transports(size))
    out.push_back(std::make_shared<Communicator>(std::move(transport), options));
  return out;
}

// What each rank gives, by rank.
inline std::vector<Result<Outputs>> run_ranks(
    int size, const std::function<Result<Outputs>(std::shared_ptr<Communicator>)>& run) {
  const auto all = communicators(size);
  std::vector<Result<Outputs>> out(static_cast<size_t>(size), Outputs{});
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      const auto at = static_cast<size_t>(rank);
      out[at] = run(all[at]);
      if (!out[at]) all[at]->stop(0, out[at].error());
    });
  for (std::thread& thread : threads) thread.join();
  return out;
}

inline Result<Outputs> evaluate_on_ranks(int size, const Module& module, const Inputs& inputs,
                                         const EvalOptions& options) {
  EvalOptions shared = options;
  if (shared.partitioning == Partitioning::Detect)
    shared.partitioning = device_count(module, options) == std::ssize(inputs.devices)
                              ? find_partitioning(module, options)
                              : Partitioning::Unpartitioned;
  std::vector<std::vector<int64_t>> devices(static_cast<size_t>(size));
  const auto run = [&](const std::shared_ptr<Communicator>& communicator) -> Result<Outputs> {
    EvalOptions own = shared;
    own.processes.communicator = communicator;
    HILO_TRY(const std::vector<int64_t> local, local_devices(module, own));
    devices[static_cast<size_t>(communicator->rank())] = local;
    Inputs given;
    for (const int64_t device : local)
      given.devices.push_back(inputs.devices[static_cast<size_t>(device)]);
    return evaluate(module, std::move(given), own);
  };
  const auto results = run_ranks(size, run);
  Outputs out;
  out.devices.resize(inputs.devices.size());
  for (size_t rank = 0; rank < results.size(); ++rank) {
    if (!results[rank]) return results[rank];
    for (size_t i = 0; i < devices[rank].size(); ++i)
      out.devices[static_cast<size_t>(devices[rank][i])] = results[rank]->devices[i];
  }
  return out;
}

inline Result<Outputs> evaluate_in_processes(const Module& module, const Inputs& inputs,
                                             const EvalOptions& options) {
  Result<Outputs> alone = evaluate(module, inputs, options);
  const int64_t devices = std::ssize(inputs.devices);
  const bool is_fed = options.outfeed || !options.infeed.empty();
  for (const int64_t size : {devices, devices / 2}) {
    if (!alone || is_fed || size < 2 || devices % size != 0) continue;
    const auto shared = evaluate_on_ranks(static_cast<int>(size), module, inputs, options);
    EXPECT_TRUE(shared) << to_string(shared.error());
    for (size_t d = 0; shared && d < alone->devices.size(); ++d)
      EXPECT_TRUE(same_bits(shared->devices[d], alone->devices[d]))
          << "device " << d << " of " << size << " processes";
  }
  return alone;
}

}  // namespace hilo::test
