#!/usr/bin/env python3
"""What was measured, from bench/log.jsonl.

  history.py [TEXT...]     a table of the records that hold each TEXT (a program, a machine, a
                           table, a word of the note), oldest first
  history.py --page        writes docs/performance.md and docs/performance.svg

One record a line, a JSON object:

  date, commit             of the commit that gives the figure, where it is known
  machine, threads         where they are known
  program                  what is run; `others`: programs that are not in the repository
  measure, unit            run, compile, temporaries, rate ..., and its unit
  before, after            the figure without and with the change; `after` alone is the figure
  least, most              a range instead
  xla, by                  XLA:CPU's figure beside it; another library that gave `after`
  note                     the change, or what else there is to know
  table                    of the page: programs, suites, bandwidth, products, machine

bench/performance.py --log adds records of table `programs`, which have run_ms, compile_ms, temp_mb
and the same with xla_; those of `suites` have geometric means: run, compile, slower.
"""

import argparse
import json
import statistics
import textwrap
from pathlib import Path

import performance

ROOT = Path(__file__).resolve().parents[1]
LOG = ROOT / "bench/log.jsonl"
PAGE = ROOT / "docs/performance.md"
PICTURE = ROOT / "docs/performance.svg"
COLUMNS = 100

INTRODUCTION = """\
# Performance

`bench/history.py --page` writes this page from `bench/log.jsonl`; `bench/history.py TEXT` prints
what the log has of a program, a machine or a change. `make bench` measures the programs below on
your machine; `bench/performance.py --programs --log bench/log.jsonl` adds its figures to the log.

Hilo's compiler for the CPU is compared with XLA:CPU of jaxlib. Both compile the same HLO file, get
the same inputs and run in turns. Milliseconds are medians, after a run that is not counted. A ratio
above 1 says that Hilo is that many times faster. The time of compiling is that of `compile()`;
opening the compiler comes once in a process, and XLA's figure leaves out the start of its client.
"""

SUITES = """\
## Other machines and programs

Geometric means of the ratios, running and compiling. Times of one run depend on what else the
machine does: a program that is slower in one run is measured in more turns.
"""

BANDWIDTH = """\
## Memory

`bench/bandwidth.py` compares programs that do little to much data with what the memory gives in the
same minute. Arrays have 2^26 elements. More than 100 % says that the machine's rate changed between
the two. {machine}:
"""

LIMITS = """\
## What is slow

- Custom calls other than those of LAPACK and `TopK` are evaluated, not compiled.
- Products with few rows beside large matrices are bound by memory: each number of the right operand
  serves few multiplications. `bench/products.py` measures products and convolutions as shares of
  a loop of multiply-adds in registers, XLA beside it, and with `--blas` any library of CBLAS.
- Temporaries exceed XLA's where a value that several loops read is stored once, where a sum is
  taken in parts, or where XLA calls a library whose memory its plan does not count.

`bench/chains.py` and `bench/single_ops.py` write random programs for `bench/performance.py`, to
find what no chosen program shows. `bench/lesser_processor.py` hides features of the processor.
"""


def read(path=LOG):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def of_table(records, name):
    return [record for record in records if record.get("table") == name]


def group(record):
    return tuple(record.get(key) for key in ("date", "commit", "machine", "threads"))


def latest(records):
    """The records that were measured together with the last one."""
    return [record for record in records if group(record) == group(records[-1])]


def figure(value):
    return value if isinstance(value, str) else f"{value:,g}" if value < 1e6 else f"{value:,.0f}"


def threads_of(record):
    return {None: "", 1: "1 thread"}.get(record.get("threads"), f"{record.get('threads')} threads")


# One line a record.


def shown(record):
    """(date, commit, program, figures, where, note)"""
    if record.get("table") == "programs":
        figures = (f"run {record['run_ms']} ms (XLA {record['xla_run_ms']}), compile "
                   f"{record['compile_ms']} ms (XLA {record['xla_compile_ms']})")
    elif record.get("table") == "suites":
        figures = f"run {record['run']}, compile {record['compile']} {record['unit']}"
    else:
        if "least" in record:
            values = f"{figure(record['least'])} to {figure(record['most'])}"
        elif "before" in record:
            values = f"{figure(record['before'])} -> {figure(record['after'])}"
        else:
            values = figure(record["after"])
        figures = f"{record['measure']} {values} {record['unit']}"
        figures += f" (XLA {figure(record['xla'])})" if "xla" in record else ""
    where = ", ".join(filter(None, (record.get("machine"), threads_of(record), record.get("by"))))
    return (record.get("date", ""), record.get("commit", ""), record["program"], figures, where,
            record.get("note", ""))


