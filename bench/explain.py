#!/usr/bin/env python3
"""Time and memory of `hilo explain`: modules given, and generated ones of growing size.

  explain.py --hilo build/hilo [FILE.hlo...] [--sizes 12500,25000,50000,100000] [--kinds chain,wide] [--turns 1]

Generated kinds: chain (each value made of the last ones), wide (values that wait all together), layers (made forwards, read again
backwards), loops (many while loops), tuples (values handed on in nested tuples). `growth` is the time over that of the size before, divided
by the growth of the size: 1 is linear.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

ADD = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT sum = f32[] add(a, b)\n}\n"


class Writer:
    """Instructions of one computation, counted."""

    def __init__(self):
        self.lines = []

    def add(self, shape, text):
        name = f"v{len(self.lines)}"
        self.lines.append((name, shape, text))
        return name

    def constant(self, text="0"):
        return self.add("f32[]", f"constant({text})")

    def text(self, head):
        body = [f"  {name} = {shape} {text}\n" for name, shape, text in self.lines]
        body[-1] = "  ROOT" + body[-1][1:]
        return f"{head} {{\n{''.join(body)}}}\n"


def sizes_of(count, draw):
    return [draw.choice((1, 7, 64, 1000, 4096, 50_000, 300_000)) + draw.randrange(64) for _ in range(count)]


def chain(count, draw):
    w = Writer()
    size = 0
    last = []
    while len(w.lines) < count:
        if not last or draw.random() < 0.05:
            size = sizes_of(1, draw)[0]
            scalar = w.add("f32[]", f"reduce({last[-1]}, {w.constant()}), dimensions={{0}}, to_apply=add") if last else w.constant()
            last = [w.add(f"f32[{size}]{{0}}", f"broadcast({scalar}), dimensions={{}}")]
        last.append(w.add(f"f32[{size}]{{0}}", f"add({last[-1]}, {draw.choice(last[-4:])})"))
    return ADD + w.text("ENTRY main")


def wide(count, draw):
    w = Writer()
    scalar = w.constant("1")
    sizes = sizes_of(count // 4, draw)
    values = [(w.add(f"f32[{n}]{{0}}", f"broadcast({scalar}), dimensions={{}}"), n) for n in sizes]
    values = [(w.add(f"f32[{n}]{{0}}", f"negate({v})"), n) for v, n in values]
    draw.shuffle(values)
    zero = w.constant()
    sums = [w.add("f32[]", f"reduce({v}, {zero}), dimensions={{0}}, to_apply=add") for v, n in values]
    while len(sums) > 1:
        sums = [w.add("f32[]", f"add({a}, {b})") for a, b in zip(sums[::2], sums[1::2])] + sums[len(sums) // 2 * 2:]
    return ADD + w.text("ENTRY main")


def layers(count, draw):
    w = Writer()
    sizes = sizes_of(max(count // 10, 1), draw)
    x = w.constant("1")
    kept = []
    for n in sizes:
        y = w.add(f"f32[{n}]{{0}}", f"broadcast({x}), dimensions={{}}")
        z = w.add(f"f32[{n}]{{0}}", f"exponential({y})")
        u = w.add(f"f32[{n}]{{0}}", f"multiply({z}, {y})")
        x = w.add("f32[]", f"reduce({u}, {w.constant()}), dimensions={{0}}, to_apply=add")
        kept.append((n, z))
    for n, z in reversed(kept):
        g = w.add(f"f32[{n}]{{0}}", f"broadcast({x}), dimensions={{}}")
        h = w.add(f"f32[{n}]{{0}}", f"multiply({g}, {z})")
        x = w.add("f32[]", f"reduce({h}, {w.constant()}), dimensions={{0}}, to_apply=add")
    return ADD + w.text("ENTRY main")


def loops(count, draw):
    out, w = [ADD], Writer()
    pair = "(s32[], f32[1000]{0})"
    array = w.add("f32[1000]{0}", f"broadcast({w.constant('1')}), dimensions={{}}")
    for i in range(count // 25):
        body = Writer()
        state = body.add(pair, "parameter(0)")
        n = body.add("s32[]", f"get-tuple-element({state}), index=0")
        x = body.add("f32[1000]{0}", f"get-tuple-element({state}), index=1")
        for _ in range(10):
            x = body.add("f32[1000]{0}", f"add({x}, {x})")
        one = body.add("s32[]", "constant(1)")
        n = body.add("s32[]", f"add({n}, {one})")
        body.add(pair, f"tuple({n}, {x})")
        test = Writer()
        state = test.add(pair, "parameter(0)")
        n = test.add("s32[]", f"get-tuple-element({state}), index=0")
        ten = test.add("s32[]", "constant(10)")
        test.add("pred[]", f"compare({n}, {ten}), direction=LT")
        out += [body.text(f"body{i}"), test.text(f"test{i}")]
        start = w.add(pair, f"tuple({w.add('s32[]', 'constant(0)')}, {array})")
        done = w.add(pair, f"while({start}), condition=test{i}, body=body{i}")
        array = w.add("f32[1000]{0}", f"get-tuple-element({done}), index=1")
    w.add("f32[1000]{0}", f"negate({array})")
    return "".join(out) + w.text("ENTRY main")


def tuples(count, draw):
    w = Writer()
    values = [w.add("f32[1000]{0}", f"broadcast({w.constant('1')}), dimensions={{}}") for _ in range(8)]
    inner = "(" + ", ".join(["f32[1000]{0}"] * 8) + ")"
    outer = f"({inner}, f32[1000]{{0}})"
    while len(w.lines) < count:
        packed = w.add(inner, f"tuple({', '.join(values)})")
        extra = w.add("f32[1000]{0}", f"negate({draw.choice(values)})")
        handed = w.add(outer, f"tuple({packed}, {extra})")
        packed = w.add(inner, f"get-tuple-element({handed}), index=0")
        extra = w.add("f32[1000]{0}", f"get-tuple-element({handed}), index=1")
        values = [w.add("f32[1000]{0}", f"get-tuple-element({packed}), index={i}") for i in range(8)]
        values[draw.randrange(8)] = w.add("f32[1000]{0}", f"add({extra}, {draw.choice(values)})")
    w.add("f32[1000]{0}", f"negate({values[0]})")
    return w.text("ENTRY main")


KINDS = {"chain": chain, "wide": wide, "layers": layers, "loops": loops, "tuples": tuples}


def measure(command):
    """User and system seconds of a process, its wall time, and its largest resident set in bytes."""
    clock = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}\n{errors}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - clock, usage.ru_maxrss * 1024


def report(name, count, path, options, before=None):
    runs = [measure([options.hilo, "explain", path, *options.pass_on.split()]) for _ in range(options.turns)]
    cpu, wall, peak = min(runs)[0], min(r[1] for r in runs), max(r[2] for r in runs)
    growth = f"{cpu / before[1] / (count / before[0]):7.2f}" if before else " " * 7
    print(f"{count:8} {cpu:8.2f} {wall:8.2f} {peak / 2**20:9.0f} {growth}  {name}", flush=True)
    return count, cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--hilo", default="build/hilo")
    parser.add_argument("--sizes", default="12500,25000,50000,100000")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--scheduled", action="store_true", help="the generated order is a schedule")
    parser.add_argument("--keep", help="folder in which the generated modules stay")
    parser.add_argument("--pass-on", default="", help="options for hilo explain")
    options = parser.parse_args()
    print(f"{'lines':>8} {'cpu s':>8} {'wall s':>8} {'peak MiB':>9} {'growth':>7}  module")
    for path in options.files:
        with open(path) as file:
            report(os.path.basename(path), sum(1 for _ in file), path, options)
    with tempfile.TemporaryDirectory() as folder:
        for kind in filter(None, options.kinds.split(",")):
            before = None
            for size in map(int, filter(None, options.sizes.split(","))):
                text = KINDS[kind](size, random.Random(size))
                path = os.path.join(options.keep or folder, f"{kind}_{size}.hlo")
                with open(path, "w") as file:
                    file.write(f"HloModule {kind}{', is_scheduled=true' if options.scheduled else ''}\n{text}")
                before = report(f"{kind}{', scheduled' if options.scheduled else ''}", text.count(" = "), path, options, before)


if __name__ == "__main__":
    main()
