"""The compilation cache, dumps, times, processors and threads, from outside."""
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import unittest

HILO = os.environ.get("HILO_COMMAND", "build/hilo")
# Code that reads a constant and calls libm: both lie at other addresses in each process.
MODULE = """HloModule two
ENTRY main {
  a = f32[64,64] parameter(0)
  angle = f64[4] parameter(1)
  i = s32[] parameter(2)
  table = f32[5] constant({1, 2, 4, 8, 16})
  one = f32[1] dynamic-slice(table, i), dynamic_slice_sizes={1}
  number = f32[] reshape(one)
  spread = f32[64,64] broadcast(number), dimensions={}
  e = f32[64,64] exponential(a)
  sum = f32[64,64] add(e, spread)
  tangents = f64[4] tan(angle)
  ROOT r = (f32[64,64], f64[4]) tuple(sum, tangents)
}
"""


def hilo(*arguments, text=MODULE, **environment):
    return subprocess.run([HILO, *arguments], input=text, capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})


def has_compiler():
    return "libhilo_emit" not in hilo("run", "-", "--device=cpu").stderr


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "cache", "inner")


class Cache(WithFolder):
    def run_cached(self, *arguments, text=MODULE, **environment):
        done = hilo("run", "-", "--seed=1", "--json", *arguments, text=text,
                    **{"HILO_CACHE": self.folder, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        cache = document["compiled"]["cache"]
        return cache["hits"], cache["misses"], done.stderr

    def outputs(self, **environment):
        return re.findall(r"out_.*", hilo("run", "-", "--seed=1", **environment).stdout)

    def entries(self):
        return sorted(os.path.join(self.folder, name) for name in os.listdir(self.folder))

    def filled(self):
        self.assertEqual(self.run_cached()[:2], (0, {"nothing there": 1}))
        [entry] = self.entries()
        return entry

    def rebuilt(self, why):
        """What stands there is not taken, and is made anew."""
        hits, misses, _ = self.run_cached()
        self.assertEqual((hits, misses), (0, {why: 1}))
        self.assertEqual(self.run_cached()[0], 1)

    def test_second_time_is_taken(self):
        entry = self.filled()
        self.assertEqual(stat.S_IMODE(os.stat(self.folder).st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(self.folder)).st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(os.stat(entry).st_mode), 0o600)
        self.assertEqual(self.run_cached()[:2], (1, {}))
        self.assertEqual(self.outputs(HILO_CACHE=self.folder), self.outputs(HILO_CACHE=""))

    def test_other_constants_share_code_and_keep_their_values(self):
        self.filled()
        text = MODULE.replace("{1, 2, 4, 8, 16}", "{0, 0, 0, 0, 0}")
        cached = hilo("run", "-", "--seed=1", text=text, HILO_CACHE=self.folder)
        self.assertEqual(cached.stdout, hilo("run", "-", "--seed=1", text=text).stdout)

    def test_cut_and_changed(self):
        entry = self.filled()
        with open(entry, "rb") as file:
            whole = file.read()
        for length in (0, 5, whole.index(b"sha256") + 20, len(whole) // 2, len(whole) - 1):
            with open(entry, "wb") as file:
                file.write(whole[:length])
            self.rebuilt("damaged")
        for position in (0, whole.index(b"ir ") + 5, whole.index(b"sha256") + 9, len(whole) - 100):
            changed = bytearray(whole)
            changed[position] ^= 1
            with open(entry, "wb") as file:
                file.write(changed)
            self.rebuilt("damaged")
        with open(entry, "ab") as file:
            file.write(b"more")
        self.rebuilt("damaged")

    def test_what_is_no_file_of_ours(self):
        entry = self.filled()
        os.chmod(entry, 0o666)
        self.rebuilt("writable for others")
        aside = entry + ".aside"
        os.rename(entry, aside)
        os.symlink(aside, entry)
        self.rebuilt("not a regular file")
        os.remove(entry)
        os.mkfifo(entry)
        self.rebuilt("not a regular file")
        if os.geteuid() == 0:
            os.chown(entry, 12345, -1)
            self.rebuilt("owned by another user")

    def test_folder_that_cannot_be_used(self):
        os.makedirs(self.folder)
        os.chmod(self.folder, 0o777)
        _, misses, stderr = self.run_cached()
        self.assertEqual((misses, self.entries()), ({}, []))
        self.assertIn("writable for others", stderr)
        file = os.path.join(self.folder, "file")
        with open(file, "w"):
            pass
        self.assertIn("cannot be opened", self.run_cached(HILO_CACHE=file + "/below")[2])

    def test_why_it_missed(self):
        entry = self.filled()
        with open(entry, "rb") as file:
            whole = file.read()
        os.remove(entry)
        other = re.sub(r"-[0-9a-f]{16}\.", "-0123456789abcdef.", entry)
        for line, why in ((b"cpu", "made for another processor (other)"), (b"hilo", "made by another version of Hilo"),
                          (b"llvm", "made by another version of Hilo")):
            with open(other, "wb") as file:
                file.write(re.sub(rb"\n" + line + rb" [^\n]*", b"\n" + line + b" other", whole))
            self.assertEqual(self.run_cached()[1], {why: 1})
            os.remove(entry)
        done = hilo("run", "-", "--time-passes", HILO_CACHE=self.folder)
        self.assertIn("cache: 1 compiled: made by another version of Hilo", done.stderr)

    def test_size_is_bounded(self):
        for count in range(64, 72):
            self.run_cached(text=MODULE.replace("64,64", f"64,{count}"), HILO_CACHE_SIZE="20KiB")
        self.assertLess(sum(os.path.getsize(entry) for entry in self.entries()), 20 * 1024)
        # The newest of them stayed.
        self.assertEqual(self.run_cached(text=MODULE.replace("64,64", "64,71"))[0], 1)
        self.assertEqual(self.run_cached(text=MODULE.replace("64,64", "64,64"))[0], 0)
        self.assertEqual(hilo("run", "-", HILO_CACHE=self.folder, HILO_CACHE_SIZE="much").returncode, 2)

    def test_several_write_at_once(self):
        running = [subprocess.Popen([HILO, "run", "-", "--seed=1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True, env={**os.environ, "HILO_CACHE": self.folder})
                   for _ in range(4)]
        outputs = {one.communicate(MODULE)[0] for one in running}
        self.assertEqual(len(outputs), 1)
        self.assertEqual(len(self.entries()), 1)
        self.assertEqual(self.run_cached()[0], 1)


class Options(WithFolder):
    def test_dumps_every_stage_in_order(self):
        arguments = [["run", "-"], ["bench", "-", "--runs=1"], ["compile", "-", "-o", os.devnull, "--name=two"]]
        for number, command in enumerate(arguments):
            folder = f"{self.folder}{number}"
            done = hilo(*command, "--dump-to", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            names = sorted(os.listdir(folder))
            self.assertEqual([int(name[:4]) for name in names], list(range(1, len(names) + 1)))
            self.assertEqual(names[0], "0001.before_optimizations.txt")
            self.assertRegex(names[1], r"after_[a-z-]+\.txt$")
            self.assertEqual([name[5:] for name in names[-4:]], ["plan.txt", "before.ll", "after.ll", "code.s"])
            texts = []
            for name in names:
                with open(os.path.join(folder, name)) as file:
                    texts.append(file.read())
            self.assertIn("HloModule two", texts[0])
            self.assertEqual(texts[0], hilo("print", "-").stdout)
            self.assertEqual(hilo("check", os.path.join(folder, names[-5])).returncode, 0)
            self.assertIn("allocation 0", texts[-4])
            self.assertIn("@hilo.constant", texts[-3])
            self.assertNotIn("inttoptr", texts[-3])  # no address of this process
            self.assertRegex(texts[-2], r"<\d+ x float>")  # vectors
            self.assertIn(".text", texts[-1])

    def test_times(self):
        done = hilo("run", "-", "--time-passes")
        for stage in ("fusion", "plan", "LLVM's passes", "LLVM's code generator", "linking", "all"):
            self.assertRegex(done.stderr, rf"(?m)^ *\d+\.\d+ +\d+\.\d  {stage}")

    def test_processors(self):
        done = hilo("run", "-", "--target-cpu=x86-64-v33")
        self.assertEqual(done.returncode, 2)
        self.assertIn("near it: x86-64-v3", done.stderr)
        if os.uname().machine != "x86_64":
            return
        self.assertEqual(hilo("run", "-", "--target-cpu=x86-64").returncode, 0)
        refused = []
        for name in ("diamondrapids", "bdver4"):  # no processor has the features of both
            done = hilo("bench", "-", "--runs=1", "--target-cpu", name)
            refused += [done.stderr] * (done.returncode == 1)
            # An object file may be for another machine.
            done = hilo("compile", "-", "-o", os.devnull, "--name=two", "--target-cpu", name)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("which this machine lacks", refused[0])

    def test_threads(self):
        def threads(*arguments, **environment):
            return json.loads(hilo("bench", "-", "--runs=1", *arguments, **environment).stdout)["threads"]
        self.assertEqual(threads(HILO_THREADS="3"), 3)
        self.assertEqual(threads("--threads=2", HILO_THREADS="3"), 2)
        for wrong in ("three", "-1", "3x", "99999999999"):
            done = hilo("run", "-", HILO_THREADS=wrong)
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn("HILO_THREADS", done.stderr)

    def test_threads_keep_to_affinity(self):
        one = {min(os.sched_getaffinity(0))}
        done = subprocess.run([HILO, "bench", "-", "--runs=1"], input=MODULE, capture_output=True, text=True,
                              env={key: value for key, value in os.environ.items() if key != "HILO_THREADS"},
                              preexec_fn=lambda: os.sched_setaffinity(0, one))
        self.assertEqual(json.loads(done.stdout)["threads"], 1)


if __name__ == "__main__":
    if not has_compiler():
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=1)
