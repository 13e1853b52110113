#!/usr/bin/env python3
"""Runs small modules of every op and type on special values: by the evaluator, compiled, and by XLA (jaxlib).

  special_values.py --hilo build/hilo [--share 1] [--only REGEX] [--seed 0] [--keep DIR] [--no-peer] [--processor NAME]

Both devices must agree: kind by kind (NaN, infinities, zeros with their sign), and bit by bit but for functions and sums.
What XLA does otherwise must be named in special_expected.py with its reason. --share N runs one module of N, always the
same ones. Exits 1 on any other difference. The last line counts.
"""
import argparse
import collections
import concurrent.futures
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import zlib

import numpy as np

import special_expected
from special_cases import elementwise_cases
from special_judge import as_input, as_type, as_values, differing, kind_of
from special_structures import structural_cases


def table(hilo, what):
    return json.loads(subprocess.run([hilo, "list", what, "--json"], capture_output=True, check=True).stdout)["rows"]


def run_hilo(hilo, device, case, folder, extra=()):
    """The outputs, or None and what Hilo says."""
    text, inputs, outputs = (os.path.join(folder, name) for name in ("m.hlo", "in.npz", f"out-{device}.npz"))
    with open(text, "w") as file:
        file.write(case.text)
    arguments = [hilo, "run", text, "--save", outputs, "--threads=1", f"--device={device}", *extra]
    if case.inputs:
        np.savez(inputs, **{f"in_{i}": as_input(x) for i, x in enumerate(case.inputs)})
        arguments += ["--inputs", inputs]
    done = subprocess.run(arguments, capture_output=True, timeout=300)
    if done.returncode != 0:
        return None, f"{done.returncode}: " + done.stderr.decode(errors="replace").strip()[:500]
    with np.load(outputs) as saved:
        return [as_type(saved[f"out_{i}"], t) for i, t in enumerate(case.results)], ""


def serve_peer(connection):
    """Runs cases by XLA, which stops the process for types that it does not know."""
    import ops_conformance
    peer = ops_conformance.Peer()
    while True:
        case = connection.recv()
        if case is None:
            return
        try:
            connection.send((peer.run(case), ""))
        except Exception as error:  # whatever jaxlib cannot do
            connection.send((None, " ".join(str(error).split())[:300]))


class Peer:
    def __init__(self):
        self.process = None

    def start(self):
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=serve_peer, args=(other,), daemon=True)
        self.process.start()
        other.close()

    def run(self, case):
        if self.process is None or not self.process.is_alive():
            self.start()
        try:
            self.connection.send(case)
            outputs, message = self.connection.recv()
            return outputs and [as_type(x, t) for x, t in zip(outputs, case.results)], message
        except (EOFError, ConnectionError):
            self.process = None
            return None, "jaxlib aborts"

    def stop(self):
        if self.process is not None and self.process.is_alive():
            self.connection.send(None)
            self.process.join(10)


def show(case, k, bad, left, right, names):
    """The kinds of the first few elements that differ, with their operands where these lie beside them."""
    lines, seen = [], set()
    for i in np.flatnonzero(bad.reshape(-1)):
        a, b = left.reshape(-1)[i], right.reshape(-1)[i]
        beside = [x.reshape(-1)[i] for x in case.inputs if x.size == left.size] if case.context.startswith("whole") else []
        key = (kind_of(a), kind_of(b), *map(kind_of, beside))
        if key in seen:
            continue
        seen.add(key)
        if len(seen) <= 12:
            lines.append(f"    [{i}] of {beside}: {names[0]} {a!r}, {names[1]} {b!r}")
    return f"  output {k}: {int(bad.sum())} of {bad.size}\n" + "\n".join(lines)


