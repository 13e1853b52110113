"""Our declarations of the PJRT C API and of XLA's FFI have the layouts that pypjrt has: each struct's
size, each field's place, each function's position."""

import ctypes
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

try:
    from pypjrt._abi import pjrt_0_114 as peer
except ImportError:
    print("skipped: pypjrt is absent (scripts/setup --peers installs it)")
    sys.exit(77)

SOURCE = Path(os.environ.get("HILO_SOURCE", Path(__file__).resolve().parents[2])) / "src"
HEADERS = ("pjrt/pjrt_abi.h", "pjrt/extensions_abi.h", "pjrt/ffi_abi.h")
# Ours are one struct where the peer has two of one layout.
SAME = {"XLA_FFI_Rets": "XLA_FFI_Args"}


def declared():
    """Names of the structs that our headers define."""
    text = "".join((SOURCE / header).read_text() for header in HEADERS)
    names = set(re.findall(r"^struct (\w+) \{", text, re.M))
    functions = (SOURCE / "pjrt/functions.def").read_text()
    names |= {f"PJRT_{name}_Args" for name in re.findall(r"^(?:VOID_)?FUNCTION\(\s*(\w+)", functions, re.M)}
    ffi = (SOURCE / "pjrt/ffi_functions.def").read_text()
    return names | {f"XLA_FFI_{name}_Args" for name in re.findall(r"^FFI_FUNCTION\([^,]*,\s*(\w+)", ffi, re.M)}


def claims(names):
    """One static_assert for each size and each field that the peer has."""
    for name in sorted(names):
        struct = getattr(peer, name, None)
        if struct is None:
            continue
        ours = SAME.get(name, name)
        yield f'static_assert(sizeof({ours}) == {ctypes.sizeof(struct)}, "{name}");'
        for field, *_ in struct._fields_:
            if field.startswith("_anon"):
                continue
            place = getattr(struct, field).offset
            yield f'static_assert(offsetof({ours}, {field}) == {place}, "{name}.{field}");'


def compiles(lines):
    program = "".join(f'#include "{header}"\n' for header in HEADERS) + "\n".join(lines) + "\n"
    command = ["g++", "-std=c++23", "-fsyntax-only", "-Wno-invalid-offsetof", f"-I{SOURCE}", "-xc++", "-"]
    return subprocess.run(command, input=program, capture_output=True, text=True)


class Abi(unittest.TestCase):
    def test_layouts(self):
        names = declared() & set(dir(peer))
        self.assertGreater(len(names), 140)
        result = compiles(claims(names))
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_what_is_wrong_is_found(self):
        wrong = 'static_assert(offsetof(PJRT_Program, format) == 8, "PJRT_Program.format");'
        self.assertIn("PJRT_Program.format", compiles([wrong]).stderr)

    def test_positions(self):
        rows = re.findall(r"^(?:FUNCTION|VOID_FUNCTION|ABSENT)\(\s*(\w+)",
                          (SOURCE / "pjrt/functions.def").read_text(), re.M)
        self.assertEqual([f"PJRT_{name}" for name in rows], list(peer.FUNCTIONS))

    def test_numbers(self):
        text = (SOURCE / "pjrt/buffer_types.def").read_text()
        for name, number in re.findall(r"^BUFFER_TYPE\((\w+), (\d+)", text, re.M):
            self.assertEqual(int(number), getattr(peer, f"PJRT_Buffer_Type_{name}"), name)
        enums = (SOURCE / "pjrt/pjrt_abi.h").read_text() + (SOURCE / "pjrt/ffi_abi.h").read_text()
        found = re.findall(r"\b((?:PJRT|XLA_FFI)_\w+) = (\d+)", enums)
        self.assertGreater(len(found), 30)
        for name, number in found:
            self.assertEqual(int(number), getattr(peer, name), name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
