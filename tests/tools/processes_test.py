"""hilo run in several processes: same bits as in one, and errors that name the rank, on all of them."""
import os
import shutil
import signal
import socket
import subprocess
import time
import unittest
import zipfile
from pathlib import Path

from command_test import HILO, Folder

SUMS = """HloModule sums, num_partitions=4
sum { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }
ENTRY main {
  a = f32[1024] parameter(0)
  s = f32[1024] all-reduce(a), replica_groups={{0,1,2,3}}, channel_id=1, use_global_device_ids=true, to_apply=sum, metadata={op_name="s" source_file="sums.py" source_line=7}
  g = f32[4096] all-gather(s), dimensions={0}, replica_groups={{3,1,2,0}}, channel_id=2, use_global_device_ids=true
  p = f32[1024] collective-permute(a), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}, channel_id=3
  t = f32[1024] all-to-all(p), dimensions={0}, replica_groups={{0,1,2,3}}, channel_id=4
  r = f32[256] reduce-scatter(t), dimensions={0}, replica_groups={{0,1,2,3}}, channel_id=5, use_global_device_ids=true, to_apply=sum
  ROOT out = (f32[4096], f32[1024], f32[256]) tuple(g, t, r)
}
"""
LOOP = """HloModule forever, num_partitions=2
sum { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }
body { s = f32[4] parameter(0)  ROOT t = f32[4] all-reduce(s), replica_groups={{0,1}}, channel_id=1, use_global_device_ids=true, to_apply=sum, metadata={op_name="t" source_file="forever.py" source_line=3} }
condition { s = f32[4] parameter(0)  ROOT c = pred[] constant(true) }
ENTRY main { a = f32[4] parameter(0)  ROOT w = f32[4] while(a), condition=condition, body=body }
"""
REPLICATED = """HloModule same, num_partitions=2
ENTRY main { a = f32[4] parameter(0), sharding={replicated}  ROOT b = f32[4] negate(a) }
"""


def free_port():
    with socket.socket() as one:
        one.bind(("", 0))
        return one.getsockname()[1]


