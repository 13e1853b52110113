#!/usr/bin/env python3
"""Compiles programs for TPU chips, without a TPU, and judges what Hilo makes of each module.

  tpu_modules.py --hilo build/hilo [--to FOLDER] [--only TEXT] [--chips v4,v5e,v5p,v6e]
                 [--what compile,check,print,eval,cpu,plan,ideal] [--json F] [--programs F.py]

compile  a module of each program and chip, once: FOLDER/NAME.CHIP/ holds before.hlo, after.hlo (for
         the chip), io.npz and io_global.npz (inputs, and what XLA's CPU back end computes of them)
         and buffer-assignment.txt. Needs a Python with jax==0.10.2, jaxlib==0.10.2, libtpu==0.0.51
check    it parses and verifies
print    the print of the print is the same
eval     `hilo run --device=eval` agrees with io.npz: |got - want| <= k (|want| + max|want|), with
         k = 5e-2 where a type is narrower than f32, else 1e-4; integers exactly
cpu      the same of --device=cpu
plan     `hilo explain --json` takes no more bytes than XLA in any memory space, neither temporary
         ones nor in all
ideal    (only when asked for) with --float=f64 after.hlo agrees with before.hlo to 1e-6 of the
         largest value; constants that XLA rounded and functions that it wrote out differ by more
Exits 1 when anything falls short. A row a module, then a count of each column.
"""

import argparse
import glob
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../bench")]
import corpus  # noqa: E402
import plans  # noqa: E402

COLUMNS = ("check", "print", "eval", "cpu", "ideal", "plan")
KEPT = {
    ".before_optimizations.txt": "before.hlo",
    ".after_optimizations.txt": "after.hlo",
    ".after_optimizations-buffer-assignment.txt": "buffer-assignment.txt",
}


def load(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def folder_of(options, name, chip):
    return os.path.join(options.to, f"{name}.{chip.replace(':', '_')}")


# Compiling: one child for many modules, as a compiler that dies takes its process along.


def bits(array):
    """As NumPy holds it: types that it lacks as unsigned integers of their width."""
    kind = array.dtype.name
    if kind in ("int4", "uint4"):
        return array.astype("int8").view("uint8") & 15
    return (
        array.view(f"u{array.dtype.itemsize}") if kind == "bfloat16" or "float8" in kind else array
    )


def value(jax, np, draw, a):
    if a.dtype == bool:
        return draw.integers(0, 2, a.shape).astype(bool)
    if jax.numpy.issubdtype(a.dtype, jax.numpy.integer):
        return draw.integers(0, 8, a.shape).astype(a.dtype)
    drawn = draw.standard_normal(a.shape) * 0.3
    if jax.numpy.issubdtype(a.dtype, jax.numpy.complexfloating):
        drawn = drawn + 1j * draw.standard_normal(a.shape) * 0.3
    return drawn.astype(a.dtype)


class Compiler:
    def __init__(self, options):
        os.environ.update(
            ALLOW_MULTIPLE_LIBTPU_LOAD="1",
            TPU_SKIP_MDS_QUERY="1",
            TPU_ACCELERATOR_TYPE="v5p-8",
            TPU_WORKER_HOSTNAMES="localhost",
            TPU_WORKER_ID="0",
        )
        self.dump = tempfile.mkdtemp(prefix="tpu-modules-")
        os.environ["XLA_FLAGS"] = (
            f"--xla_dump_to={self.dump} --xla_dump_hlo_as_text --xla_dump_large_constants=true "
            "--xla_force_host_platform_device_count=4"
        )
        import jax
        import numpy
        from jax.experimental import topologies

        jax.config.update("jax_platforms", "cpu")
        self.jax, self.np, self.topologies, self.options = jax, numpy, topologies, options
        self.expected = {}

    def build(self, make, name, devices):
        from jax.sharding import Mesh, NamedSharding, PartitionSpec

        def is_spec(s):
            return isinstance(s, PartitionSpec)

        def mesh(n):
            return Mesh(self.np.array(devices[:n]), ("x",))

        specs = make(self.jax, mesh(4))[2]
        several = any(
            axis is not None for s in self.jax.tree.leaves(specs, is_leaf=is_spec) for axis in s
        )
        over = mesh(4 if several else 1)
        function, arguments, specs = make(self.jax, over)
        function.__name__ = function.__qualname__ = name
        return (
            function,
            arguments,
            self.jax.tree.map(lambda s: NamedSharding(over, s), specs, is_leaf=is_spec),
            over,
        )

    def run(self, make, name, chip):
        jax = self.jax
        jax.config.update("jax_enable_x64", False)
        shutil.rmtree(self.dump, ignore_errors=True)
        tpus = self.topologies.get_topology_desc(platform="tpu", topology_name=chip).devices
        function, arguments, shardings, _ = self.build(make, name, tpus)
        typed = jax.tree.map(
            lambda a, s: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=s), arguments, shardings
        )
        jitted = jax.jit(function, donate_argnums=getattr(function, "donate", ()))
        compiled = jitted.trace(*typed).lower(lowering_platforms=("tpu",)).compile()
        made = f"{self.options.to}/unfinished"
        os.makedirs(made)
        for end, to in KEPT.items():
            found = [p for p in glob.glob(self.dump + "/*" + end) if "jit_" + name + "." in p]
            shutil.copy(max(found, key=os.path.getsize), os.path.join(made, to))
        self.save_values(make, name, compiled.output_shardings, made)
        os.rename(made, folder_of(self.options, name, chip))

    def save_values(self, make, name, out, made):
        jax, np = self.jax, self.np
        from jax.sharding import NamedSharding

        key = name + str(jax.tree.map(lambda s: getattr(s, "spec", None), out))
        if key not in self.expected:
            function, arguments, shardings, over = self.build(make, name, jax.devices("cpu"))
            draw = np.random.default_rng(0)
            values = jax.tree.map(lambda a: value(jax, np, draw, a), arguments)
            given = jax.tree.map(jax.device_put, values, shardings)
            specs = jax.tree.map(lambda s: NamedSharding(over, s.spec), out)
            if getattr(function, "over_mesh", True):
                result = jax.jit(function, out_shardings=specs)(*given)
            else:  # XLA's CPU back end errs in what it cuts itself: maxima of windows over borders
                result = jax.tree.map(jax.device_put, jax.jit(function)(*values), specs)
            local, whole = {}, {}
            for kind, leaves in (("in", jax.tree.leaves(given)), ("out", jax.tree.leaves(result))):
                for i, leaf in enumerate(leaves):
                    whole[f"{kind}_{i}"] = bits(np.asarray(leaf))
                    for shard in leaf.addressable_shards:
                        local[f"{kind}_{i}_dev{shard.device.id}"] = bits(np.asarray(shard.data))
            self.expected = {key: (local, whole)}
        local, whole = self.expected[key]
        np.savez_compressed(os.path.join(made, "io.npz"), **local)
        if any(k.endswith("_dev1") for k in local):
            np.savez_compressed(os.path.join(made, "io_global.npz"), **whole)


