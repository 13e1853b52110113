"""The reference evaluator calls no kernel: by the symbols of the library's objects."""

import os
import subprocess
import unittest
from pathlib import Path

BUILD = Path(os.environ["HILO_BUILD"])
SOURCE = Path(os.environ["HILO_SOURCE"])
OBJECTS = BUILD / "src/CMakeFiles/hilo.dir"


def symbols(objects, flag):
    """Demangled names of ours, defined in an object or missing there."""
    lines = subprocess.run(["nm", "--demangle", flag, *objects], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    return {line[19:] for line in lines if line[17:18] in "TWU" and "hilo::" in line}


def sources(folder):
    return sorted((SOURCE / "src" / folder).rglob("*.cpp"))


def object_of(path):
    return OBJECTS / path.relative_to(SOURCE / "src").with_suffix(".cpp.o")


class ReferenceSymbols(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.kernels = symbols([object_of(path) for path in sources("kernels")],
                                  "--defined-only")
        except (FileNotFoundError, subprocess.CalledProcessError) as error:
            raise unittest.SkipTest(f"nm reads no objects of this build: {error}") from error

    def kernels_of(self, path):
        return symbols([object_of(path)], "--undefined-only") & self.kernels

    def test_kernels_are_found(self):
        def called(name):
            return {symbol.split("(")[0] for symbol in self.kernels_of(SOURCE / "src/eval" / name)}
        self.assertIn("hilo::matmul", called("dot.cpp"))
        self.assertIn("hilo::PreparedFft::run", called("fft.cpp"))
        self.assertIn("long hilo::factor_cholesky<float>", called("custom_call_lapack.cpp"))

    def test_reference_calls_none(self):
        for path in sources("eval/reference"):
            self.assertEqual(self.kernels_of(path), set(), path.name)

    def test_ops_that_call_some_have_a_reference(self):
        references = [path.stem for path in sources("eval/reference")]
        for path in sorted((SOURCE / "src/eval").glob("*.cpp")):
            if called := self.kernels_of(path):  # X.cpp, or X_more.cpp, which belongs to it
                self.assertTrue(any(f"{path.stem}_".startswith(f"{op}_") for op in references),
                                f"{path.name} calls {sorted(called)}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
