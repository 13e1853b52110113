#!/usr/bin/env python3
"""Compares the estimates of commands with measured times, and shows where they differ most.

  cost_error.py [FILE...] [--runs 5] [--turns 5] [--threads 1] [--min-us 5] [--rows 20] [--log bench/log.jsonl]

FILE: modules; none: those of ../shared/corpus/hlo/cpu. Each runs by `hilo run --profile`; a row is
a command that takes at least so many microseconds a run, by the fastest of --turns processes, each
the mean of --runs. The machine is measured first, unless
HILO_CACHE names a folder with its record. The error of a row is max(e / m, m / e) - 1, for an
estimate e and a measured time m, so that half and double count alike.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMAND = os.environ.get("HILO_COMMAND", ROOT / "build/hilo")
CORPUS = ROOT / "../shared/corpus/hlo/cpu"


def hilo(*arguments):
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        print(done.stderr.strip(), file=sys.stderr)
        return None
    return done.stdout


def measure(path, options):
    """Commands of one program, as the profile has them: one execution of each."""
    best = {}
    for _ in range(options.turns):
        text = hilo("run", path, "--device=cpu", "--profile", "--json", f"--runs={options.runs}",
                    f"--threads={options.threads}")
        if text is None:
            return []
        for row in json.loads(text)["profile"]["by_command"]:
            if row["seconds"] < best.setdefault(row["name"], row)["seconds"]:
                best[row["name"]] = row
    rows = list(best.values())
    for row in rows:
        row["program"] = path.name
        row["measured"] = row["seconds"] / max(1, row["count"])
        row["estimated"] = row["estimated_seconds"] / max(1, row["count"])
    return [row for row in rows if row["measured"] >= options.min_us * 1e-6 and row["estimated"] > 0]


def error(row):
    ratio = row["estimated"] / row["measured"]
    return max(ratio, 1 / ratio) - 1


def ranks(values):
    """1 for the smallest; equal values share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    out = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for at in order[start:end]:
            out[at] = (start + end + 1) / 2
        start = end
    return out


def summary(rows):
    errors = sorted(map(error, rows))
    return {"median": 100 * statistics.median(errors), "p90": 100 * errors[int(0.9 * (len(errors) - 1))]}


def log(figures, rows, options):
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    head = {"date": date.today().isoformat(), "commit": commit, "threads": options.threads,
            "program": f"{len(rows)} commands of {len({row['program'] for row in rows})} programs"}
    with open(options.log, "a") as file:
        for name, unit in (("median", "%"), ("p90", "%"), ("rank", "correlation")):
            record = {**head, "measure": f"cost estimate, {name}", "unit": unit, "after": round(figures[name], 3),
                      "note": f"bench/cost_error.py, commands of {options.min_us:g} us and more"}
            file.write(json.dumps(record) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--min-us", type=float, default=5)
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    files = options.files or sorted(CORPUS.glob("*.hlo"))
    with tempfile.TemporaryDirectory() as folder:
        if not os.environ.get("HILO_CACHE"):
            os.environ["HILO_CACHE"] = folder
            hilo("bench", "--machine")
        rows = [row for path in files for row in measure(path, options)]
    if len(rows) < 3:
        sys.exit(f"only {len(rows)} commands take {options.min_us:g} us and more")
    print(f"{'measured us':>12} {'estimated us':>12} {'error %':>8}  {'bound by':<16} command")
    for row in sorted(rows, key=lambda row: -error(row))[:options.rows]:
        print(f"{1e6 * row['measured']:12.1f} {1e6 * row['estimated']:12.1f} {100 * error(row):8.0f}  {row['bound']:<16} "
              f"{row['op']} {row['name']} of {row['program']}")
    for bound in sorted({row["bound"] for row in rows}):
        group = [row for row in rows if row["bound"] == bound]
        print(f"{bound:<16} {len(group):5} commands, median error {summary(group)['median']:.0f} %")
    figures = summary(rows)
    figures["rank"] = statistics.correlation(ranks([row["estimated"] for row in rows]),
                                             ranks([row["measured"] for row in rows]))
    print(f"{len(rows)} commands: median error {figures['median']:.1f} %, p90 {figures['p90']:.1f} %, "
          f"rank correlation {figures['rank']:.3f}")
    if options.log:
        log(figures, rows, options)


if __name__ == "__main__":
    main()