def compile_here(options):
    compiler, programs = Compiler(options), load(options.programs).PROGRAMS
    for task in sys.stdin.read().split():
        name, chip = task.split("@")
        print(f"begin {task}", flush=True)
        try:
            compiler.run(programs[name][0], name, chip)
            print(f"end {task}", flush=True)
        except Exception as error:  # of a program or the compiler: the next may be well
            print(f"end {task} {type(error).__name__}: {str(error).strip()[:300]!r}", flush=True)
        shutil.rmtree(f"{options.to}/unfinished", ignore_errors=True)
    shutil.rmtree(compiler.dump, ignore_errors=True)


def compile_modules(options, tasks):
    """What did not compile, with the reason."""
    left = [t for t in tasks if not os.path.isdir(folder_of(options, *t.split("@")))]
    failed, start, count = {}, time.monotonic(), len(left)
    shutil.rmtree(f"{options.to}/unfinished", ignore_errors=True)
    while left:
        before, running = len(left), None
        with open(os.path.join(options.to, "compile.log"), "a") as log:
            child = subprocess.Popen(
                [
                    sys.executable,
                    __file__,
                    "--compile-here",
                    "--to",
                    options.to,
                    "--programs",
                    options.programs,
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        child.stdin.write("\n".join(left))
        child.stdin.close()
        for row in child.stdout:
            word, task, *why = (
                row.rstrip().split(" ", 2) if row.startswith(("begin ", "end ")) else ("", "")
            )
            if word == "begin":
                running, begun = task, time.monotonic()
            if word == "end":
                running = left.remove(task)
                print(
                    f"compile  {task:44} {time.monotonic() - begun:6.1f} s ",
                    why[0] if why else "ok",
                    flush=True,
                )
                failed.update({task: why[0]} if why else {})
        child.wait()
        if running:
            failed[running] = "the compiler dies"
            left.remove(running)
            print(f"compile  {running:44} the compiler dies", flush=True)
        if len(left) == before:
            sys.exit(
                f"the compiling process ends before its first module: {options.to}/compile.log"
            )
    if count:
        print(
            f"compiled {count - len(failed)} of {count} modules in {time.monotonic() - start:.0f} s"
        )
    return failed


# Judging.


class Row:
    """Takes what the functions of corpus.py say of one module."""

    def __init__(self):
        self.said, self.seconds = {}, {}

    def judge(self, column, function, *arguments):
        start = time.monotonic()
        self.column = column
        function(*arguments)
        self.seconds[column] = round(time.monotonic() - start, 2)

    def add(self, what, name, good, note="", seconds=0.0):
        self.said[self.column] = "" if good else note or "fails"


def check(hilo, path, row):
    status, _, error, _ = corpus.call([hilo, "check", path], 120)
    row.add("", "", status == 0, corpus.last_line(error))


def xla_bytes(path):
    """Bytes of all allocations but thread-local ones, by memory space."""
    out = {}
    with open(path) as file:
        for line in file:
            found = re.match(r"allocation \d+: size (\d+)(?:, color (\d+))?(.*)", line)
            if found and ", thread-local" not in found[3]:
                out[int(found[2] or 0)] = out.get(int(found[2] or 0), 0) + int(found[1])
    return out


def plan(hilo, folder, chip, row):
    status, out, error, _ = corpus.call(
        [hilo, "explain", "--json", "--no-advice", f"--target={chip}", f"{folder}/after.hlo"], 300
    )
    if status != 0:
        return row.add("", "", False, corpus.last_line(error))
    spaces = {space["space"]: space for space in json.loads(out)["memory_spaces"]}
    more = []
    for what, theirs in (
        ("temp_bytes", plans.xla_temporaries(f"{folder}/buffer-assignment.txt")),
        ("total_bytes", xla_bytes(f"{folder}/buffer-assignment.txt")),
    ):
        more += [
            f"{what} of space {number}: {space[what]} where XLA takes {theirs.get(number, 0)}"
            for number, space in spaces.items()
            if space[what] > theirs.get(number, 0)
        ]
    row.add("", "", not more, "; ".join(more))


def judge(options, name, folder):
    row, hilo, what = Row(), options.hilo, options.what.split(",")
    after, arrays = f"{folder}/after.hlo", f"{folder}/io.npz"
    row.judge("check", check, hilo, after, row)
    if row.said["check"]:
        return row
    steps = {
        "print": (corpus.check, hilo, after, name, row),
        "eval": (corpus.values, hilo, after, arrays, name, row, (), "eval"),
        "cpu": (corpus.values, hilo, after, arrays, name, row, (), "cpu"),
        "ideal": (corpus.ideal, hilo, folder, name, row),
        "plan": (plan, hilo, folder, name.split("@")[1], row),
    }
    for column, step in steps.items():
        if column in what:
            row.judge(column, *step)
    return row


def judge_modules(options, tasks):
    rows, start = [], time.monotonic()
    for task in tasks:
        folder = folder_of(options, *task.split("@"))
        if not os.path.isdir(folder):
            continue
        row = judge(options, task, folder)
        rows.append({"module": task, "seconds": row.seconds, "said": row.said})
        short = [c for c in row.said if row.said[c]]
        notes = "; ".join(f"{c}: {row.said[c]}" for c in short)
        print(
            f"{'FAIL' if short else 'pass'}  {task:44} {sum(row.seconds.values()):6.1f} s  {notes}",
            flush=True,
        )
        if options.json:
            with open(options.json, "w") as file:
                json.dump(rows, file, indent=1)
    print(f"\n{'chip':6} {'modules':>8} " + " ".join(f"{c:>6}" for c in COLUMNS))
    for chip in sorted({r["module"].split("@")[1].split(":")[0] for r in rows}) + [""]:
        of_chip = [r for r in rows if f"@{chip}" in r["module"]]
        counts = [sum(r["said"].get(c) == "" for r in of_chip) for c in COLUMNS]
        print(f"{chip or 'all':6} {len(of_chip):8} " + " ".join(f"{n:6}" for n in counts))
    short = sum(any(r["said"].values()) for r in rows)
    seconds = time.monotonic() - start
    print(f"{len(rows) - short} modules pass, {short} fall short; judged in {seconds:.0f} s")
    return short


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hilo", default="build/hilo")
    parser.add_argument(
        "--to",
        default=os.path.join(tempfile.gettempdir(), "tpu"),
        help="where compiled modules stay",
    )
    parser.add_argument("--programs", default=os.path.join(HERE, "tpu_programs.py"))
    parser.add_argument(
        "--only",
        default="",
        help="programs or NAME@CHIP with this text in them; several with commas",
    )
    parser.add_argument("--chips", default="v4,v5e,v5p,v6e")
    parser.add_argument("--what", default="compile,check,print,eval,cpu,plan")
    parser.add_argument("--json", help="a row a module, with what falls short")
    parser.add_argument("--compile-here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    missing = [m for m in ("jax", "libtpu", "numpy") if importlib.util.find_spec(m) is None]
    if missing:
        sys.exit(
            f"this Python lacks {', '.join(missing)}: "
            "pip install jax==0.10.2 jaxlib==0.10.2 libtpu==0.0.51 numpy"
        )
    os.makedirs(options.to, exist_ok=True)
    if options.compile_here:
        return compile_here(options)
    tasks = [
        f"{name}@{chip}"
        for name, (_, chips) in load(options.programs).PROGRAMS.items()
        for chip in chips
        if chip.split(":")[0] in options.chips.split(",")
        and any(text in f"{name}@{chip}" for text in options.only.split(","))
    ]
    failed = compile_modules(options, tasks) if "compile" in options.what.split(",") else {}
    short = judge_modules(options, tasks) if set(options.what.split(",")) & set(COLUMNS) else 0
    return 1 if failed or short else 0


if __name__ == "__main__":
    sys.exit(main())
