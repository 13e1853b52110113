"""StableHLO that hilo convert writes, text and bytecode of several versions: it reads back as the
same module, jaxlib reads both as one program, and XLA's CPU compiler gives the values that the
original has."""
import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import jax
import ml_dtypes
import numpy as np
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from jaxlib import xla_client

jax.config.update("jax_enable_x64", True)

HILO = os.environ.get("HILO_COMMAND", "build/hilo")
SHARED = os.environ.get("HILO_SHARED", "")
CORPUS = Path(SHARED, "corpus/stablehlo")
VERSIONS = ("1.0.0", "1.8.0", "1.17.0")
# Tuples that the program names itself are taken apart.
OTHER_MODULES = {"map_tuple_token"}


def hilo(*arguments):
    return subprocess.run([HILO, *map(str, arguments)], capture_output=True, text=True)


def canonical(text):
    """HLO text with names by their order, and without what only names things."""
    names = {}
    out = []
    for line in text.splitlines():
        line = re.sub(r"^HloModule [\w.-]+", "HloModule m", line)
        line = re.sub(r"^(ENTRY )?(%[\w.-]+) \(.*\{$", r"\1\2 {", line)
        out.append(re.sub(r"%[\w.-]+", lambda m: names.setdefault(m[0], f"%{len(names)}"), line))
    return out


def programs():
    if not CORPUS.is_dir():
        return []
    index = json.loads((CORPUS / "index.json").read_text())
    return sorted(index.items())


def parsed(path):
    """The program as jaxlib prints it, without locations."""
    with jax_mlir.make_ir_context() as context, ir.Location.unknown():
        if path.suffix == ".mlirbc":
            module = stablehlo.deserialize_portable_artifact(context, path.read_bytes())
        else:
            module = ir.Module.parse(path.read_text())
        module.operation.verify()
        return str(module)


def run(path, inputs):
    """Values of the program by XLA's CPU compiler."""
    device = jax.devices("cpu")[0]
    devices = xla_client.DeviceList((device,))
    with jax_mlir.make_ir_context() as context:
        code = stablehlo.deserialize_portable_artifact(context, path.read_bytes())
        types = [argument.type for argument in code.body.operations[0].arguments]
        for operation in code.body.operations:
            if operation.attributes["sym_name"].value == "main":
                types = [argument.type for argument in operation.arguments]
        elements = [str(ir.RankedTensorType(t).element_type) for t in types]
        text = str(code)
    executable = device.client.compile_and_load(
        text.encode(), devices, xla_client.CompileOptions())
    given = [jax.device_put(as_type(value, element), device)
             for value, element in zip(inputs, elements)]
    return [np.asarray(one[0]) for one in
            executable.execute_sharded(given).disassemble_into_single_device_arrays()]


NARROW = {"bf16": ml_dtypes.bfloat16, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
          "f8E5M2": ml_dtypes.float8_e5m2, "i4": ml_dtypes.int4, "ui4": ml_dtypes.uint4}


def as_type(value, element):
    if element not in NARROW:
        return value
    if element in ("i4", "ui4"):
        return value.astype(np.int8).astype(NARROW[element])
    return value.view(NARROW[element])


def differs(got, expected):
    if got.dtype.itemsize == expected.dtype.itemsize and got.dtype != expected.dtype:
        expected = expected.view(got.dtype)
    if got.dtype.kind in "biu":
        return not np.array_equal(got, expected)
    narrow = got.dtype.itemsize < 4
    got, expected = got.astype(np.complex128), expected.astype(np.complex128)
    if got.size == 0:
        return False
    finite = np.abs(expected)[np.isfinite(expected)]
    scale = (5e-2 if narrow else 1e-4) * max(finite.max() if finite.size else 0, 1e-30)
    return not np.allclose(got, expected, rtol=0, atol=scale, equal_nan=True)


