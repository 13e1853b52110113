#!/usr/bin/env python3
"""Partitions the programs of spmd/ as the framework hands them in, and judges what comes out.

  spmd.py --hilo build/hilo --shared ../shared [--only PART] [--forms before,before_gspmd] [--device cpu] [--json F]

values   each device gives its tile of the result; where the framework left the sharding of an output open, the tiles
         of all devices cover the global array
bytes    a device sends no more than in the best of XLA's results, as tools/collective_bytes.py counts
memory   and needs no more than in XLA's partitioned module, by the same tool
bound    reshardings alone send no more than what devices must get
Exits 1 when a value differs, or where --strict is given and anything else falls short. The last line counts.
"""
import argparse
import concurrent.futures
import glob
import importlib.util
import itertools
import json
import os
import subprocess
import sys
import tempfile

import numpy as np


def load_counter(shared):
    spec = importlib.util.spec_from_file_location("collective_bytes", f"{shared}/tools/collective_bytes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(arguments, seconds=300):
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=seconds)
        return done.returncode, (done.stderr.strip() or done.stdout.strip())
    except subprocess.TimeoutExpired:
        return -1, f"took more than {seconds} s"


def numbers(array, name, bits):
    """As float64 or integers; bfloat16 is stored as its bits."""
    if name in bits and array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64 if array.dtype.kind == "f" else array.dtype)


def close(got, want, narrow):
    if got.shape != want.shape:
        return False
    if want.dtype.kind not in "fc":
        return bool(np.array_equal(got, want))
    k = 5e-2 if narrow else 1e-4
    scale = np.max(np.abs(want[np.isfinite(want)]), initial=0)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    return bool(np.all(same | (np.abs(got - want) <= k * (np.abs(want) + scale))))


def covers(tiles, whole, narrow):
    """Each tile is one of the global array, and every element is in some tile."""
    seen = np.zeros(whole.shape, bool)
    for tile in tiles:
        if tile.ndim != whole.ndim:
            return False
        starts = [range(0, n, t) if t else range(1) for t, n in zip(tile.shape, whole.shape)]
        cuts = (tuple(slice(s, min(s + t, n)) for s, t, n in zip(start, tile.shape, whole.shape))
                for start in itertools.product(*starts))
        found = [cut for cut in cuts if close(tile[tuple(slice(0, c.stop - c.start) for c in cut)], whole[cut], narrow)]
        if not found:
            return False
        for cut in found[:1] if len(found) > 1 and not np.all(seen[found[0]]) else found:
            seen[cut] = True
    return bool(np.all(seen))


def compare(saved, stored, whole, info):
    """Outputs that differ, and how many were compared."""
    bad, count = [], 0
    names = sorted({key.split("_dev")[0] for key in stored.files if key.startswith("out_")})
    bits = set(info.get("stored_as_bits", []))
    for name in names:
        leaf, narrow = int(name[4:]), name in bits
        got = [numbers(saved[f"{name}_dev{d}"], name, bits) for d in range(info["devices"])]
        is_wrong = name in info.get("xla_wrong_outputs", [])
        want = [numbers(stored[f"{name}_dev{d}"], name, bits) for d in range(info["devices"])]
        count += 1
        if not is_wrong and all(close(g, w, narrow) for g, w in zip(got, want)):
            continue
        is_open = leaf < len(info["output_sharding_open"]) and info["output_sharding_open"][leaf]
        if (is_open or is_wrong) and whole is not None and name in whole.files and \
                covers(got, numbers(whole[name], name, bits), narrow):
            continue
        bad.append(name)
    return bad, count


def judge(case, form, options, counter):
    name = f"{os.path.basename(case)}/{form}"
    info = json.load(open(f"{case}/info.json"))
    row = {"case": name, "problems": []}
    with tempfile.TemporaryDirectory() as folder:
        ours = f"{folder}/partitioned.hlo"
        status, error = run([options.hilo, "opt", f"{case}/{form}.hlo", f"--pipeline={options.pipeline}", "-o", ours])
        if status != 0:
            row["problems"].append("not partitioned: " + error[:300])
            return row
        stored = np.load(f"{case}/io.npz")
        whole = np.load(f"{case}/io_global.npz") if os.path.exists(f"{case}/io_global.npz") else None
        for device in options.device.split(","):
            saved = f"{folder}/saved.npz"
            status, error = run([options.hilo, "run", ours, "--partitioned", f"--device={device}", "--inputs",
                                 f"{case}/io.npz", "--save", saved])
            if status != 0:
                row["problems"].append(f"does not run on {device}: {error[:300]}")
                continue
            bad, row["outputs"] = compare(np.load(saved), stored, whole, info)
            row["problems"] += [f"{device}: {one} differs" for one in bad]
        row.update(count_bytes(counter, open(ours).read(), info))
    return row


def count_bytes(counter, text, info):
    mine = counter.summary(text)
    wrong = set(info.get("wrong_values", []))
    rivals = [v for k, v in info["bytes"].items() if v is not None and k not in wrong]
    return {"bytes": mine["bytes"], "best": min(rivals) if rivals else None, "memory": mine["peak_bytes"],
            "xla_memory": info["peak_bytes"], "bound": info["lower_bound"] if "reshard" in info["program"] else None}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hilo", default="build/hilo")
    parser.add_argument("--shared", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--forms", default="before,before_gspmd")
    parser.add_argument("--pipeline", default="spmd")
    parser.add_argument("--device", default="eval", help="eval, cpu, or both with a comma")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    cases = [c for c in sorted(glob.glob(f"{options.shared}/corpus/spmd/*")) if os.path.exists(f"{c}/io.npz") and options.only in c]
    if not cases:
        print("no such programs: nothing judged")
        return 0
    counter, rows = load_counter(options.shared), []
    programs = [(case, form) for case in cases for form in options.forms.split(",") if os.path.exists(f"{case}/{form}.hlo")]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(lambda program: judge(*program, options, counter), programs):
            rows.append(row)
            print(text_of(row), flush=True)
    if options.json:
        json.dump(rows, open(options.json, "w"), indent=1)
    return summary(rows, options.strict)


def over(row, mine, theirs, slack=0):
    return row.get(theirs) is not None and row.get(mine) is not None and row[mine] > row[theirs] + slack


def text_of(row):
    notes = list(row["problems"])
    for mine, theirs in (("bytes", "best"), ("memory", "xla_memory"), ("bytes", "bound")):
        if over(row, mine, theirs):
            notes.append(f"{mine} {row[mine]:.0f}, {theirs} {row[theirs]:.0f}")
    return f"{'FAIL' if row['problems'] else 'pass'}  {row['case']:44} {'; '.join(notes)}"


def summary(rows, strict):
    failed = sum(bool(row["problems"]) for row in rows)
    short = {what: sum(over(row, *pair) for row in rows)
             for what, pair in (("bytes", ("bytes", "best")), ("memory", ("memory", "xla_memory")), ("bound", ("bytes", "bound")))}
    counted = [row for row in rows if row.get("best") is not None and "bytes" in row]
    total, best = (sum(row[key] for row in counted) for key in ("bytes", "best"))
    print(f"{len(rows) - failed} of {len(rows)} have the values; {total:.0f} bytes, {total / max(best, 1):.3f} of XLA's best; "
          f"above it: bytes in {short['bytes']}, memory in {short['memory']}, bound in {short['bound']}")
    return 1 if failed or (strict and any(short.values())) else 0


if __name__ == "__main__":
    sys.exit(main())
