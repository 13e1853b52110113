#!/usr/bin/env python3
"""Memory of a device: programs of spmd/ as Hilo partitions them beside XLA's partitioned modules, both planned by Hilo.

  spmd_memory.py --hilo build/hilo --shared ../shared [--only PART] [--forms before,before_gspmd] [--all] [--json F]

The figure is the peak in use that `hilo explain` gives, all memory spaces together. Says the programs above XLA's, with the instruction
of the peak; --all: all of them. Exits 1 where --strict is given and any is above. The last line counts.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile

# XLA's module of each form; where a folder lacks the second, both forms have the first.
RIVALS = {"before": "partitioned.hlo", "before_gspmd": "partitioned_gspmd.hlo"}


def peak(hilo, module):
    """Bytes, and the instruction where they are in use."""
    done = subprocess.run([hilo, "explain", module, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{module}: {done.stderr.strip()[:300]}")
    spaces = json.loads(done.stdout)["memory_spaces"]
    return sum(one["peak_bytes"] for one in spaces), " ".join(str(one["peak_at"]) for one in spaces)


def measure(case, form, hilo):
    row = {"case": f"{os.path.basename(case)}/{form}"}
    rival = f"{case}/{RIVALS[form]}"
    if not os.path.exists(rival):
        rival = f"{case}/{RIVALS['before']}"
    with tempfile.TemporaryDirectory() as folder:
        ours = f"{folder}/partitioned.hlo"
        done = subprocess.run([hilo, "opt", f"{case}/{form}.hlo", "--pipeline=spmd", "-o", ours], capture_output=True,
                              text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{row['case']}: {done.stderr.strip()[:300]}")
        row["bytes"], row["at"] = peak(hilo, ours)
    row["xla_bytes"], row["xla_at"] = peak(hilo, rival)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hilo", default="build/hilo")
    parser.add_argument("--shared", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--forms", default="before,before_gspmd")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="programs that are not above too")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    programs = [(case, form) for case in sorted(glob.glob(f"{options.shared}/corpus/spmd/*")) if options.only in case
                for form in options.forms.split(",")
                if os.path.exists(f"{case}/{form}.hlo") and os.path.exists(f"{case}/{RIVALS['before']}")]
    if not programs:
        print("no such programs: nothing measured")
        return 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda program: measure(*program, options.hilo), programs))
    for row in sorted(rows, key=lambda row: -row["bytes"] / max(row["xla_bytes"], 1)):
        if options.all or row["bytes"] > row["xla_bytes"]:
            ratio = row["bytes"] / max(row["xla_bytes"], 1)
            print(f"{ratio:6.3f}  {row['bytes']:>12} of {row['xla_bytes']:>12}  {row['case']:44} at {row['at']}")
    if options.json:
        json.dump(rows, open(options.json, "w"), indent=1)
    above = sum(row["bytes"] > row["xla_bytes"] for row in rows)
    print(f"{above} of {len(rows)} programs above XLA's; all together {sum(row['bytes'] for row in rows)} of "
          f"{sum(row['xla_bytes'] for row in rows)} bytes")
    return 1 if options.strict and above else 0


if __name__ == "__main__":
    sys.exit(main())
