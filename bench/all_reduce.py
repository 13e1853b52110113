#!/usr/bin/env python3
"""all_reduce.py [--hilo PATH] [--mebibytes 64] [--ranks 2,4] [--runs 10]: the least seconds of an
all-reduce of f32 in `hilo run` on so many processes, and of MPI_Allreduce of each MPI that is here.
One JSON document a line. Both sides sum in f32; Hilo's has the order of the ranks, MPI's has not."""

import argparse
import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

MODULE = """HloModule all_reduce, num_partitions={ranks}
sum {{ x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }}
ENTRY main {{
  a = f32[{count}] parameter(0)
  ROOT s = f32[{count}] all-reduce(a), replica_groups={{{{{group}}}}}, channel_id=1, use_global_device_ids=true, to_apply=sum
}}
"""


def of_hilo(hilo, ranks, count, runs, device):
    with tempfile.NamedTemporaryFile("w", suffix=".hlo") as module, socket.socket() as free:
        group = ",".join(str(rank) for rank in range(ranks))
        module.write(MODULE.format(ranks=ranks, count=count, group=group))
        module.flush()
        free.bind(("", 0))
        address = f"localhost:{free.getsockname()[1]}"
        free.close()
        processes = [subprocess.Popen(
            [hilo, "run", module.name, f"--device={device}", f"--runs={runs}", "--threads=1", "--json",
             f"--processes={ranks}", f"--rank={rank}", f"--coordinator={address}"],
            stdout=subprocess.PIPE, text=True) for rank in range(ranks)]
        outputs = [process.communicate()[0] for process in processes]
    return json.loads(outputs[0])["times"]["least_run_s"]


def mpi_rank(kind, count, runs):
    """One rank of the peer: what an MPI library takes by itself."""
    if kind == "openmpi":
        library = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
        world, number, add = (ctypes.addressof(ctypes.c_char.in_dll(library, name)) for name in
                              ("ompi_mpi_comm_world", "ompi_mpi_float", "ompi_mpi_op_sum"))
        handle = ctypes.c_void_p
    else:
        library = ctypes.CDLL("libmpich.so.12", mode=ctypes.RTLD_GLOBAL)
        world, number, add = 0x44000000, 0x4c00040a, 0x58000003
        handle = ctypes.c_int
    library.MPI_Init(None, None)
    rank = ctypes.c_int()
    library.MPI_Comm_rank(handle(world), ctypes.byref(rank))
    given, taken = (ctypes.c_float * count)(*([1.0] * 4)), (ctypes.c_float * count)()
    least = float("inf")
    for _ in range(runs + 1):
        library.MPI_Barrier(handle(world))
        start = time.perf_counter()
        library.MPI_Allreduce(given, taken, count, handle(number), handle(add), handle(world))
        least = min(least, time.perf_counter() - start)
    if rank.value == 0:
        print(least, flush=True)
    library.MPI_Finalize()


def of_mpi(launcher, ranks, count, runs):
    kind = "mpich" if "mpich" in launcher else "openmpi"
    rights = [] if kind == "mpich" else ["--allow-run-as-root", "--oversubscribe"]
    done = subprocess.run([launcher, *rights, "-n", str(ranks), sys.executable, __file__, "--as-rank", kind,
                           "--count", str(count), "--runs", str(runs)],
                          capture_output=True, text=True, check=True)
    return float(done.stdout.split()[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hilo", default=os.environ.get("HILO_COMMAND", "build/release/hilo"))
    parser.add_argument("--mebibytes", type=float, default=64)
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--as-rank", help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.as_rank:
        return mpi_rank(options.as_rank, options.count, options.runs)
    count = int(options.mebibytes * 2**20 / 4)
    for ranks in (int(text) for text in options.ranks.split(",")):
        row = {"ranks": ranks, "bytes": count * 4}
        for device in ("eval", "cpu"):
            row[f"hilo_{device}_s"] = of_hilo(options.hilo, ranks, count, options.runs, device)
        for launcher in ("mpirun.openmpi", "mpirun.mpich"):
            if shutil.which(launcher):
                row[launcher.split(".")[1] + "_s"] = of_mpi(launcher, ranks, count, options.runs)
        print(json.dumps(row), flush=True)
    return None


if __name__ == "__main__":
    main()
