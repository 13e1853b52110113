#!/usr/bin/env python3
"""Products and convolutions by Hilo and by XLA:CPU (jaxlib), in turns, as parts of what this
machine's multipliers do: the peak is that of a loop of independent fused multiply-adds in
registers, measured beside them with the same number of threads. Processors lower their clock
while operands come from memory and for some milliseconds after; the peak under load is that of the
same loop right after one whose operands do. With --blas there is a column for the cblas_sgemm or
cblas_dgemm of that shared library (MKL, OpenBLAS, BLIS), whose maker knows the machine best: what a
product can reach here.

  products.py [SHAPE...] [--threads 1,0] [--turns 3] [--seconds 1] [--hilo build/hilo] [--blas LIBRARY]

SHAPE: [BATCHx]MxKxN[t][TYPE], f32 without TYPE; `t`: the right operand is N x K. Or
conv:BATCHxSIZExFEATURESxWINDOWxOUT[/STRIDE], of NHWC arrays with the padding SAME. 0 threads: all.
"""

import argparse
import ctypes
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from performance import HERE, answer_of, shown

SHAPES = """512x512x512 1024x1024x1024 2048x2048x2048 4096x4096x4096 1000x1000x1000 1024x1024x1024t
1024x1024x1024bf16 1024x1024x1024f16 1024x1024x1024f64 1x4096x4096 8x4096x4096 8x2048x5504 16x4096x11008
32x4096x14336 128x4096x4096 128x4096x11008 64x512x2048 64x2048x512 32x1024x64x1024 8x256x64x256t
256x32x32x32 conv:8x56x64x3x64 conv:8x28x128x3x128/2 conv:8x14x256x3x256 conv:8x56x256x1x64
conv:1x224x3x7x64/2 conv:1x56x64x3x64""".split()

