#!/usr/bin/env python3
"""Draws one-op modules at random and compares Hilo with XLA's CPU back end (jaxlib).

  ops_conformance.py --hilo build/hilo [--device cpu] [--cases 5000] [--seed 0] [--only OP] [--keep DIR]

A case agrees when every output has the same shape and values as near as the case says. Cases of ops
that jaxlib has not (topk, scan) bring NumPy's values. --cases counts what jaxlib really ran; what it
cannot run is counted apart, by reason; so are differences where a case lists why jaxlib may differ.
Exits 1 on any other difference. The last line counts: N passed, N failed, N skipped.
"""
import argparse
import collections
import concurrent.futures
import itertools
import os
import subprocess
import sys
import tempfile

import numpy as np

import cases_algebra
import cases_elementwise
import cases_structural
from case import PRECISION, TYPES

FAMILIES = {**cases_elementwise.FAMILIES, **cases_structural.FAMILIES, **cases_algebra.FAMILIES}
NAMES = {np.dtype(d): t for t, d in TYPES.items()}


class Peer:
    def __init__(self):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        import jax
        from jaxlib import _hlo, _jax
        from jaxlib import xla_client
        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_enable_x64", True)
        self.jax, self.hlo, self.xla, self.client_jax = jax, _hlo, xla_client, _jax
        self.device = jax.devices("cpu")[0]

    def run(self, case):
        proto = self.hlo.hlo_module_from_text(case.text).as_serialized_hlo_module_proto()
        stable = self.client_jax.mlir.hlo_to_stablehlo(proto)
        devices = getattr(self.xla, "DeviceList", None) or self.client_jax.DeviceList
        executable = self.device.client.compile_and_load(stable, devices((self.device,)), self.xla.CompileOptions())
        buffers = [self.jax.device_put(x, self.device) for x in case.inputs]
        return [np.asarray(o[0]) for o in executable.execute_sharded(buffers).disassemble_into_single_device_arrays()]


class Unsupported(Exception):
    """What the device says that it cannot run."""


def as_bits(array):
    array = np.asarray(array)
    if array.dtype.kind in "biufc" and array.dtype.itemsize * 8 and array.dtype.name in np.sctypeDict:
        return array
    if array.dtype.name in ("int4", "uint4"):
        return array.astype(np.int8 if array.dtype.name == "int4" else np.uint8)
    return array.view(np.uint16 if array.dtype.itemsize == 2 else np.uint8)


def run_module(hilo, device, module, given, folder, threads=1):
    """The outputs, or None and what Hilo says."""
    inputs, outputs = (os.path.join(folder, name) for name in ("in.npz", "out.npz"))
    arguments = [hilo, "run", module, "--save", outputs, f"--threads={threads}", f"--device={device}"]
    if given:
        np.savez(inputs, **{f"in_{i}": as_bits(x) for i, x in enumerate(given)})
        arguments += ["--inputs", inputs]
    done = subprocess.run(arguments, capture_output=True, timeout=60)
    if done.returncode != 0:
        return None, done.stderr.decode(errors="replace").strip()
    with np.load(outputs) as saved:
        return [saved[f"out_{i}"] for i in range(len(saved.files))], ""


def run_hilo(hilo, device, case, folder):
    module = os.path.join(folder, "case.hlo")
    with open(module, "w") as file:
        file.write(case.text)
    got, message = run_module(hilo, device, module, case.inputs, folder)
    if got is None and device != "eval" and "on device" in message:
        raise Unsupported(message[:200])
    return got, message[:400]