def found(records, texts):
    def holds(record):
        text = json.dumps(record, ensure_ascii=False).lower()
        return all(wanted.lower() in text for wanted in texts)
    return [record for record in records if holds(record)]


def print_history(records):
    rows = [shown(record) for record in records]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(4)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        print("  ".join([*cells, "; ".join(filter(None, row[4:]))]).rstrip())


# The page.


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def three(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def ratio(record, key):
    return record[f"xla_{key}"] / record[key]


def programs_chapter(records):
    rows = latest(of_table(records, "programs"))
    lines = [f"On {rows[0]['machine']}, {threads_of(rows[0])}, commit {rows[0]['commit']}:", ""]
    for key, what in (("run_ms", "running"), ("compile_ms", "compiling")):
        ratios = [ratio(row, key) for row in rows]
        mean, slower = statistics.geometric_mean(ratios), sum(value < 1 for value in ratios)
        lines.append(f"- {what}: geometric mean {mean:.2f} x XLA:CPU over {len(ratios)} programs; "
                     f"{slower} slower, the slowest {min(ratios):.2f} x")
    limits = [f"{row['program']} {figure(row['after'])} {row['unit']}"
              for row in of_table(records, "machine") if group(row) == group(rows[0])]
    lines += [f"- the machine: {'; '.join(limits)}"] if limits else []
    cells = [(row["program"], three(row["run_ms"]), three(row["xla_run_ms"]),
              three(ratio(row, "run_ms")), three(row["compile_ms"]), three(row["xla_compile_ms"]),
              three(ratio(row, "compile_ms")), three(row["temp_mb"]), three(row["xla_temp_mb"]))
             for row in rows]
    return "\n".join([*lines, "", table(performance.HEADER, cells),
                      "![Times faster than XLA:CPU](performance.svg)", ""])


def suites_chapter(records):
    rows, cells = of_table(records, "suites"), {}
    for row in rows:
        key = (row["machine"], row["program"], row.get("programs", ""))
        columns = cells.setdefault(key, ([], [], []))
        for column, field in zip(columns, ("threads", "run", "compile")):
            column.append(f"{row[field]:g}")
    cells = [(*key, *map(", ".join, cell)) for key, cell in sorted(cells.items(), key=str)]
    slower = [textwrap.fill(f"- {row['machine']}, {threads_of(row)}, {row['program']}: "
                            f"{row['slower']}", COLUMNS, subsequent_indent="  ")
              for row in rows if row.get("slower", "none") != "none"]
    header = ("machine", "programs", "number", "threads", "run", "compile")
    return "\n".join([SUITES, table(header, cells), "Slower than XLA:CPU there:", "", *slower,
                      ""])


def bandwidth_chapter(records):
    rows = [row for row in of_table(records, "bandwidth") if "xla" in row]
    cells = {}
    for row in rows:
        cells.setdefault(row["program"], [row["program"]]).extend(
            (f"{row['after']} %", f"{row['xla']} %"))
    header = ("", "1 thread", "XLA", "2 threads", "XLA")
    return "\n".join([BANDWIDTH.format(machine=rows[0]["machine"]), table(header, cells.values())])


def page(records):
    return "\n".join([INTRODUCTION, programs_chapter(records), suites_chapter(records),
                      bandwidth_chapter(records), LIMITS])


def picture(records):
    return performance.picture([{"name": row["program"], "hilo_exec_s": row["run_ms"],
                                 "xla_exec_s": row["xla_run_ms"]}
                                for row in latest(of_table(records, "programs"))])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="*", metavar="TEXT")
    parser.add_argument("--page", action="store_true", help="write docs/performance.md and .svg")
    options = parser.parse_args()
    records = read()
    if options.page:
        PAGE.write_text(page(records), encoding="utf-8")
        PICTURE.write_text(picture(records), encoding="utf-8")
    else:
        print_history(found(records, options.texts))


if __name__ == "__main__":
    main()
