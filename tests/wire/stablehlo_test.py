"""The corpus of StableHLO programs: as bytecode of the newest and of the oldest version, and as
text; read, checked, and with its values on the evaluator and on the CPU."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMMAND = os.environ["HILO_COMMAND"]
CORPUS = Path(os.environ.get("HILO_SHARED", "")) / "corpus" / "stablehlo"
if not os.environ.get("HILO_SHARED") or not CORPUS.is_dir():
    sys.exit(77)
PROGRAMS = json.loads((CORPUS / "index.json").read_text())
FORMS = ("new.mlirbc", "min.mlirbc", "mlir")


def hilo(*arguments):
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=600)


def files(wanted):
    """Names and files of the programs that are wanted, in every form."""
    return [(name, CORPUS / f"{name}.{form}")
            for name, entry in PROGRAMS.items() for form in FORMS if wanted(entry)]


class Corpus(unittest.TestCase):
    def test_checks(self):
        for _, file in files(lambda entry: not entry["dynamic"]):
            with self.subTest(file=file.name):
                done = hilo("check", file)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_values(self):
        for name, file in files(lambda entry: entry["expected"]):
            arrays = CORPUS / f"{name}.npz"
            for device in ("eval", "cpu"):
                with self.subTest(file=file.name, device=device):
                    done = hilo("run", file, f"--device={device}", "--inputs", arrays,
                                "--expected", arrays)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_open_dimensions(self):
        for _, file in files(lambda entry: entry["dynamic"]):
            with self.subTest(file=file.name):
                done = hilo("check", file)
                self.assertEqual(done.returncode, 1)
                self.assertIn("nothing says how large dimension 0 is", done.stderr)
        matmul = CORPUS / "dyn_matmul.mlir"
        done = hilo("print", matmul, "--argument-shapes=3x4xf32,4x2xf32", "--style=short")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("dot(", done.stdout)
        self.assertNotIn("?", done.stdout)
        done = hilo("check", matmul, "--argument-shapes=3x4xf32,5x2xf32")
        self.assertEqual(done.returncode, 1)
        self.assertIn("dimension size args[1].shape[0] (= 5)", done.stderr)

    def test_prints_as_hlo_that_reads_back(self):
        with tempfile.TemporaryDirectory() as folder:
            for _, file in files(lambda entry: not entry["dynamic"]):
                with self.subTest(file=file.name):
                    text = hilo("print", file).stdout
                    written = Path(folder) / "module.txt"
                    written.write_text(text)
                    self.assertEqual(hilo("print", written).stdout, text)


if __name__ == "__main__":
    unittest.main()
