#!/usr/bin/env python3
"""Hilo's compiler for the CPU and XLA's (jaxlib) on the same HLO files, in turns; medians. Both
are given the same random inputs, up to a gigabyte, so that loops have as many rounds.

  performance.py [FILE.hlo...] [--programs] [--turns 3] [--threads N] [--json OUT] [--markdown OUT]
                 [--picture OUT.svg] [--log bench/log.jsonl] [--machine TEXT]

--programs adds the programs of bench/programs.py. --log adds a record a program to the log that
bench/history.py reads. A ratio above 1 says that Hilo is that many
times faster. The last lines give the geometric means, and what the machine itself does: bytes
copied and products of matrices a second, by NumPy.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent


def answer_of(command, seconds):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"error": f"more than {seconds} s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1][:200]}
    return json.loads(done.stdout.splitlines()[-1])


def median_of(answers, key):
    good = [answer[key] for answer in answers if "error" not in answer]
    return statistics.median(good) if good else None


def measure(path, options, inputs):
    limits = ["--threads", str(options.threads), "--max-seconds", str(options.seconds)]
    ours, theirs = [], []
    inputs.unlink(missing_ok=True)
    for turn in range(options.turns):
        saved = [] if turn else ["--save-inputs", inputs]
        theirs.append(answer_of([sys.executable, HERE / "jaxlib_bench.py", path, *limits, *saved], 300))
        given = ["--inputs", inputs] if inputs.exists() else []
        ours.append(answer_of([options.hilo, "bench", "--device", options.device, path, *limits, *given], 300))
        if "error" in ours[-1] or "error" in theirs[-1]:
            break
    row = {"name": Path(path).stem}
    for side, answers in (("hilo", ours), ("xla", theirs)):
        for key in ("compile_s", "exec_s", "temp_bytes"):
            row[f"{side}_{key}"] = median_of(answers, key)
        errors = [answer["error"] for answer in answers if "error" in answer]
        if errors:
            row[f"{side}_error"] = errors[0]
    return row


def ratio(row, key):
    ours, theirs = row[f"hilo_{key}"], row[f"xla_{key}"]
    return theirs / ours if ours and theirs else None


def shown(value, scale=1):
    if value is None:
        return "-"
    return f"{value * scale:.3g}" if value * scale < 1000 else f"{value * scale:.0f}"


HEADER = ("program", "run ms", "XLA ms", "ratio", "compile ms", "XLA ms", "ratio", "temp MB", "XLA MB")


def cells(row):
    return (row["name"], shown(row["hilo_exec_s"], 1e3), shown(row["xla_exec_s"], 1e3),
            shown(ratio(row, "exec_s")), shown(row["hilo_compile_s"], 1e3),
            shown(row["xla_compile_s"], 1e3), shown(ratio(row, "compile_s")),
            shown(row["hilo_temp_bytes"], 1e-6), shown(row["xla_temp_bytes"], 1e-6))


def summary(rows):
    out = []
    for key, what in (("exec_s", "running"), ("compile_s", "compiling")):
        ratios = [r for row in rows if (r := ratio(row, key))]
        if ratios:
            out.append(f"{what}: geometric mean {statistics.geometric_mean(ratios):.2f} x XLA:CPU over "
                       f"{len(ratios)} programs; {sum(r < 1 for r in ratios)} slower, "
                       f"the slowest {min(ratios):.2f} x")
    return out


def machine_limits():
    import numpy as np
    source = np.ones(1 << 26, np.float32)
    target = np.empty_like(source)
    a = np.random.default_rng(0).standard_normal((2048, 2048)).astype(np.float32)
    copies, products = [], []
    for _ in range(5):
        start = time.perf_counter()
        np.copyto(target, source)
        copies.append(time.perf_counter() - start)
        start = time.perf_counter()
        a @ a
        products.append(time.perf_counter() - start)
    return (f"machine: a copy moves {2 * source.nbytes / min(copies) / 1e9:.1f} GB/s, "
            f"products of f32 matrices do {2 * 2048 ** 3 / min(products) / 1e9:.0f} Gflop/s")


def commit():
    """(hash, date) of the last commit, or nothing outside of a clone."""
    done = subprocess.run(["git", "-C", HERE, "log", "-1", "--format=%h %cs"], capture_output=True,
                          text=True)
    return done.stdout.split() or (None, None)


def processor():
    """Cores that this process may use, and the processor's name."""
    names = [line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith("model name")]
    return f"{len(os.sched_getaffinity(0))} cores, {names[0] if names else 'unknown'}"