def difference(case, got, want):
    """Empty when they agree, else what is wrong."""
    name = NAMES.get(want.dtype)
    got = got.view(want.dtype) if got.dtype != want.dtype and got.dtype.itemsize == want.dtype.itemsize else got.astype(want.dtype)
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if name not in PRECISION:
        bad = got != want
    else:
        wide = np.complex128 if name.startswith("c") else np.float64
        with np.errstate(all="ignore"):
            g, w = got.astype(wide), want.astype(wide)
            parts = [(g.real, w.real), (g.imag, w.imag)] if wide is np.complex128 else [(g, w)]
            magnitude = np.where(np.isfinite(np.abs(w)), np.abs(w), 0)
            if case.of_largest:
                magnitude = np.full_like(magnitude, np.max(magnitude, initial=0))
            smallest = 2.0 ** (-14 if name == "f16" else -126)  # below it, XLA flushes to zero
            bound = case.ulps * np.maximum(magnitude, smallest) * 2.0 ** (1 - PRECISION[name]) + case.absolute
            bound = np.maximum(bound, 2.0 ** -126 if name in ("f32", "bf16", "c64") else 0)
            bad = np.zeros(g.shape, bool)
            for a, b in parts:
                same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= bound)
                bad |= ~same
    if not np.any(bad):
        return ""
    where = np.unravel_index(np.argmax(bad), bad.shape) if bad.ndim else ()
    return f"{int(np.sum(bad))} of {bad.size}; at {tuple(map(int, where))}: got {got[where]}, expected {want[where]}"


def one(hilo, device, peer_result, case):
    want, error = peer_result
    if want is None:
        return "skipped", error
    with tempfile.TemporaryDirectory() as folder:
        try:
            got, message = run_hilo(hilo, device, case, folder)
        except Unsupported as error:
            return "unsupported", str(error)
    if got is None:
        return "failed", message
    if len(got) != len(want):
        return "failed", f"{len(got)} outputs, expected {len(want)}"
    for i, (g, w) in enumerate(zip(got, want)):
        if text := difference(case, g, w):
            return ("listed", case.listed) if case.listed else ("failed", f"output {i}: {text}")
    return "passed", ""


def drawn_cases(seed, only):
    """Families in turn, again and again."""
    for round_number in itertools.count():
        for number, (name, family) in enumerate(FAMILIES.items()):
            rng = np.random.default_rng([seed, round_number, number])
            for case in family(rng):
                if only and case.op != only:
                    continue
                yield case
        if round_number > 200:
            return


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hilo", default="build/hilo")
    parser.add_argument("--device", default="eval", choices=["eval", "cpu"])
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--keep", help="write failing modules into this folder")
    parser.add_argument("--show", type=int, default=40, help="failures to print")
    options = parser.parse_args()
    peer = Peer()
    counts, by_op = collections.Counter(), collections.defaultdict(collections.Counter)
    skipped, listed = collections.Counter(), collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        waiting = collections.deque()

        def settle():
            case, future = waiting.popleft()
            verdict, note = future.result()
            counts[verdict] += 1
            by_op[case.op][verdict] += 1
            if verdict == "skipped":
                skipped[(case.op, note[:100])] += 1
            if verdict == "listed":
                listed[(case.op, note)] += 1
            if verdict == "failed":
                if by_op[case.op]["failed"] <= 4 and counts["failed"] <= options.show:
                    print(f"FAIL {case.op}: {note}\n{case.text}", flush=True)
                if options.keep:
                    os.makedirs(options.keep, exist_ok=True)
                    with open(f"{options.keep}/{case.op}-{counts['failed']}.hlo", "w") as file:
                        file.write(case.text)

        by_jaxlib = by_numpy = 0
        for case in drawn_cases(options.seed, options.only):
            if max(by_jaxlib, by_numpy) >= options.cases:
                break
            try:
                result = (peer.run(case) if case.want is None else case.want), ""
                by_jaxlib, by_numpy = by_jaxlib + (case.want is None), by_numpy + (case.want is not None)
            except Exception as error:  # whatever jaxlib cannot do
                result = None, str(error).splitlines()[0]
            waiting.append((case, pool.submit(one, options.hilo, options.device, result, case)))
            while len(waiting) > 8:
                settle()
        while waiting:
            settle()
    for op in sorted(by_op):
        print(f"{op:24} {dict(by_op[op])}")
    for (op, note), count in sorted(skipped.items()):
        print(f"jaxlib cannot: {op}: {note} ({count})")
    for (op, note), count in sorted(listed.items()):
        print(f"differs for a listed reason: {op}: {note} ({count})")
    print(f"compared with jaxlib: {by_jaxlib}; with NumPy: {by_numpy}")
    print(f"{counts['passed'] + counts['listed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"
          + (f", {counts['unsupported']} not run by device {options.device}" if counts["unsupported"] else ""))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
