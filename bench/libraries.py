#!/usr/bin/env python3
"""Programs of JAX's libraries, one a file in bench/libraries/, on Hilo's plugin and on XLA:CPU's
own client: whether values agree, the time of a step, the time to the first step.

  libraries.py [NAME...] [--rounds 3] [--seconds 1] [--threads N] [--log FILE] [--python PATH]

Each program runs in a process for each platform; while one takes steps, the other waits. A file's
`program()` gives a function of one step, state -> (state, outcome), and the first state; outcomes
of the first steps are compared. Time to the first step is from after imports: the program's own
preparation, tracing, compiling. Medians of processes; a ratio above 1 says that Hilo is that many
times faster. "CPU" compares the processor's time of a step instead, which says more where others
use the machine too, with --threads 1; "compiling" the back end's part of the first step. --log
appends JSON lines, with the machine's load. Without --python the libraries are installed into
.venv-libraries.
"""

import argparse
import importlib.util
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE.parent
LIBRARIES = ["jax==0.10.2", "jaxlib==0.10.2", "numpy", "scipy", "flax", "optax", "equinox",
             "diffrax", "numpyro", "blackjax", "jaxley", "brax", "dm-haiku", "optimistix", "lineax",
             "distrax", "jraph", "dm-pix", "evosax", "gpjax", "tinygp", "jaxopt",
             "orbax-checkpoint", "chex", "penzai"]
COMPARED_STEPS = 3
FIRST = ("first_s", "first_cpu_s", "compile_s")
HEADER = ("program", "step ms", "XLA ms", "ratio", "CPU", "first ms", "XLA ms", "ratio",
          "compiling", "difference")
STEP = ("step_s", "step_min_s", "step_cpu_s")


def work(name, outcomes):
    """The process of one program on one platform: it answers each line with what its steps took."""
    if os.environ.get("HILO_THREADS"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(os.environ["HILO_THREADS"])])
    import jax
    import numpy as np
    if "hilo" in os.environ["JAX_PLATFORMS"]:
        from hilo import jax_plugin
        jax_plugin.initialize()
    jax.devices()  # some libraries compute while they are imported
    spec = importlib.util.spec_from_file_location(name, HERE / "libraries" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    compiling = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **_: compiling.append(seconds if "backend_compile" in event else 0))
    start, start_cpu = time.perf_counter(), time.process_time()
    step, state = module.program()
    state, outcome = jax.block_until_ready(step(state))
    first, first_cpu = time.perf_counter() - start, time.process_time() - start_cpu
    kept = jax.tree.leaves(outcome)
    for _ in range(getattr(module, "COMPARED_STEPS", COMPARED_STEPS) - 1):
        state, outcome = jax.block_until_ready(step(state))
        kept += jax.tree.leaves(outcome)
    np.savez(outcomes, *[np.asarray(leaf, np.float64) for leaf in kept])
    print(json.dumps({"first_s": first, "first_cpu_s": first_cpu, "compile_s": sum(compiling),
                      "tolerance": getattr(module, "TOLERANCE", 1e-3)}), flush=True)
    for line in sys.stdin:
        times, cpu_times, end = [], [], time.perf_counter() + float(line)
        while not times or time.perf_counter() < end:
            begun, begun_cpu = time.perf_counter(), time.process_time()
            state, outcome = jax.block_until_ready(step(state))
            times.append(time.perf_counter() - begun)
            cpu_times.append(time.process_time() - begun_cpu)
        print(json.dumps({"step_s": statistics.median(times), "step_min_s": min(times),
                          "step_cpu_s": statistics.median(cpu_times)}), flush=True)


