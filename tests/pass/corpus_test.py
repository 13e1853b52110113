"""The pipeline on every module of the corpus, verified after each pass; the small ones must compute
what they computed before. Skips where HILO_SHARED has no corpus."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HILO = os.environ.get("HILO_COMMAND", "build/release/hilo")
CORPUS = Path(os.environ.get("HILO_SHARED", "../shared")) / "corpus"
MOST_BYTES = 1_000_000  # of values of a module that is run
MOST_TEXT = 120_000


def hilo(*arguments, seconds=120):
    return subprocess.run([HILO, *map(str, arguments)], capture_output=True, text=True,
                          timeout=seconds)


def errors(done):
    return "\n".join(line for line in done.stderr.splitlines() if "warning" not in line)[-2000:]


def modules():
    """All but what users reported, some of which is refused."""
    return sorted(module for module in CORPUS.rglob("*.hlo") if module.parent.name != "reports")


def values_of(module):
    """The file of inputs and expected outputs of a module, or None."""
    if module.parent.parent.name == "hlo":
        found = module.parent.parent / "expected" / f"{module.stem}.npz"
    else:
        found = module.parent / "io.npz"
        if module.stem == "before" and (module.parent / "io_global.npz").exists():
            found = module.parent / "io_global.npz"
    return found if found.exists() else None


class Corpus(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = os.path.join(folder.name, "after.hlo")

    def test_every_module_stays_sound(self):
        for module in modules():
            with self.subTest(module=str(module.relative_to(CORPUS))):
                done = hilo("opt", module, "--pipeline=expand-and-fuse", "--verify", "-o", self.out)
                self.assertEqual(done.returncode, 0, errors(done))
                done = hilo("check", self.out)
                self.assertEqual(done.returncode, 0, errors(done))

    def test_small_modules_keep_their_values(self):
        ran = 0
        for module in modules():
            values = values_of(module)
            # Programs of whole arrays are partitioned when they run, and no pass for one device comes before.
            is_whole = module.parent.parent.name == "spmd" and module.stem.startswith(("before", "propagated"))
            small = values and values.stat().st_size < MOST_BYTES and not is_whole
            if not small or module.stat().st_size > MOST_TEXT:
                continue
            with self.subTest(module=str(module.relative_to(CORPUS))):
                before = hilo("run", module, "--device=eval", "--inputs", values, "--expected", values)
                if before.returncode != 0:  # not this test's business
                    continue
                for pipeline in "expand-and-fuse", "cpu":
                    done = hilo("opt", module, "--pipeline", pipeline, "--verify", "-o", self.out)
                    self.assertEqual(done.returncode, 0, errors(done))
                    after = hilo("run", self.out, "--device=eval", "--inputs", values, "--expected", values)
                    self.assertEqual(after.returncode, 0, pipeline + errors(after) + after.stdout[-2000:])
                ran += 1
        self.assertGreater(ran, 20)


if __name__ == "__main__":
    if not CORPUS.is_dir():
        sys.exit(77)
    unittest.main(verbosity=2)