class Sweep:
    def __init__(self, options):
        self.options, self.points = options, 0
        self.counts, self.expected, self.refused = collections.Counter(), collections.Counter(), collections.Counter()
        self.devices, self.peer_points = collections.Counter(), 0

    def compare(self, case, found, theirs, message):
        (ours, ours_says), (compiled, compiled_says) = found
        if ours is None or compiled is None:
            self.fail(case, "does not run", f"  eval: {ours_says or 'runs'}\n  cpu: {compiled_says or 'runs'}",
                      "refused" if ours is None and compiled is None else "failed")
            return
        self.points += sum(x.size for x in ours)
        for k, (a, b, t) in enumerate(zip(compiled, ours, case.results)):
            if case.context.startswith("constants"):  # rules of simplification remove such ops
                a, b = as_values(a, t), as_values(b, t)
            bad = differing(a, b, t, case.ulps, case.has_signs)
            for row in special_expected.rows_of_devices(case) if bad.any() else ():
                bad &= ~row.where(case, a, b)
            if bad.any():
                self.fail(case, "devices differ", show(case, k, bad, a, b, ("cpu", "eval")))
                break
        if theirs is None:
            self.refused[(case.op, case.type, message)] += 1
            return
        self.peer_points += sum(x.size for x in ours)
        for k, (a, b, t) in enumerate(zip(ours, theirs, case.results)):
            bad = differing(a, b, t, case.peer_ulps, case.has_signs)
            for row in special_expected.rows_of(case):
                excused = bad & row.where(case, a, b)
                if excused.any():
                    self.expected[row] += int(excused.sum())
                    bad &= ~excused
            if bad.any():
                self.fail(case, "differs from XLA", show(case, k, bad, a, b, ("eval", "XLA")), "peer")
                break

    def fail(self, case, what, text, verdict="failed"):
        self.counts[verdict] += 1
        print(f"{'FAIL' if verdict != 'refused' else 'refused'} {case.name}: {what}\n{text}", flush=True)
        if self.options.keep and verdict != "refused":
            stem = os.path.join(self.options.keep, re.sub(r"[^\w.-]+", "_", case.name))
            os.makedirs(self.options.keep, exist_ok=True)
            with open(stem + ".hlo", "w") as file:
                file.write(case.text)
            np.savez(stem + ".npz", **{f"in_{i}": as_input(x) for i, x in enumerate(case.inputs)})

    def run(self):
        hilo = self.options.hilo
        types = {row["type"]: row["kind"] for row in table(hilo, "types") if row["kind"] != "special"}
        cases = list(elementwise_cases(table(hilo, "ops"), types)) + list(structural_cases(types))
        share = self.options.share
        wanted = [c for c in cases if (not self.options.only or re.search(self.options.only, c[0]))
                  and zlib.crc32(f"{self.options.seed} {c[0]}".encode()) % share == 0]
        print(f"{len(wanted)} of {len(cases)} modules", flush=True)
        peer = None if self.options.no_peer else Peer()
        extra = self.options.extra.split()
        with tempfile.TemporaryDirectory() as top, concurrent.futures.ThreadPoolExecutor(2) as pool:
            waiting = collections.deque()

            def both(case, number):
                folder = os.path.join(top, str(number % 16))
                os.makedirs(folder, exist_ok=True)
                return run_hilo(hilo, "eval", case, folder), run_hilo(hilo, "cpu", case, folder, extra)

            for number, (name, op, kind, draw) in enumerate(wanted):
                case = draw(np.random.default_rng(zlib.crc32(name.encode()) + self.options.seed))
                if case is None:
                    continue
                future = pool.submit(both, case, number)
                asked = peer is not None and case.is_plain and not re.match("f6|[su]1$", kind)
                theirs = peer.run(case) if asked else (None, "not asked")
                waiting.append((case, future, theirs))
                while len(waiting) > 4:
                    self.settle(waiting.popleft())
            while waiting:
                self.settle(waiting.popleft())
        if peer:
            peer.stop()
        return self.report()

    def settle(self, entry):
        case, future, (theirs, message) = entry
        self.counts["modules"] += 1
        self.compare(case, future.result(), theirs, message)

    def report(self):
        for (op, kind, message), count in sorted(self.refused.items()):
            if self.options.verbose:
                print(f"jaxlib cannot: {op} of {kind}: {message} ({count})")
        for row, count in sorted(self.expected.items(), key=lambda x: x[0].name):
            print(f"expected of XLA: {row.name}: {count} elements")
        c = self.counts
        print(f"{c['modules']} modules, {self.points} elements of both devices, {self.peer_points} with XLA: {c['failed']} where the "
              f"devices differ, {c['peer']} where XLA does, {c['refused']} that neither device runs")
        return 1 if c["failed"] or c["peer"] or not c["modules"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hilo", default="build/hilo")
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", help="write modules that differ, and their inputs, into this folder")
    parser.add_argument("--no-peer", action="store_true", help="the two devices alone")
    parser.add_argument("--extra", default="", help="further flags of the compiled run")
    parser.add_argument("--verbose", action="store_true")
    sys.exit(Sweep(parser.parse_args()).run())


if __name__ == "__main__":
    main()
