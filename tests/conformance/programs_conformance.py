#!/usr/bin/env python3
"""Draws random JAX programs and compares Hilo with XLA's CPU back end (jaxlib).

  programs_conformance.py --hilo build/hilo [--device cpu] [--programs 300] [--seed 1] [--keep DIR]

Programs are of small whole numbers in all types, so that results must be equal, not near. Where one
is not, its ops are run one by one in jaxlib too: if Hilo agrees with that, it is XLA that changed
the program (jaxlib 0.10.2: a - max(a), clamped, of bytes). Exits 1 on other differences. The
last line counts: N passed, N failed, N that XLA changed.
"""
import argparse
import collections
import os
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import jax

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)
import numpy as np

import programs
from ops_conformance import run_module


def difference(got, want):
    """Empty when they agree, else what is wrong."""
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    got, want = got.view(want.dtype).astype(np.float64), want.astype(np.float64)
    bad = got != want
    if not bad.any():
        return ""
    where = np.unravel_index(np.argmax(bad), bad.shape)
    return f"{int(bad.sum())} of {bad.size}; at {tuple(map(int, where))}: got {got[where]:g}, expected {want[where]:g}"


def differences(got, want):
    return "; ".join(filter(None, (difference(g, np.asarray(w)) for g, w in zip(got, want, strict=True))))


def one(options, seed, folder):
    """"passed", "failed" or "changed"."""
    program = programs.Program(seed)
    arguments = program.arguments()
    lowered = jax.jit(program, keep_unused=True).lower(*arguments)
    path = os.path.join(options.keep or folder, f"{seed}.pb")
    with open(path, "wb") as file:
        file.write(lowered.compiler_ir("hlo").as_serialized_hlo_module_proto())
    want = lowered.compile()(*arguments)
    got, message = run_module(options.hilo, options.device, path, arguments, folder, threads=1 + seed % 3)
    found = (message[:400] or "Hilo stopped without a word") if got is None else differences(got, want)
    if not found:
        os.remove(path)
        return "passed"
    with jax.disable_jit():
        is_changed = got is not None and not differences(got, program(*map(jax.numpy.asarray, arguments)))
    print(f"{seed} ({', '.join(program.names)}){' as changed by XLA' if is_changed else ''}: {found}", flush=True)
    return "changed" if is_changed else "failed"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hilo", default="build/hilo")
    parser.add_argument("--device", default="cpu", choices=["eval", "cpu"])
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1, help="of the first program; the others follow")
    parser.add_argument("--keep", help="write failing modules into this folder")
    options = parser.parse_args()
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    count = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.programs):
            count[one(options, seed, folder)] += 1
    print(f"{count['passed']} passed, {count['failed']} failed, {count['changed']} changed by XLA")
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