class Peer:
    """A program on a platform, in a process of its own."""

    def __init__(self, python, name, platform_name, outcomes):
        environment = {**os.environ, "JAX_PLATFORMS": platform_name, "TF_CPP_MIN_LOG_LEVEL": "3"}
        if platform_name == "hilo":
            build = SOURCE / "build" / "release"
            environment.setdefault("HILO_PLUGIN", str(build / "libhilo_pjrt.so"))
            environment.setdefault("HILO_COMMAND", str(build / "hilo"))
            environment["PYTHONPATH"] = str(SOURCE / "python")
        self.outcomes = outcomes
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([python, __file__, "--work", name, outcomes], text=True,
                                        env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors)

    def answer(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        self.errors.seek(0)
        raise RuntimeError((self.errors.read().strip().splitlines() or ["no message"])[-1][:300])

    def take_steps(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def difference(ours, theirs):
    """The largest difference of outcomes, as a part of the largest value of each array."""
    import numpy as np
    ours, theirs = np.load(ours), np.load(theirs)
    if ours.files != theirs.files:
        return math.inf
    worst = 0.0
    for key in ours.files:
        mine, other = ours[key], theirs[key]
        if mine.shape != other.shape or not np.isfinite([mine, other]).all():
            return math.inf
        scale = np.max(np.abs(other), initial=0) or 1.0
        worst = max(worst, float(np.max(np.abs(mine - other), initial=0)) / scale)
    return worst


def measure(name, options, folder):
    row = {"program": name}
    figures = {side: {key: [] for key in (*FIRST, *STEP)} for side in ("hilo", "cpu")}
    for number in range(options.rounds):
        peers = {}
        for side in ("hilo", "cpu")[::1 if number % 2 else -1]:
            peers[side] = Peer(options.python, name, side, f"{folder}/{side}.npz")
            try:
                told = peers[side].answer()
            except RuntimeError as error:
                row[f"{side}_error"] = str(error)
                return row
            for key in FIRST:
                figures[side][key].append(told[key])
        for _ in range(4):
            for side, peer in peers.items():
                taken = peer.take_steps(options.seconds / 4)
                for key in STEP:
                    figures[side][key].append(taken[key])
        for peer in peers.values():
            peer.close()
    row["difference"] = difference(f"{folder}/hilo.npz", f"{folder}/cpu.npz")
    row["agrees"] = bool(row["difference"] <= told["tolerance"])
    for side, figure in figures.items():
        row |= {f"{side}_{key}": statistics.median(values) for key, values in figure.items()}
        row[f"{side}_step_min_s"] = min(figure["step_min_s"])
    for key in (*FIRST, *STEP):
        row[key.removesuffix("_s") + "_ratio"] = row[f"cpu_{key}"] / row[f"hilo_{key}"]
    return row


def cells(row):
    milliseconds = {key: f"{1e3 * row[key]:.4g}" for key in row if key.endswith("_s")}
    ratios = {key: f"{row[key]:.2f}" for key in row if key.endswith("_ratio")}
    return (row["program"], milliseconds["hilo_step_s"], milliseconds["cpu_step_s"],
            ratios["step_ratio"], ratios["step_cpu_ratio"], milliseconds["hilo_first_s"],
            milliseconds["cpu_first_s"], ratios["first_ratio"], ratios["compile_ratio"],
            f"{row['difference']:.1e}" + ("" if row["agrees"] else " DIFFERS"))


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values))) if values else math.nan


def python_with_libraries():
    python = SOURCE / ".venv-libraries" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *LIBRARIES], check=True)
    return str(python)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--log")
    parser.add_argument("--python")
    options = parser.parse_args()
    if options.threads:
        os.environ["HILO_THREADS"] = str(options.threads)
    if not options.python:
        python = python_with_libraries()
        os.execv(python, [python, __file__, *sys.argv[1:], "--python", python])
    if importlib.util.find_spec("numpy") is None:
        parser.error(f"{sys.executable} has no NumPy, which compares outcomes: start {__file__} "
                     f"with {options.python}")
    names = options.names or sorted(path.stem for path in (HERE / "libraries").glob("*.py"))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=SOURCE, text=True,
                            capture_output=True).stdout.strip()
    rows = []
    print("| " + " | ".join(HEADER) + " |\n" + "|---" * len(HEADER) + "|")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            row = measure(name, options, folder)
        if options.log:
            with open(options.log, "a") as log:
                log.write(json.dumps({"bench": "libraries", "commit": commit,
                                      "machine": f"{os.cpu_count()} cores, {platform.machine()}",
                                      "load": os.getloadavg()[0], "threads": options.threads,
                                      **row}) + "\n")
        if "step_ratio" not in row:
            errors = row.get("hilo_error", ""), row.get("cpu_error", "")
            print(f"| {name} | {' | '.join(errors)} |", flush=True)
            continue
        rows.append(row)
        print("| " + " | ".join(cells(row)) + " |", flush=True)
    means = ", ".join(f"{key} {geometric_mean([row[f'{key}_ratio'] for row in rows]):.2f} x"
                      for key in ("step", "step_cpu", "first", "compile"))
    print(f"\n{len(rows)} programs: {means}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:])
    else:
        main()
