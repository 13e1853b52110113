#!/usr/bin/env python3
"""How near to the machine's bandwidth Hilo's and XLA's (jaxlib) code comes for programs that do
little to much data, at two sizes out of cache, on one and on all threads.

  bandwidth.py [NAME...] [--hilo build/hilo] [--elements 26] [--turns 3]

Bytes are those of the arguments and results. The machine's rates are measured in C beside each
program, on as many threads and as many bytes, with pages touched before: a loop that stores 2x + 1
(copy), the same past the caches (streamed), and a sum (read). What writes as much as it reads is
compared with the better copy, a reduction with the read. A second look at twice the size says
whether time grows with it. Needs c++ for the machine's rates.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
LIMITS = r"""
#include <immintrin.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
template <class F> double best(int threads, F part) {
  double out = 1e9;
  for (int turn = 0; turn < 6; ++turn) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(part, i);
    part(0);
    for (auto& one : others) one.join();
    out = std::min(out, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return out;
}
int main(int, char** arguments) {
  const size_t count = std::strtoull(arguments[1], nullptr, 10) / 4 / 1024 * 1024;
  const int threads = std::atoi(arguments[2]);
  auto* from = static_cast<float*>(std::aligned_alloc(4096, count * 4));
  auto* to = static_cast<float*>(std::aligned_alloc(4096, count * 4));
  std::fill(from, from + count, 1.0f);
  std::fill(to, to + count, 1.0f);
  std::vector<float> sums(threads * 64);
  const auto begin = [&](int i) { return count / 1024 * i / threads * 1024; };
  const double copy = best(threads, [&](int i) {
    float *a = from, *b = to;
    for (size_t k = begin(i); k < begin(i + 1); ++k) b[k] = 2 * a[k] + 1;
  });
  const double streamed = best(threads, [&](int i) {
    const __m128 two = _mm_set1_ps(2), one = _mm_set1_ps(1);
    for (size_t k = begin(i); k < begin(i + 1); k += 16)
      for (size_t j = 0; j < 16; j += 4)
        _mm_stream_ps(to + k + j, _mm_add_ps(_mm_mul_ps(_mm_load_ps(from + k + j), two), one));
    _mm_sfence();
  });
  const double read = best(threads, [&](int i) {
    float sum[64] = {};
    for (size_t k = begin(i); k < begin(i + 1); k += 64)
      for (int j = 0; j < 64; ++j) sum[j] += from[k + j];
    for (float one : sum) sums[i * 64] += one;
  });
  std::printf("%g %g %g\n", count * 8 / copy, count * 8 / streamed, count * 4 / read);
  return sums[0] < 0;
}
"""
ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
# name: text of the entry for {n} elements as {rows} rows of 1024, whether it only reads
PROGRAMS = {
    "axpy": ("x = f32[{n}] parameter(0)\n two = f32[{n}] broadcast(f32[] constant(2)), dimensions={{}}\n"
             " one = f32[{n}] broadcast(f32[] constant(1)), dimensions={{}}\n"
             " product = f32[{n}] multiply(x, two)\n ROOT r = f32[{n}] add(product, one)", False),
    "silu_bf16": ("x = bf16[{n}] parameter(0)\n s = bf16[{n}] logistic(x)\n"
                  " ROOT r = bf16[{n}] multiply(x, s)", False),
    "tanh": ("x = f32[{n}] parameter(0)\n ROOT r = f32[{n}] tanh(x)", False),
    "softmax": ("x = f32[{rows},1024] parameter(0)\n e = f32[{rows},1024] exponential(x)\n"
                " zero = f32[] constant(0)\n"
                " sums = f32[{rows}] reduce(e, zero), dimensions={{1}}, to_apply=add\n"
                " b = f32[{rows},1024] broadcast(sums), dimensions={{0}}\n"
                " ROOT r = f32[{rows},1024] divide(e, b)", False),
    "layer_norm": ("x = f32[{rows},1024] parameter(0)\n zero = f32[] constant(0)\n"
                   " part = f32[{rows}] broadcast(f32[] constant(0.0009765625)), dimensions={{}}\n"
                   " sums = f32[{rows}] reduce(x, zero), dimensions={{1}}, to_apply=add\n"
                   " mean = f32[{rows}] multiply(sums, part)\n"
                   " means = f32[{rows},1024] broadcast(mean), dimensions={{0}}\n"
                   " d = f32[{rows},1024] subtract(x, means)\n q = f32[{rows},1024] multiply(d, d)\n"
                   " squares = f32[{rows}] reduce(q, zero), dimensions={{1}}, to_apply=add\n"
                   " variance = f32[{rows}] multiply(squares, part)\n inverse = f32[{rows}] rsqrt(variance)\n"
                   " scale = f32[{rows},1024] broadcast(inverse), dimensions={{0}}\n"
                   " ROOT r = f32[{rows},1024] multiply(d, scale)", False),
    "row_sums": ("x = f32[{rows},1024] parameter(0)\n zero = f32[] constant(0)\n"
                 " ROOT r = f32[{rows}] reduce(x, zero), dimensions={{1}}, to_apply=add", True),
    "column_sums": ("x = f32[{rows},1024] parameter(0)\n zero = f32[] constant(0)\n"
                    " ROOT r = f32[1024] reduce(x, zero), dimensions={{0}}, to_apply=add", True),
}


def answer_of(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(done.stderr[-500:])
    return json.loads(done.stdout.splitlines()[-1])["exec_min_s"]


class Bench:
    def __init__(self, folder, options):
        self.folder, self.options = Path(folder), options
        source, self.limits = self.folder / "limits.cpp", self.folder / "limits"
        source.write_text(LIMITS)
        subprocess.run(["c++", "-std=c++20", "-O3", "-march=native", "-ffast-math", "-pthread", source, "-o",
                        self.limits], check=True)

    def machine(self, array_bytes, threads):
        """Bytes a second of a copy, of one past the caches, and of reading."""
        done = subprocess.run([self.limits, str(array_bytes), str(threads)], check=True,
                              capture_output=True, text=True)
        return [float(word) for word in done.stdout.split()]

    def seconds(self, name, count, threads):
        """The least of all turns, Hilo's and XLA's, and the machine's best rates between them."""
        path = self.folder / f"{name}_{count}.hlo"
        body = PROGRAMS[name][0].format(n=count, rows=count // 1024)
        path.write_text(f"HloModule {name}\n{ADD}ENTRY e {{ {body} }}\n")
        limits = ["--threads", str(threads), "--runs", "8", "--max-seconds", "3"]
        ours, theirs, rates = [], [], []
        for _ in range(self.options.turns):
            ours.append(answer_of([self.options.hilo, "bench", "--device=cpu", path, *limits]))
            theirs.append(answer_of([sys.executable, HERE / "jaxlib_bench.py", path, *limits]))
            rates.append(self.machine(count * (2 if "bf16" in name else 4), threads))
        return min(ours), min(theirs), [max(rate) for rate in zip(*rates)]


def show(bench, name, count, threads):
    reads = PROGRAMS[name][1]
    moved = count * (2 if "bf16" in name else 4) * (1 if reads else 2)
    ours, theirs, (copy, streamed, read) = bench.seconds(name, count, threads)
    twice, their_twice, _ = bench.seconds(name, 2 * count, threads)
    limit = read if reads else max(copy, streamed)
    cells = [f"{moved / s / 1e9:6.1f} GB/s {100 * moved / s / limit:4.0f} % {t / s:5.2f}"
             for s, t in ((ours, twice), (theirs, their_twice))]
    print(f"{name:12} {threads:7}  {cells[0]}   {cells[1]}   {theirs / ours:5.2f}"
          f"   {copy / 1e9:5.1f} {streamed / 1e9:8.1f} {read / 1e9:5.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(PROGRAMS))
    parser.add_argument("--hilo", default="build/hilo")
    parser.add_argument("--elements", type=int, default=26, help="the smaller size, as a power of 2")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="*")
    options = parser.parse_args()
    every = len(os.sched_getaffinity(0))
    print("                      Hilo                 2n/n   XLA                  2n/n   ratio"
          "   machine: copy, streamed, read")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, options)
        for threads in options.threads or sorted({1, every}):
            for name in options.names:
                show(bench, name, 1 << options.elements, threads)


if __name__ == "__main__":
    main()
