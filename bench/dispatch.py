#!/usr/bin/env python3
"""What a call costs beside its work, on Hilo's plugin and on XLA:CPU's own client.

  dispatch.py [--rounds 5] [--python PATH] [--log FILE]

Each side is a process; while one measures, the other waits. Least times of 2,000 calls (20 of the
large ones), medians of rounds, in microseconds:

  dispatch     a jitted x + 1 of f32[4,4], without waiting for it
  numpy        the same, and its result as a NumPy array
  hundred      100 arguments and 100 results of f32[4], and their end
  put K        device_put of 16 MiB that begin K bytes after a multiple of 64; "copies" says
               whether the buffer has other memory than NumPy's
  donated      a donated f32[16777216] (64 MiB) plus one; "pages" are those that a step touches anew

Without --python the interpreter must have jax.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

SOURCE = Path(__file__).parent.parent
SHIFTS = (0, 4, 16, 36)


def least(call, count):
    times = []
    for _ in range(count):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return min(times) * 1e6


def shifted(numpy, shift, count=4 << 20):
    """f32[count] whose address is `shift` after a multiple of 64."""
    memory = numpy.ones(4 * count + 128, numpy.uint8)
    begin = (shift - memory.ctypes.data) % 64
    return memory[begin:begin + 4 * count].view(numpy.float32)


def work():
    import jax
    import jax.numpy as jnp
    import numpy
    if "hilo" in os.environ["JAX_PLATFORMS"]:
        from hilo import jax_plugin
        jax_plugin.initialize()
    increment = jax.jit(lambda x: x + 1)
    small = jnp.ones((4, 4), jnp.float32)
    many = [jnp.full(4, i, jnp.float32) for i in range(100)]
    increments = jax.jit(lambda *all: [x + 1 for x in all])
    step = jax.jit(lambda x: x + 1, donate_argnums=0)
    arrays = {shift: shifted(numpy, shift) for shift in SHIFTS}
    state = jax.block_until_ready(step(jnp.zeros(16 << 20, jnp.float32)))
    increment(small).block_until_ready()
    jax.block_until_ready(increments(*many))
    for _ in sys.stdin:
        row = {"dispatch": least(lambda: increment(small), 2000),
               "numpy": least(lambda: numpy.asarray(increment(small)), 2000),
               "hundred": least(lambda: jax.block_until_ready(increments(*many)), 2000)}
        for shift, array in arrays.items():
            row[f"put {shift}"] = least(lambda: jax.device_put(array).block_until_ready(), 20)
            there = jax.device_put(array).unsafe_buffer_pointer()
            row[f"copies {shift}"] = int(there != array.ctypes.data)
        pages = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        times = []
        for _ in range(20):
            begun = time.perf_counter()
            state = step(state).block_until_ready()
            times.append(time.perf_counter() - begun)
        row["donated"] = min(times) * 1e6
        row["pages"] = (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - pages) // 20
        print(json.dumps(row), flush=True)


def start(python, name):
    environment = {**os.environ, "JAX_PLATFORMS": name}
    if name == "hilo":
        build = SOURCE / "build" / "release"
        environment.setdefault("HILO_PLUGIN", str(build / "libhilo_pjrt.so"))
        environment.setdefault("HILO_COMMAND", str(build / "hilo"))
        environment["PYTHONPATH"] = str(SOURCE / "python")
    return subprocess.Popen([python, __file__, "--work"], env=environment, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def measure(peer):
    peer.stdin.write("\n")
    peer.stdin.flush()
    line = peer.stdout.readline()
    if not line:
        sys.exit("dispatch.py: a side ended before it answered; its message stands above")
    return json.loads(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--log")
    options = parser.parse_args()
    peers = {name: start(options.python, name) for name in ("hilo", "cpu")}
    rows = {name: [] for name in peers}
    for _ in range(options.rounds):
        for name, peer in peers.items():
            rows[name].append(measure(peer))
    print("| what | Hilo | XLA:CPU |\n|---|---|---|")
    figures = {}
    for key in rows["hilo"][0]:
        figures[key] = [statistics.median(row[key] for row in rows[name]) for name in peers]
        print(f"| {key} | {figures[key][0]:.4g} | {figures[key][1]:.4g} |")
    if options.log:
        with open(options.log, "a") as log:
            log.write(json.dumps({"date": time.strftime("%Y-%m-%d"), "figures": figures}) + "\n")
    for peer in peers.values():
        peer.stdin.close()
        peer.wait()


if __name__ == "__main__":
    work() if "--work" in sys.argv else main()
