#!/usr/bin/env python3
"""Time of sharding propagation and partitioning beside XLA's, on this machine.

  partitioning.py MODULE.hlo ... [--devices 8] [--runs 5] [--hilo build/hilo] [--log bench/log.jsonl]

Hilo's are the two rows of `hilo opt --pipeline=spmd --time`, XLA's the passes as jaxlib logs them
while it compiles for so many CPU devices. Each run is a process of its own, the two take turns;
the figures are medians.
"""
import argparse
import datetime
import json
import os
import re
import statistics
import subprocess
import sys

OURS = ("sharding-propagation", "spmd-partitioner")
THEIRS = re.compile(r"HLO pass: (sharding-propagation|shardy-xla|spmd-partitioning) time: [^(]*\((\d+) us\)")


def hilo_ms(hilo, module):
    done = subprocess.run([hilo, "opt", module, "--pipeline=spmd", "--time", "-o", os.devnull], capture_output=True,
                          text=True, check=True)
    rows = [line.split() for line in (done.stdout + done.stderr).splitlines()]
    return sum(float(row[1]) for row in rows if row and row[-1] in OURS)


def compile_with_jaxlib(path, devices):
    import jax
    from jaxlib import _hlo, _jax, xla_client
    import numpy as np
    program = _jax.mlir.hlo_to_stablehlo(_hlo.hlo_module_from_text(open(path).read()).as_serialized_hlo_module_proto())
    options = xla_client.CompileOptions()
    options.num_partitions, options.num_replicas = devices, 1
    options.device_assignment = xla_client.DeviceAssignment.create(np.arange(devices).reshape(1, devices))
    build = options.executable_build_options
    build.num_partitions, build.num_replicas = devices, 1
    build.use_spmd_partitioning = build.use_shardy_partitioner = True
    client = jax.devices("cpu")[0].client
    client.compile_and_load(program, _jax.DeviceList(tuple(jax.devices()[:devices])), options)


def xla_ms(path, devices):
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "0",
                   "TF_CPP_VMODULE": "hlo_pass_pipeline=1",
                   "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"}
    done = subprocess.run([sys.executable, __file__, path, "--devices", str(devices), "--child"], capture_output=True,
                          text=True, env=environment)
    found = THEIRS.findall(done.stderr)
    if "spmd-partitioning" not in {name for name, _ in found}:
        raise RuntimeError(f"jaxlib logged no times of its passes: {done.stderr[-300:]}")
    return sum(int(microseconds) for _, microseconds in found) / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="+")
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--hilo", default="build/hilo")
    parser.add_argument("--log")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return compile_with_jaxlib(options.modules[0], options.devices)
    for module in options.modules:
        ours, theirs = [], []
        for _ in range(options.runs):
            theirs.append(xla_ms(module, options.devices))
            ours.append(hilo_ms(options.hilo, module))
        mine, other = statistics.median(ours), statistics.median(theirs)
        print(f"{other / mine:8.1f} x  {mine:10.2f} ms, XLA {other:10.2f} ms  {module}", flush=True)
        if options.log:
            row = {"date": datetime.date.today().isoformat(), "program": os.path.basename(os.path.dirname(module)) or module,
                   "measure": "propagation and partitioning", "unit": "ms", "before": round(other, 2),
                   "after": round(mine, 2), "note": f"before: XLA of jaxlib in the same run, medians of {options.runs}"}
            with open(options.log, "a") as log:
                log.write(json.dumps(row) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
