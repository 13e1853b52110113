"""The collectives pipeline on partitioned programs of the corpus: values stay, and no program sends
more than before. Skips where HILO_SHARED has no corpus."""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HILO = os.environ.get("HILO_COMMAND", "build/release/hilo")
SHARED = Path(os.environ.get("HILO_SHARED", "../shared"))
CORPUS = SHARED / "corpus/spmd"
# What the set may send of what it sends as it comes: 0.834 and 0.825 were measured.
LIMIT = 0.84


def hilo(*arguments, seconds=120):
    return subprocess.run([HILO, *map(str, arguments)], capture_output=True, text=True,
                          timeout=seconds)


def sent_bytes(module):
    spec = importlib.util.spec_from_file_location("bytes", SHARED / "tools/collective_bytes.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool.summary(module.read_text())["bytes"]


class Corpus(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name) / "after.hlo"

    def check(self, module):
        """Bytes before and after."""
        done = hilo("opt", module, "--pipeline=collectives", "--verify", "-o", self.out)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        values = module.parent / "io.npz"
        run = ["--device=eval", "--inputs", values, "--expected", values]
        before = hilo("run", module, *run)
        after = hilo("run", self.out, *run)
        self.assertEqual(after.returncode, before.returncode, (after.stdout + after.stderr)[-2000:])
        return sent_bytes(module), sent_bytes(self.out)

    def check_all(self, name):
        modules = sorted(CORPUS.glob(f"*/{name}"))
        self.assertGreater(len(modules), 50)
        before = after = 0
        for module in modules:
            with self.subTest(module=module.parent.name):
                old, new = self.check(module)
                self.assertLessEqual(new, old)
                before, after = before + old, after + new
        print(f"\n{name}: {after:.0f} of {before:.0f} bytes a device, {after / before:.3f}")
        self.assertLessEqual(after, LIMIT * before)

    def test_values_stay_beside_computation(self):
        """Rings, joined collectives, fusions, gathers inside products, another order."""
        fused = 0
        for module in sorted(CORPUS.glob("*/partitioned.hlo")):
            values = module.parent / "io.npz"
            if not values.exists():
                continue
            with self.subTest(module=module.parent.name):
                done = hilo("opt", module, "--pipeline=collectives,overlap", "--target=v5e",
                            "--verify", "-o", self.out)
                self.assertEqual(done.returncode, 0, done.stderr[-2000:])
                fused += self.out.read_text().count('"AsyncCollectiveStart"')
                run = ["--device=cpu", "--inputs", values, "--expected", values]
                before, after = hilo("run", module, *run), hilo("run", self.out, *run)
                self.assertEqual(after.returncode, before.returncode,
                                 (after.stdout + after.stderr)[-2000:])
        self.assertGreater(fused, 0)

    def test_partitioned_from_shardy(self):
        self.check_all("partitioned.hlo")

    def test_partitioned_from_gspmd(self):
        self.check_all("partitioned_gspmd.hlo")


if __name__ == "__main__":
    if not CORPUS.is_dir():
        sys.exit(77)
    unittest.main(verbosity=2)
