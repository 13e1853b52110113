#!/usr/bin/env python3
"""Our plans beside XLA's: temporaries in the same order, and the peak of our own order.

  plans.py --hilo build/hilo FOLDER... [--only TEXT] [--shuffle 1,2,3] [--compile-to DIR]

Takes every XLA dump below the folders: a module (`*_after_optimizations.txt`, `after.hlo`) with its buffer assignment beside it. With
`--compile-to` every other `.hlo` there is first compiled by jaxlib, once, and its dump is kept in DIR.

Without `--shuffle`: temporary bytes of each memory space, XLA's and ours in XLA's order; `bound` is the most that is alive at once.
With it: instructions of every computation in a random order that their dependences allow, is_scheduled taken away, one module for each seed.
What counts is the most bytes in use at one moment in all spaces together, parameters and constants throughout, but for parameters that results
may overwrite; the means are given with and without these, which no order changes. `no less`: what one instruction alone
needs with them, the results at the end included.
"""
import argparse
import glob
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = ")
OPERANDS = re.compile(r" [a-z][a-z0-9\-]*\(")
NAME = re.compile(r"%?([A-Za-z_][\w.\-]*)")


def find_pairs(folders):
    for folder in folders:
        for path in sorted(glob.glob(f"{folder}/**/*", recursive=True)):
            if path.endswith("_after_optimizations.txt"):
                beside = path[:-4] + "-buffer-assignment.txt"
            elif os.path.basename(path) == "after.hlo":
                beside = os.path.join(os.path.dirname(path), "buffer-assignment.txt")
            else:
                continue
            if os.path.exists(beside):
                yield os.path.basename(os.path.dirname(path)), path, beside


def compile_modules(folders, into):
    for folder in folders:
        for path in sorted(glob.glob(f"{folder}/**/*.hlo", recursive=True)):
            if os.path.basename(path) in ("after.hlo", "before.hlo"):
                continue
            target = os.path.join(into, os.path.basename(path)[:-4])
            if not os.path.isdir(target):
                flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_dump_to={target} --xla_dump_hlo_as_text"
                script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "jaxlib_bench.py")
                done = subprocess.run([sys.executable, script, path, "--max-seconds=0"], env=os.environ | {"XLA_FLAGS": flags},
                                      capture_output=True, text=True)
                if done.returncode != 0:
                    said = [line for line in done.stderr.splitlines() if "rror" in line] or ["?"]
                    print(f"jaxlib does not compile {path}: {said[-1][:160]}")


def xla_temporaries(path):
    """Bytes of the temporary allocations, by memory space."""
    out = {}
    with open(path) as file:
        for line in file:
            found = re.match(r"allocation \d+: size (\d+)(?:, color (\d+))?.*, preallocated-temp", line)
            if found:
                space = int(found[2] or 0)
                out[space] = out.get(space, 0) + int(found[1])
    return out


def explain(hilo, path):
    out = subprocess.run([hilo, "explain", "--json", "--no-advice", path], capture_output=True, text=True)
    if out.returncode != 0:
        raise RuntimeError(f"{path}: {out.stderr.strip().splitlines()[-1]}")
    return json.loads(out.stdout)


def peak_of(picture):
    always = {a["number"] for a in picture["allocations"]
              if a["is_constant"] or (a.get("parameter") is not None and not a["is_live_out"])}
    local = {a["number"] for a in picture["allocations"] if a["is_thread_local"]}
    fixed = sum(a["bytes"] for a in picture["allocations"] if a["number"] in always)
    most = now = 0
    events = []
    for value in picture["values"]:
        if value["start"] is not None and value["allocation"] not in always | local:
            place = (value["allocation"], value["offset"])
            events += [(value["start"], 1, place, value["bytes"]), (value["end"] + 1, 0, place, value["bytes"])]
    alive = {}
    for _, starts, place, size in sorted(events):
        sizes = alive.setdefault(place, [])
        now -= max(sizes, default=0)
        sizes.append(size) if starts else sizes.remove(size)
        now += max(sizes, default=0)
        most = max(most, now)
    return fixed, most


def least_of(picture):
    """Bytes besides the fixed ones that are in use at one moment in any order: those that one instruction makes and those that it reads
    last here, so that it reads them wherever it stands; and the results at the end."""
    always = {a["number"] for a in picture["allocations"]
              if a["is_constant"] or a["is_thread_local"] or (a.get("parameter") is not None and not a["is_live_out"])}
    moments = {}
    last = max((value["end"] for value in picture["values"] if value["start"] is not None), default=0)
    for value in picture["values"]:
        if value["start"] is None or value["allocation"] in always:
            continue
        place = (value["allocation"], value["offset"])
        for moment in {value["start"], value["end"]} if value["end"] < last else {value["start"], last}:
            places = moments.setdefault(moment, {})
            places[place] = max(places.get(place, 0), value["bytes"])
    return max((sum(places.values()) for places in moments.values()), default=0)


def operands_of(line):
    start = OPERANDS.search(line, INSTRUCTION.match(line).end() - 1)
    depth, end = 1, start.end()
    while depth:
        depth += {"(": 1, ")": -1}.get(line[end], 0)
        end += 1
    control = re.search(r"control-predecessors=\{([^}]*)\}", line[end:])
    return NAME.findall(line[start.end():end - 1]) + (NAME.findall(control[1]) if control else [])


