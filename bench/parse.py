#!/usr/bin/env python3
"""Parsing speed of `hilo` and of jaxlib on the same files, in turns; minima of the turns.

  parse.py --hilo build/hilo FILE.hlo... [--turns 3] [--least-bytes 100000]
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys

PEER = """
import sys, time
from jaxlib import _hlo
text = open(sys.argv[1]).read()
times = []
while len(times) < 3 or (sum(times) < 1 and len(times) < 10):
    start = time.perf_counter(); module = _hlo.hlo_module_from_text(text); times.append(time.perf_counter() - start)
print(min(times))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--hilo", default="build/hilo")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--least-bytes", type=int, default=100_000)
    options = parser.parse_args()
    ratios, speeds = [], []
    print(f"{'MB':>7} {'hilo MB/s':>10} {'jaxlib MB/s':>12} {'ratio':>7}  file")
    for path in options.files:
        size = os.path.getsize(path)
        if size < options.least_bytes:
            continue
        ours, theirs = [], []
        for _ in range(options.turns):
            out = subprocess.run([options.hilo, "bench", "--parse-only", "--runs=20", "--max-seconds=1", path],
                                 capture_output=True, check=True)
            ours.append(json.loads(out.stdout)["parse_s"])
            out = subprocess.run([sys.executable, "-c", PEER, path], capture_output=True)
            if out.returncode == 0:
                theirs.append(float(out.stdout))
        speed = size / min(ours) / 1e6
        speeds.append(speed)
        peer = size / min(theirs) / 1e6 if theirs else math.nan
        if theirs:
            ratios.append(speed / peer)
        print(f"{size / 1e6:7.2f} {speed:10.0f} {peer:12.1f} {speed / peer:7.1f}  {os.path.basename(path)}")
    if speeds:
        print(f"slowest {min(speeds):.0f} MB/s; against jaxlib: geometric mean {statistics.geometric_mean(ratios):.1f} x, "
              f"least {min(ratios):.1f} x" if ratios else f"slowest {min(speeds):.0f} MB/s")


if __name__ == "__main__":
    main()