class Write(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        jax.numpy.linalg.qr(np.eye(2, dtype=np.float32))  # loads LAPACK for custom calls

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, source, name, *arguments):
        path = Path(self.folder.name, name)
        return path, hilo("convert", source, "-o", path, *arguments)

    def forms(self, source):
        """The text and the versions that hold the program; refusals name what is too new."""
        path, done = self.write(source, "m.mlir")
        self.assertEqual(done.returncode, 0, done.stderr)
        yield path
        for version in VERSIONS:
            path, done = self.write(source, f"m.{version}.mlirbc", f"--stablehlo-version={version}")
            if done.returncode != 0 and version != VERSIONS[-1]:
                self.assertIn("came with StableHLO", done.stderr)
                continue
            self.assertEqual(done.returncode, 0, done.stderr)
            yield path

    def test_programs(self):
        if not programs():
            self.skipTest("HILO_SHARED names no folder with a corpus")
        for name, about in programs():
            if about["dynamic"]:
                continue
            with self.subTest(name):
                self.check_program(name, about)

    def test_hlo_modules(self):
        """Modules as JAX hands them over: both forms are one program to jaxlib, and read back."""
        modules = sorted(Path(SHARED, "corpus").glob("*/*/before.hlo")) if CORPUS.is_dir() else []
        if not modules:
            self.skipTest("HILO_SHARED names no folder with a corpus")
        for source in modules:
            with self.subTest(source.parent.name):
                text, done = self.write(source, "m.mlir")
                self.assertEqual(done.returncode, 0, done.stderr)
                bytecode, done = self.write(source, "m.mlirbc")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(parsed(text), parsed(bytecode))
                again = hilo("print", bytecode)
                self.assertEqual(again.returncode, 0, again.stderr)

    def test_optimised_modules_keep_their_values(self):
        """Layouts, tiles, fusions and starts are gone; what is computed is not. Refusals are known."""
        modules = sorted(Path(SHARED, "corpus").glob("[tg]pu/*/after.hlo")) if CORPUS.is_dir() else []
        if not modules:
            self.skipTest("HILO_SHARED names no folder with a corpus")
        written = 0
        for source in modules:
            if source.parent.name.startswith("big"):
                continue
            with self.subTest(source.parent.name):
                path, done = self.write(source, "m.mlirbc")
                if done.returncode != 0:
                    self.assertRegex(done.stderr, "pads the tiles|labels of a convolution|widths of floats are mixed")
                    continue
                written += 1
                values = source.parent / "io.npz"
                done = hilo("run", path, "--inputs", values, "--expected", values, "-q", "--device=eval")
                self.assertEqual(done.returncode, 0, done.stdout[:400] + done.stderr[:400])
        self.assertGreater(written, len(modules) // 2)

    def check_program(self, name, about):
        source = CORPUS / f"{name}.new.mlirbc"
        printed = canonical(hilo("print", source).stdout)
        self.assertTrue(printed)
        texts = {}
        for path in self.forms(source):
            texts[path.name] = parsed(path)
            again = hilo("print", path)
            if "is not read yet" in again.stderr:
                continue
            self.assertEqual(again.returncode, 0, again.stderr)
            # Before 1.1.0 they become part of the index vectors; the values are compared below.
            is_without_batching = path.name == "m.1.0.0.mlirbc" and "_batching_dims=" in "".join(printed)
            if name not in OTHER_MODULES and not is_without_batching:
                self.assertEqual(canonical(again.stdout), printed, path.name)
        self.assertEqual(texts["m.mlir"], texts["m.1.17.0.mlirbc"])
        if not about["expected"] or about["devices"] != 1:
            return
        with np.load(CORPUS / f"{name}.npz") as arrays:
            inputs = [arrays[f"in_{i}"] for i in range(about["inputs"])]
            outputs = [arrays[k] for k in sorted((k for k in arrays if k.startswith("out_")),
                                                 key=lambda k: int(k[4:]))]
        for version in ("1.0.0", "1.17.0"):
            got = run(Path(self.folder.name, f"m.{version}.mlirbc"), inputs)
            self.assertEqual(len(got), len(outputs))
            for i, (one, expected) in enumerate(zip(got, outputs)):
                self.assertFalse(differs(one, expected), f"{name} at {version}: result {i}")



if __name__ == "__main__":
    unittest.main()