def shuffled(lines, draw):
    place = {INSTRUCTION.match(line)[1]: i for i, line in enumerate(lines)}
    before = [{place[name] for name in operands_of(line) if name in place} for line in lines]
    after = [[] for _ in lines]
    for i, needed in enumerate(before):
        for j in needed:
            after[j].append(i)
    missing = [len(needed) for needed in before]
    ready = [i for i, count in enumerate(missing) if count == 0]
    out = []
    while ready:
        at = draw.randrange(len(ready))
        ready[at], ready[-1] = ready[-1], ready[at]
        out.append(ready.pop())
        for i in after[out[-1]]:
            missing[i] -= 1
            if missing[i] == 0:
                ready.append(i)
    if len(out) != len(lines):
        raise RuntimeError("a cycle")
    return [lines[i] for i in out]


def shuffle_module(text, seed):
    draw = random.Random(seed)
    out, body = [], None
    for line in text.splitlines():
        if line.startswith("HloModule"):
            line = re.sub(r", is_scheduled=true", "", line)
        if body is not None and INSTRUCTION.match(line):
            body.append(line)
            continue
        if body is not None and line.startswith("}"):
            out += shuffled(body, draw)
            body = None
        elif line.endswith("{"):
            body = []
        out.append(line)
    return "\n".join(out) + "\n"


def compare_temporaries(pairs, options):
    print(f"{'XLA':>12} {'ours':>12} {'bound':>12} {'of XLA':>7} {'of bound':>8}  module, space")
    more, above, far, spaces = [], 0, [], 0
    for name, path, beside in pairs:
        theirs = xla_temporaries(beside)
        ours = {space["space"]: space for space in explain(options.hilo, path)["memory_spaces"]}
        for number in sorted(theirs.keys() | ours.keys()):
            xla = theirs.get(number, 0)
            temp, bound = (ours[number]["temp_bytes"], ours[number]["lower_bound_bytes"]) if number in ours else (0, 0)
            if xla == 0 and temp == 0:
                continue
            spaces += 1
            if temp > xla:
                more.append(name)
            above += temp > bound
            if temp > 1.02 * bound:
                far.append(name)
            print(f"{xla:12} {temp:12} {bound:12} {temp / xla if xla else math.inf:7.3f} {temp / bound if bound else math.inf:8.4f}  {name}, {number}")
    print(f"{spaces} spaces with temporaries: more than XLA's in {len(more)} {more}, above the bound in {above}, by more than 1.02 in {len(far)} {far}")


def mean_of(ratios):
    return math.exp(sum(map(math.log, ratios)) / max(1, len(ratios)))


def compare_orders(pairs, options):
    seeds = [int(seed) for seed in options.shuffle.split(",")]
    print(f"{'XLA':>12} {'best':>12} {'worst':>12} {'best':>6} {'worst':>6} {'no less':>7}  module, {len(seeds)} shuffles")
    ratios, without, least_ratios, more = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, path, _ in pairs:
            picture = explain(options.hilo, path)
            fixed, theirs = peak_of(picture)
            floor = min(theirs, least_of(picture))
            text = subprocess.run([options.hilo, "print", path], capture_output=True, text=True, check=True).stdout
            ours = []
            for seed in seeds:
                other = os.path.join(options.keep or folder, f"{name}.{seed}.hlo")
                with open(other, "w") as file:
                    file.write(shuffle_module(text, seed))
                ours.append(peak_of(explain(options.hilo, other))[1])
            ratios += [(fixed + peak) / (fixed + theirs) for peak in ours if peak != theirs]
            without += [peak / theirs for peak in ours if peak != theirs]
            least_ratios += [(fixed + floor) / (fixed + theirs) for peak in ours if peak != theirs]
            more += [name] * (max(ours) > theirs)
            least, most = fixed + min(ours), fixed + max(ours)
            print(f"{fixed + theirs:12} {least:12} {most:12} {least / (fixed + theirs):6.3f} {most / (fixed + theirs):6.3f} {(fixed + floor) / (fixed + theirs):6.3f}  {name}", flush=True)
    print(f"more than XLA's order in {len(more)} modules {more}; {len(ratios)} of {len(pairs) * len(seeds)} orders differ")
    print(f"geometric mean of these {mean_of(ratios):.3f}, of the bytes that come and go {mean_of(without):.3f}; no order has less than {mean_of(least_ratios):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--hilo", default="build/hilo")
    parser.add_argument("--only", default="", help="modules whose name contains this")
    parser.add_argument("--shuffle", default="", help="seeds")
    parser.add_argument("--keep", help="folder in which shuffled modules stay")
    parser.add_argument("--compile-to", help="folder for jaxlib's dumps of .hlo files")
    options = parser.parse_args()
    folders = list(options.folders)
    if options.compile_to:
        compile_modules(folders, options.compile_to)
        folders.append(options.compile_to)
    pairs = [pair for pair in find_pairs(folders) if options.only in pair[0]]
    (compare_orders if options.shuffle else compare_temporaries)(pairs, options)


if __name__ == "__main__":
    main()