PEAK = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#if defined(__AVX512F__)
enum { bytes = 64 };
#elif defined(__AVX__)
enum { bytes = 32 };
#else
enum { bytes = 16 };
#endif
typedef float Lanes __attribute__((vector_size(bytes)));
// Long enough for threads to find their cores; the short ones for the clock to stay as it is.
enum { sums = 10, rounds = 30000000, turns = 3, short_rounds = 100000, short_turns = 20 };
enum { vectors = 1 << 13, passes = 200 };
static volatile float sink, start = 1;
static void multiply(long rounds) {
  Lanes zero = {0}, s0 = zero + start, s1 = zero + start, s2 = zero + start, s3 = zero + start, s4 = zero + start;
  Lanes s5 = zero + start, s6 = zero + start, s7 = zero + start, s8 = zero + start, s9 = zero + start;
  Lanes a = zero + 0.999f * start, c = zero + 0.001f * start;
  for (long i = 0; i < rounds; ++i) {
    s0 = s0 * a + c, s1 = s1 * a + c, s2 = s2 * a + c, s3 = s3 * a + c, s4 = s4 * a + c;
    s5 = s5 * a + c, s6 = s6 * a + c, s7 = s7 * a + c, s8 = s8 * a + c, s9 = s9 * a + c;
  }
  s0 += s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9;
  sink = s0[0];
}
static void multiply_from(const Lanes* p) {
  Lanes s0 = {0}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0, s8 = s0, s9 = s0;
  for (long i = 0; i < vectors; i += 4) {
    Lanes a = p[i], b = p[i + 1], c = p[i + 2], d = p[i + 3];
    s0 += a * b, s1 += a * c, s2 += a * d, s3 += b * c, s4 += b * d;
    s5 += c * d, s6 += a * a, s7 += b * b, s8 += c * c, s9 += d * d;
  }
  s0 += s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9;
  sink = s0[0];
}
static void* run(void* unused) {
  multiply(rounds);
  return unused;
}
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}
static double rate(double begin, double rounds) { return 2.0 * rounds * sums * (bytes / 4) / (now() - begin); }
// out: the best rate of a thread right after it has multiplied what stands in memory.
static void* run_after_load(void* out) {
  Lanes* memory = aligned_alloc(bytes, vectors * sizeof(Lanes));
  for (long i = 0; i < vectors; ++i) memory[i] = (Lanes){0} + start * (i % 17);
  double best = 0;
  for (int pass = 0; pass < passes; ++pass) multiply_from(memory);
  for (int turn = 0; turn < short_turns; ++turn) {
    for (int pass = 0; pass < passes / 10; ++pass) multiply_from(memory);
    double begin = now();
    multiply(short_rounds);
    double got = rate(begin, short_rounds);
    if (got > best) best = got;
  }
  free(memory);
  *(double*)out = best;
  return out;
}
int main(int count, char** words) {
  int threads = count > 1 ? atoi(words[1]) : 1;
  pthread_t others[256];
  double best = 0;
  for (int turn = 0; turn < turns; ++turn) {
    double begin = now();
    for (int i = 1; i < threads; ++i) pthread_create(&others[i], 0, run, 0);
    run(0);
    for (int i = 1; i < threads; ++i) pthread_join(others[i], 0);
    double got = rate(begin, (double)threads * rounds);
    if (got > best) best = got;
  }
  double loaded[256], all = 0;
  for (int i = 1; i < threads; ++i) pthread_create(&others[i], 0, run_after_load, &loaded[i]);
  run_after_load(&loaded[0]);
  for (int i = 1; i < threads; ++i) pthread_join(others[i], 0);
  for (int i = 0; i < threads; ++i) all += loaded[i];
  printf("%g %g\\n", best, all);
}
"""


def make_peak(folder):
    source, program = folder / "peak.c", folder / "peak"
    source.write_text(PEAK)
    subprocess.run(["cc", "-O2", "-march=native", "-ffp-contract=fast", "-pthread", source, "-o", program],
                   check=True)
    return program


def sizes_of(shape):
    """The batch, M, K and N of a product, whether its right operand is turned, and its type."""
    numbers, turned, kind = re.fullmatch(r"([\dx]+?)(t?)((?:bf|f|s)\d+)?", shape).groups()
    *batch, m, k, n = map(int, numbers.split("x"))
    return batch, m, k, n, bool(turned), kind or "f32"


def product_module(shape):
    batch, m, k, n, turned, kind = sizes_of(shape)
    out = "s32" if kind == "s8" else kind
    array = lambda kind, *dims: f"{kind}[{','.join(map(str, [*batch, *dims]))}]"
    b = len(batch)
    batches = f"lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, " if batch else ""
    right = (n, k) if turned else (k, n)
    text = (f"HloModule product\n\nENTRY main {{\n  a = {array(kind, m, k)} parameter(0)\n"
            f"  b = {array(kind, *right)} parameter(1)\n  ROOT c = {array(out, m, n)} dot(a, b), {batches}"
            f"lhs_contracting_dims={{{b + 1}}}, rhs_contracting_dims={{{b + turned}}}\n}}\n")
    return text, 2 * (batch[0] if batch else 1) * m * k * n


def convolution_module(shape):
    numbers, _, stride = shape.removeprefix("conv:").partition("/")
    batch, size, features, window, out = map(int, numbers.split("x"))
    stride = int(stride or 1)
    places = -(-size // stride)
    pad = max(0, (places - 1) * stride + window - size)
    side = f"{pad // 2}_{pad - pad // 2}"
    text = (f"HloModule convolution\n\nENTRY main {{\n  x = f32[{batch},{size},{size},{features}] parameter(0)\n"
            f"  w = f32[{window},{window},{features},{out}] parameter(1)\n"
            f"  ROOT y = f32[{batch},{places},{places},{out}] convolution(x, w), window={{size={window}x{window} "
            f"stride={stride}x{stride} pad={side}x{side}}}, dim_labels=b01f_01io->b01f\n}}\n")
    return text, 2 * batch * places * places * window * window * features * out


def time_of_blas(library, shape, seconds):
    """Seconds of one call, the median of those that fit into `seconds`; after one that reads everything."""
    _, m, k, n, turned, kind = sizes_of(shape)
    real, product = {"f32": (ctypes.c_float, "cblas_sgemm"), "f64": (ctypes.c_double, "cblas_dgemm")}[kind]
    call = getattr(ctypes.CDLL(library), product)
    ones = lambda size: (real * size)(*[1] * size)
    left, right, out = ones(m * k), ones(k * n), (real * (m * n))()
    row_major, plain, transposed = 101, 111, 112  # CBLAS_LAYOUT, CBLAS_TRANSPOSE
    words = (row_major, plain, transposed if turned else plain, m, n, k, real(1), left, k, right, k if turned else n,
             real(0), out, n)
    times, end = [], time.perf_counter() + seconds
    while len(times) < 2 or time.perf_counter() < end:
        begin = time.perf_counter()
        call(*words)
        times.append(time.perf_counter() - begin)
    if out[0] != k or out[m * n - 1] != k:
        raise ValueError(f"{library} computes {out[0]} as the sum of {k} ones")
    return statistics.median(times[1:])


def rate_of_blas(shape, flops, options, cores):
    """None for what is no plain product of a type that CBLAS has. In a process of its own: the library
    counts its threads as it is loaded."""
    if shape.startswith("conv:") or sizes_of(shape)[0] or sizes_of(shape)[-1] not in ("f32", "f64"):
        return None
    threads = {f"{name}_NUM_THREADS": str(cores) for name in ("OMP", "MKL", "OPENBLAS", "BLIS")}
    done = subprocess.run([sys.executable, __file__, shape, "--blas", options.blas, "--blas-alone", "--seconds",
                           str(options.seconds)], env={**os.environ, **threads}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{options.blas}: {done.stderr.strip().splitlines()[-1]}")
    return flops / float(done.stdout)


def measure(shape, path, flops, peak, options, threads):
    limits = ["--threads", str(threads), "--max-seconds", str(options.seconds)]
    cores = threads or len(os.sched_getaffinity(0))
    rates = {"peak": [], "loaded": [], "hilo": [], "xla": [], "blas": []}
    for _ in range(options.turns):
        done = subprocess.run([peak, str(cores)], capture_output=True, text=True, check=True)
        for name, rate in zip(("peak", "loaded"), done.stdout.split()):
            rates[name].append(float(rate))
        for side, command in (("hilo", [options.hilo, "bench", "--device", "cpu"]),
                              ("xla", [sys.executable, HERE / "jaxlib_bench.py"])):
            answer = answer_of([*command, path, *limits], 300)
            if "error" not in answer:
                rates[side].append(flops / answer["exec_s"])
        if options.blas and (rate := rate_of_blas(shape, flops, options, cores)):
            rates["blas"].append(rate)
    return {side: statistics.median(values) if values else None for side, values in rates.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*")
    parser.add_argument("--hilo", default="build/hilo")
    parser.add_argument("--threads", default="1,0")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1, help="of repeating a run, in each turn")
    parser.add_argument("--blas", metavar="LIBRARY", help="a shared library with CBLAS, measured beside them")
    parser.add_argument("--blas-alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.blas_alone:
        print(time_of_blas(options.blas, options.shapes[0], options.seconds))
        return
    columns = ["shape", "threads", "peak Gflop/s", "under load", "Hilo Gflop/s", "of the peak", "under load", "XLA Gflop/s", "times XLA"]
    columns += ["BLAS Gflop/s"] * bool(options.blas)
    print(f"| {' | '.join(columns)} |\n" + "|---" * len(columns) + "|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        peak = make_peak(folder)
        for shape in options.shapes or SHAPES:
            text, flops = (convolution_module if shape.startswith("conv:") else product_module)(shape)
            path = folder / "module.hlo"
            path.write_text(text)
            for threads in map(int, options.threads.split(",")):
                rates = measure(shape, path, flops, peak, options, threads)
                ours, theirs = rates["hilo"], rates["xla"]
                parts = [f"{100 * ours / rates[most]:.0f} %" if ours else "-" for most in ("peak", "loaded")]
                print(f"| {shape} | {threads or 'all'} | {shown(rates['peak'], 1e-9)} | {shown(rates['loaded'], 1e-9)} | "
                      f"{shown(ours, 1e-9)} | {' | '.join(parts)} | {shown(theirs, 1e-9)} | "
                      f"{f'{ours / theirs:.2f}' if ours and theirs else '-'} |"
                      + (f" {shown(rates['blas'], 1e-9)} |" if options.blas else ""), flush=True)


if __name__ == "__main__":
    main()