def records(rows, options):
    """The rows that both ran, as bench/history.py describes them."""
    (name, date), out = commit(), []
    for row in rows:
        figures = [row[f"{side}_{key}"] for key in ("exec_s", "compile_s", "temp_bytes")
                   for side in ("hilo", "xla")]
        if None in figures:
            continue
        keys = ("run_ms", "xla_run_ms", "compile_ms", "xla_compile_ms", "temp_mb", "xla_temp_mb")
        scales = (1e3, 1e3, 1e3, 1e3, 1e-6, 1e-6)
        out.append({"table": "programs", "date": date, "commit": name, "machine": options.machine,
                    "threads": options.threads or len(os.sched_getaffinity(0)),
                    "program": row["name"],
                    **{key: float(f"{value * scale:.4g}")
                       for key, value, scale in zip(keys, figures, scales)}})
    return out


def picture(rows):
    """Bars of the running ratio on a logarithmic scale around 1."""
    bars = sorted(((r, row["name"]) for row in rows if (r := ratio(row, "exec_s"))), reverse=True)
    wide, high, left = 900, 18, 260
    reach = max([abs(math.log2(r)) for r, _ in bars] + [1])
    unit, middle = (wide - left - 80) / 2 / reach, left + (wide - left - 80) / 2
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high * len(bars) + 30}" '
           'font-family="sans-serif" font-size="12">',
           f'<text x="{left}" y="14">times faster than XLA:CPU, running</text>']
    for i, (value, name) in enumerate(bars):
        y, length = 24 + i * high, math.log2(value) * unit
        out.append(f'<rect x="{min(middle, middle + length):.1f}" y="{y}" width="{abs(length):.1f}" '
                   f'height="{high - 4}" fill="{"#3a7" if value >= 1 else "#c54"}"/>')
        out.append(f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{name}</text>')
        out.append(f'<text x="{wide - 60}" y="{y + 11}">{value:.2f}</text>')
    out.append(f'<line x1="{middle}" y1="20" x2="{middle}" y2="{24 + high * len(bars)}" stroke="#444"/>')
    return "\n".join(out + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--programs", action="store_true")
    parser.add_argument("--hilo", default="build/hilo")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=2, help="of repeating a run, in each turn")
    parser.add_argument("--json")
    parser.add_argument("--markdown")
    parser.add_argument("--picture")
    parser.add_argument("--log", help="bench/log.jsonl: add a record a program")
    parser.add_argument("--machine", default=processor(), help="its words in the log")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = list(options.files)
        if options.programs:
            subprocess.run([sys.executable, HERE / "programs.py", folder], check=True)
            files += sorted(str(path) for path in Path(folder).glob("*.hlo"))
        rows = []
        for path in files:
            rows.append(measure(path, options, Path(folder, "inputs.npz")))
            if sys.stdout.isatty() or not options.markdown:
                print("  ".join(f"{cell:>11}" if i else f"{cell:<44}" for i, cell in enumerate(cells(rows[-1]))), flush=True)
            for side in ("hilo_error", "xla_error"):
                if side in rows[-1]:
                    print(f"    {side}: {rows[-1][side]}", flush=True)
    lines = [*summary(rows), machine_limits()]
    print("\n".join(lines))
    if options.json:
        Path(options.json).write_text(json.dumps({"schema": "hilo.performance.1", "rows": rows, "summary": lines}, indent=1))
    if options.markdown:
        table = ["| " + " | ".join(HEADER) + " |", "|---" * len(HEADER) + "|"]
        table += ["| " + " | ".join(cells(row)) + " |" for row in rows]
        Path(options.markdown).write_text("\n".join([*table, "", *(f"- {line}" for line in lines), ""]))
    if options.log:
        with open(options.log, "a", encoding="utf-8") as log:
            log.writelines(json.dumps(record) + "\n" for record in records(rows, options))
    if options.picture:
        Path(options.picture).write_text(picture(rows))


if __name__ == "__main__":
    main()