def start(ranks, arguments_of, **options):
    """One process a rank; what one prints is read when it has ended."""
    coordinator = f"localhost:{free_port()}"
    return [subprocess.Popen(
        [HILO, "run", *arguments_of(rank), f"--processes={ranks}", f"--rank={rank}",
         f"--coordinator={coordinator}"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options) for rank in range(ranks)]


def end(processes, timeout=60):
    done = []
    for process in processes:
        out, error = process.communicate(timeout=timeout)
        done.append((process.returncode, out, error))
    return done


def arrays(path):
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


class Processes(Folder):
    def run_alone(self, module, *arguments):
        done = subprocess.run([HILO, "run", module, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_same_bits_as_in_one_process(self):
        module = self.write("sums.hlo", SUMS)
        for device in ("eval", "cpu"):
            alone = os.path.join(self.folder, f"alone_{device}.npz")
            self.run_alone(module, f"--device={device}", "--save", alone)
            for ranks in (2, 4):
                saved = os.path.join(self.folder, f"{device}_{ranks}.npz")
                done = end(start(ranks, lambda rank: [module, f"--device={device}", "--save", saved,
                                                      "--expected", alone]))
                for rank, (status, out, error) in enumerate(done):
                    self.assertEqual(status, 0, error)
                    self.assertEqual("agrees" in out, rank == 0, out)  # the first speaks for all
                self.assertEqual(arrays(saved), arrays(alone))

    def test_each_rank_saves_its_own(self):
        module = self.write("sums.hlo", SUMS)
        alone = os.path.join(self.folder, "alone.npz")
        self.run_alone(module, "--save", alone)
        done = end(start(2, lambda rank: [module, "--save", os.path.join(self.folder, "r{rank}.npz")]))
        self.assertEqual([status for status, _, _ in done], [0, 0], done)
        parts = [arrays(os.path.join(self.folder, f"r{rank}.npz")) for rank in range(2)]
        self.assertIn("out_0_dev1.npy", parts[0])
        self.assertIn("out_0_dev2.npy", parts[1])
        self.assertEqual({**parts[0], **parts[1]}, arrays(alone))

    def expect_everywhere(self, done, words, status=1):
        for rank, (code, _, error) in enumerate(done):
            self.assertEqual(code, status, error)
            self.assertIn(f"rank {rank}: ", error)
            for word in words:
                self.assertIn(word, error)

    def test_another_module_is_named(self):
        paths = [self.write(f"m{rank}.hlo", SUMS.replace("{0,1},{1,2},{2,3},{3,0}", "{0,3},{1,2},{2,1},{3,0}") if rank == 2 else SUMS)
                 for rank in range(4)]
        done = end(start(4, lambda rank: [paths[rank]]))
        self.expect_everywhere(done, ["rank 2 has another module than rank 0"])

    def test_other_options_are_named(self):
        module = self.write("sums.hlo", SUMS)
        done = end(start(2, lambda rank: [module, f"--seed={rank}"]))
        self.expect_everywhere(done, ["rank 1 has another set of options than rank 0", "--seed=1"])

    def test_another_value_of_a_replicated_parameter_is_named(self):
        module = self.write("same.hlo", REPLICATED)
        files = []
        for rank in range(2):
            value = self.write(f"x{rank}.bin", bytes([rank]) * 16)
            saved = os.path.join(self.folder, f"in{rank}.npz")
            self.run_alone(self.write("copy.hlo", "HloModule c\nENTRY e { a = f32[4] parameter(0)\n"
                                                  "  ROOT b = f32[4] copy(a) }\n"),
                           f"--input=4xf32=@{value}", "--save", saved)
            renamed = os.path.join(self.folder, f"i{rank}.npz")
            with zipfile.ZipFile(renamed, "w") as file:
                file.writestr("in_0.npy", arrays(saved)["out_0.npy"])
            files.append(renamed)
        done = end(start(2, lambda rank: [module, "--partitioned", "--inputs", files[rank]]))
        self.expect_everywhere(done, ["device 1 has another value of parameter 0 (a), which {replicated} "
                                      "makes the same as on device 0, than device 0"])

    def test_a_rank_whose_devices_differ_is_told_like_others(self):
        module = self.write("same.hlo", REPLICATED.replace("num_partitions=2", "num_partitions=4"))
        inputs = "--input=a=4xf32=1", "--input=a@3=4xf32=2"
        done = end(start(2, lambda rank: [module, "--partitioned", *inputs]))
        self.expect_everywhere(done, ["device 3 has another value of parameter 0 (a)", "than device 0"])

    def test_a_rank_that_fails_ends_all(self):
        module = self.write("sums.hlo", SUMS)
        done = end(start(2, lambda rank: [module if rank == 0 else "absent.hlo"]))
        self.expect_everywhere(done, ["absent.hlo"])

    def test_a_rank_that_does_not_come(self):
        module = self.write("sums.hlo", SUMS)
        both = start(2, lambda rank: [module, "--timeout=1"])
        both[1].send_signal(signal.SIGSTOP)
        try:
            status, _, error = end(both[:1])[0]
        finally:
            both[1].kill()
            both[1].communicate()
        self.assertEqual(status, 1)
        self.assertIn("rank 1 has not come within 1 s", error)

    def test_processes_must_divide_the_devices(self):
        module = self.write("sums.hlo", SUMS)
        done = end(start(3, lambda rank: [module]))
        self.expect_everywhere(done, ["3 processes cannot share the 4 devices of sums"], status=2)

    def wait_for_run(self, processes):
        time.sleep(1.5)
        for process in processes:
            self.assertIsNone(process.poll())

    def test_a_killed_rank_is_named_within_five_seconds(self):
        module = self.write("forever.hlo", LOOP)
        for device in ("eval", "cpu"):
            for fatal in (signal.SIGKILL, signal.SIGSTOP):  # dead, and dumb
                both = start(2, lambda rank: [module, f"--device={device}", "--partitioned"])
                self.wait_for_run(both)
                before = time.monotonic()
                both[1].send_signal(fatal)
                status, _, error = end(both[:1])[0]
                self.assertLess(time.monotonic() - before, 5.5)
                both[1].kill()
                both[1].communicate()
                self.assertEqual(status, 1)
                self.assertIn("rank 1 has died", error)
                self.assertIn("forever.hlo:3:", error)  # the instruction's line

    def test_a_timeout_says_what_each_waits_for(self):
        module = self.write("forever.hlo", LOOP)
        both = start(2, lambda rank: [module, "--device=eval", "--partitioned", f"--timeout={2 if rank == 0 else 60}"])
        done = end(both)
        self.assertEqual(done[0][0], 1)
        self.assertIn("stopped after 2 s (--timeout)", done[0][2])
        self.assertEqual(done[1][0], 1)
        self.assertIn("rank 0: ", done[1][2])


def mpi_launchers():
    found = [name for name in ("mpirun.openmpi", "mpirun.mpich") if shutil.which(name)]
    return found or [name for name in ("mpirun",) if shutil.which(name)]


@unittest.skipUnless(mpi_launchers(), "no mpirun")
class Mpi(Folder):
    def command(self, launcher, ranks, *arguments):
        rights = ["--allow-run-as-root", "--oversubscribe"] if "mpich" not in launcher else []
        return [launcher, *rights, "-n", str(ranks), HILO, "run", *arguments]

    def test_same_bits_as_in_one_process(self):
        module = self.write("sums.hlo", SUMS)
        alone = os.path.join(self.folder, "alone.npz")
        subprocess.run([HILO, "run", module, "--save", alone], check=True, capture_output=True)
        for launcher in mpi_launchers():
            for ranks in (2, 4):
                saved = os.path.join(self.folder, f"{launcher}_{ranks}.npz")
                done = subprocess.run(self.command(launcher, ranks, module, "--save", saved),
                                      capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout.count("out_0_dev0"), 1)
                self.assertEqual(arrays(saved), arrays(alone))

    def test_a_killed_rank_ends_all(self):
        """The launcher kills the others, MPICH's at once; who it was is said by them or by it."""
        module = self.write("forever.hlo", LOOP)
        for launcher in mpi_launchers():
            running = subprocess.Popen(self.command(launcher, 2, module, "--partitioned"), text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(4)
            ranks = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/cmdline")
                     if module.encode() in read(path) and read(path).startswith(HILO.encode())]
            self.assertEqual(len(ranks), 2, launcher)
            before = time.monotonic()
            os.kill(max(ranks), signal.SIGKILL)
            out, error = running.communicate(timeout=60)
            error += out
            self.assertLess(time.monotonic() - before, 5)
            self.assertRegex(error, r"rank [01] has died|signal 9")


def read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


if __name__ == "__main__":
    unittest.main(verbosity=2)
