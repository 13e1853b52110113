// How many virtual devices a module runs on, and which ids they have. Private to `eval`.
#pragma once

#include "eval/call.h"

namespace hilo {

// Whether the shapes of the module are those of one device already. Shardings stay on parameters
// after partitioning, so other facts decide: a schedule, `_spmd` names, manual collectives.
bool is_partitioned(const Module& module);

// The grid for so many given inputs; 0: not known yet.
DeviceGrid device_grid(const Module& module, const EvalOptions& options, int64_t inputs_given = 0);

// The devices that run: more where a module that is not partitioned has manual regions, and then
// all partitions of a replica have its inputs, and give its outputs.
DeviceGrid running_grid(const Module& module, DeviceGrid grid);

// Which devices of `given` the ones of a process (none: this one) take part in, by id; Usage where
// the processes do not divide the devices.
Result<std::vector<int64_t>> local_programs(const Module& module, const EvalOptions& options,
                                            DeviceGrid given, std::optional<int> rank = {});

// The devices of an evaluation in this process, meeting in `rendezvous`, whose inputs are given for
// those of local_programs(); makes room in options.outfeed.
std::vector<Device> make_devices(Evaluation& evaluation, Rendezvous& rendezvous,
                                 const EvalOptions& options, DeviceGrid given);

}  // namespace hilo
