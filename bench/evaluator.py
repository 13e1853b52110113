#!/usr/bin/env python3
"""Speed of the evaluator: additions out of cache, products against NumPy's BLAS, start-up.

  evaluator.py --hilo build/hilo
"""
import argparse
import json
import os
import subprocess
import tempfile
import time



def bench(hilo, text, folder, threads, runs=10):
    path = os.path.join(folder, "module.hlo")
    with open(path, "w") as file:
        file.write(text)
    out = subprocess.run([hilo, "bench", "--device=eval", f"--threads={threads}", f"--runs={runs}", "--max-seconds=6", path], capture_output=True, check=True)
    return json.loads(out.stdout)["exec_s"]


def additions(hilo, folder):
    n = 1 << 26
    text = f"HloModule add\nENTRY main {{\n  a = f32[{n}]{{0}} parameter(0)\n  b = f32[{n}]{{0}} parameter(1)\n  ROOT r = f32[{n}]{{0}} add(a, b)\n}}\n"
    print(f"f32 additions out of cache, 1 thread: {n / bench(hilo, text, folder, 1) / 1e6:.0f} million/s")


def products(hilo, folder):
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for m, n, k in ((512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 1024, 1024), (128, 4096, 4096)):
        text = (f"HloModule dot\nENTRY main {{\n  a = f32[{m},{k}]{{1,0}} parameter(0)\n  b = f32[{k},{n}]{{1,0}} parameter(1)\n"
                f"  ROOT r = f32[{m},{n}]{{1,0}} dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n")
        ours = bench(hilo, text, folder, 1)
        script = (f"import numpy as np, time\na = np.ones(({m},{k}), np.float32); b = np.ones(({k},{n}), np.float32); t = []\n"
                  "for _ in range(8):\n  s = time.perf_counter(); c = a @ b; t.append(time.perf_counter() - s)\nprint(sorted(t)[len(t) // 2])")
        theirs = float(subprocess.run([os.sys.executable, "-c", script], capture_output=True, check=True, env=os.environ).stdout)
        flops = 2 * m * n * k
        print(f"f32 product {m} x {n} x {k}, 1 thread: {flops / ours / 1e9:6.1f} GFLOP/s, NumPy's OpenBLAS {flops / theirs / 1e9:6.1f}, ratio {theirs / ours:.2f}")


def start_up(hilo, folder):
    path = os.path.join(folder, "small.hlo")
    body = "".join(f"  x{i} = f32[8] add(x{i - 1}, x{i - 1})\n" for i in range(1, 9))
    with open(path, "w") as file:
        file.write(f"HloModule small\nENTRY main {{\n  x0 = f32[8] parameter(0)\n{body}  ROOT r = f32[8] negate(x8)\n}}\n")
    times = []
    for _ in range(20):
        start = time.perf_counter()
        subprocess.run([hilo, "run", "--device=eval", path], capture_output=True, check=True)
        times.append(time.perf_counter() - start)
    print(f"10 instructions, start to end of the process: {sorted(times)[10] * 1e3:.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hilo", default="build/hilo")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        additions(options.hilo, folder)
        products(options.hilo, folder)
        start_up(options.hilo, folder)


if __name__ == "__main__":
    main()
