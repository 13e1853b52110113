#!/usr/bin/env python3
"""Runs `hilo` over a folder of modules with expected values and says what agrees.

  corpus.py --hilo build/hilo --shared ../shared [--only PART] [--what check,values,ideal,in-plan] [--device cpu] [--json]

check    every module parses, verifies, and prints to the same bytes twice
values   tpu/*, gpu/* (after.hlo and before.hlo), hlo/cpu and spmd/*/{tpu,gpu}.hlo agree with their stored values; on
         --device. Outputs that info.json calls xla_wrong_outputs are not compared
ideal    with --float=f64, after.hlo equals before.hlo to 1e-6 of the largest value
in-plan  tpu/*, gpu/* (after.hlo) and hlo/cpu give the same bits where values lie as a memory plan says
Exits 1 when anything falls short that --known does not name. The last line counts.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np


def call(arguments, seconds):
    start = time.monotonic()
    try:
        done = subprocess.run(arguments, capture_output=True, timeout=seconds)
        status, error = done.returncode, done.stderr.decode(errors="replace")
        out = done.stdout
    except subprocess.TimeoutExpired:
        status, error, out = -1, f"took more than {seconds} s", b""
    return status, out, error, time.monotonic() - start


def last_line(text):
    lines = [line for line in text.strip().splitlines() if "error" in line] or text.strip().splitlines()
    return lines[-1][:220] if lines else ""


class Report:
    def __init__(self, known=()):
        self.rows, self.known = [], known

    def add(self, what, name, good, note="", seconds=0.0):
        is_known = not good and name in self.known
        self.rows.append({"what": what, "name": name, "pass": good, "known": is_known, "note": note, "seconds": seconds})
        print(f"{'pass' if good else 'KNOWN' if is_known else 'FAIL'}  {what:7} {name:62} {seconds:7.2f} s  {note}", flush=True)


def check(hilo, path, name, report):
    status, _, error, seconds = call([hilo, "check", path], 120)
    if status != 0:
        return report.add("check", name, False, last_line(error), seconds)
    with tempfile.TemporaryDirectory() as folder:
        once, twice = os.path.join(folder, "once.hlo"), os.path.join(folder, "twice.hlo")
        status, _, error, _ = call([hilo, "print", path, "-o", once], 120)
        if status == 0:
            status, _, error, _ = call([hilo, "print", once, "-o", twice], 120)
        same = status == 0 and open(once, "rb").read() == open(twice, "rb").read()
        report.add("check", name, same, "" if same else "print of the print differs; " + last_line(error), seconds)


def values(hilo, module, arrays, name, report, extra=(), device="eval"):
    status, out, error, seconds = call(
        [hilo, "run", module, "--inputs", arrays, "--expected", arrays, f"--device={device}", *extra], 900)
    note = last_line(error) if status == 1 else f"device {device}" if device != "eval" else ""
    if status == 3:
        note = "; ".join(line[:150] for line in out.decode().splitlines() if "DIFFERS" in line)[:300]
    report.add("values", name, status == 0, note, seconds)


def spmd_values(hilo, module, name, report, device):
    """An optimised module of spmd/: what each device takes and gives stands in io.npz."""
    folder = os.path.dirname(module)
    wrong = tuple(json.load(open(f"{folder}/info.json")).get("xla_wrong_outputs", []))
    if not wrong:
        return values(hilo, module, f"{folder}/io.npz", name, report, (), device)
    stored = np.load(f"{folder}/io.npz")
    right = {key: stored[key] for key in stored.files if key.split("_dev")[0] not in wrong}
    with tempfile.TemporaryDirectory() as temporary:
        np.savez(f"{temporary}/io.npz", **right)
        values(hilo, module, f"{temporary}/io.npz", name, report, (), device)


def in_plan(hilo, module, arrays, name, report):
    with tempfile.TemporaryDirectory() as temporary:
        saved = [f"{temporary}/outside.npz", f"{temporary}/inside.npz"]
        for path, extra in zip(saved, ([], ["--in-plan"])):
            status, _, error, seconds = call([hilo, "run", module, "--device=eval", "--inputs", arrays, "--save", path, *extra], 900)
            if status != 0:
                return report.add("in-plan", name, False, last_line(error), seconds)
        outside, inside = (np.load(path) for path in saved)
        differ = [key for key in outside.files if outside[key].tobytes() != inside[key].tobytes()]
        report.add("in-plan", name, not differ, ("differs: " + ", ".join(differ))[:200] if differ else "", seconds)


def shard_slices(local, whole):
    """Where a device's array stands in the global one: every slice with equal values."""
    if local.shape == whole.shape:
        return [tuple(slice(0, n) for n in whole.shape)]
    if local.ndim != whole.ndim or any(n % l for l, n in zip(local.shape, whole.shape)):
        return []
    counts = [n // l for l, n in zip(local.shape, whole.shape)]
    out = []
    for index in np.ndindex(*counts):
        cut = tuple(slice(i * l, (i + 1) * l) for i, l in zip(index, local.shape))
        if np.array_equal(whole[cut], local):
            out.append(cut)
    return out


def ideal(hilo, folder, name, report):
    single = not os.path.exists(f"{folder}/io_global.npz")
    stored = np.load(f"{folder}/io.npz")
    whole_stored = stored if single else np.load(f"{folder}/io_global.npz")
    with tempfile.TemporaryDirectory() as temporary:
        outs = {}
        for stage, arrays in (("after", "io.npz"), ("before", "io.npz" if single else "io_global.npz")):
            saved = f"{temporary}/{stage}.npz"
            status, _, error, seconds = call(
                [hilo, "run", f"{folder}/{stage}.hlo", "--inputs", f"{folder}/{arrays}", "--device=eval", "--float=f64", "--save", saved], 900)
            if status != 0:
                return report.add("ideal", name, False, f"{stage}: {last_line(error)}", seconds)
            outs[stage] = np.load(saved)
        worst = 0.0
        for key in outs["after"].files:
            parts = key.split("_dev")
            leaf = parts[0]
            got = outs["after"][key]
            before_key = leaf if leaf in outs["before"].files else key
            want = outs["before"][before_key]
            if not single:
                stored_key = key if key in stored.files else leaf + "_dev0"
                cuts = shard_slices(stored[stored_key], whole_stored[leaf])
                if not cuts:
                    return report.add("ideal", name, False, f"{key}: no slice of the global output")
                candidates = [want[cut] for cut in cuts]
            else:
                candidates = [want]
            got, want, *candidates = (np.asarray(a, np.complex128) for a in (got, want, *candidates))
            largest = max(float(np.max(np.abs(np.where(np.isfinite(want), want, 0)), initial=0)), 1e-300)
            distance = min(
                float(np.max(np.abs(np.where(np.isfinite(got) | np.isfinite(c), got - c, 0)), initial=0))
                for c in candidates)
            worst = max(worst, distance / largest)
        report.add("ideal", name, worst <= 1e-6, f"{worst:.2e} of the largest value")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hilo", default="build/hilo")
    parser.add_argument("--shared", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--what", default="check,values,ideal,in-plan")
    parser.add_argument("--device", default="eval", choices=["eval", "cpu"])
    parser.add_argument("--known", action="append", default=[], help="a row that may fall short, and is counted apart")
    parser.add_argument("--json")
    options = parser.parse_args()
    corpus = os.path.join(options.shared, "corpus")
    if not os.path.isdir(corpus):
        print(f"{corpus} is absent: nothing compared")
        return 0
    what, report = options.what.split(","), Report(options.known)
    folders = [f for f in sorted(glob.glob(f"{corpus}/tpu/*") + glob.glob(f"{corpus}/gpu/*")) if options.only in f]
    if "check" in what:
        seeds = [f for f in sorted(glob.glob(f"{options.shared}/seeds/*.txt")) if open(f).read(9) == "HloModule"]
        reported = f"{corpus}/reports/"  # some are refused, as tests/tools/reports_test.py says
        for path in seeds + sorted(glob.glob(f"{corpus}/**/*.hlo", recursive=True)):
            if options.only in path and not path.startswith(reported):
                check(options.hilo, path, os.path.relpath(path, options.shared), report)
    for folder in folders:
        name = os.path.relpath(folder, corpus)
        if not os.path.exists(f"{folder}/io.npz"):
            continue
        if "values" in what:
            values(options.hilo, f"{folder}/after.hlo", f"{folder}/io.npz", name + "/after", report, (), options.device)
            several = os.path.exists(f"{folder}/io_global.npz")
            values(options.hilo, f"{folder}/before.hlo", f"{folder}/io_global.npz" if several else f"{folder}/io.npz",
                   name + "/before", report, ["--unpartitioned"] if several else [], options.device)
        if "in-plan" in what:
            in_plan(options.hilo, f"{folder}/after.hlo", f"{folder}/io.npz", name, report)
        if "ideal" in what:
            ideal(options.hilo, folder, name, report)
    if "values" in what:
        for arrays in sorted(glob.glob(f"{corpus}/hlo/expected/*.npz")):
            name = os.path.basename(arrays)[:-4]
            if options.only in arrays:
                values(options.hilo, f"{corpus}/hlo/cpu/{name}.hlo", arrays, "hlo/cpu/" + name, report, (), options.device)
        for module in sorted(glob.glob(f"{corpus}/spmd/*/[tg]pu.hlo")):
            if options.only in module and os.path.exists(f"{os.path.dirname(module)}/io.npz"):
                spmd_values(options.hilo, module, os.path.relpath(module, corpus)[:-4], report, options.device)
    if "in-plan" in what:
        for arrays in sorted(glob.glob(f"{corpus}/hlo/expected/*.npz")):
            name = os.path.basename(arrays)[:-4]
            if options.only in arrays:
                in_plan(options.hilo, f"{corpus}/hlo/cpu/{name}.hlo", arrays, "hlo/cpu/" + name, report)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(report.rows, file, indent=1)
    known = sum(row["known"] for row in report.rows)
    failed = sum(not row["pass"] for row in report.rows) - known
    print(f"{len(report.rows) - failed - known} passed, {failed} failed, {known} known to fall short")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
