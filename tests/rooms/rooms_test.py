"""src/ keeps the rule of rooms, and the checker finds each way to break it."""

import os
import tempfile
import unittest
from pathlib import Path

import rooms

SOURCE = Path(os.environ.get("HILO_SOURCE", Path(__file__).resolve().parents[2]))


class Rooms(unittest.TestCase):
    def errors_of(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return rooms.check(Path(folder))

    def expect_one(self, files, message):
        errors = self.errors_of(files)
        self.assertEqual(len(errors), 1, errors)
        self.assertIn(message, errors[0])

    def test_source_keeps_the_rule(self):
        errors = rooms.check(SOURCE)
        self.assertEqual(errors, [], "\n" + "\n".join(errors))

    def test_sound_includes_pass(self):
        text = '#include "ir/ir.h"\n#include "ir/ops.def"\n#include "text/lexer.h"\n#include <map>\n'
        self.assertEqual(self.errors_of({"src/text/parser.cpp": text}), [])

    def test_upward_include(self):
        self.expect_one({"src/ir/a.cpp": '\n#include "text/text.h"\n'}, "src/ir/a.cpp:2: \"text/text.h\" goes up")

    def test_upward_table(self):
        self.expect_one({"src/base/a.h": '#include "ir/ops.def"\n'}, "goes up")

    def test_private_header(self):
        self.expect_one({"src/eval/a.cpp": '#include "text/lexer.h"\n'}, "private to text")

    def test_kernels_know_no_instructions(self):
        self.expect_one({"src/kernels/gemm/a.cpp": '#include "ir/ir.h"\n'}, "is not for kernels")
        self.expect_one({"src/kernels/gemm/a.cpp": "int f(const Literal&);\n"}, "knows no Literal")
        text = '#include "shape/shape.h"\n#include "machine/machine.h"\n// Literal\n'
        self.assertEqual(self.errors_of({"src/kernels/gemm/a.cpp": text}), [])

    def test_relative_include(self):
        self.expect_one({"src/eval/a.cpp": '#include "../ir/ir.h"\n'}, "must be written from src/")
        self.expect_one({"src/eval/a.cpp": '#include "call.h"\n'}, "must be written from src/")

    def test_angle_include_of_ours(self):
        self.expect_one({"src/eval/a.cpp": "#include <ir/ir.h>\n"}, "write it in quotes")

    def test_commented_include_does_not_count(self):
        text = '/*\n#include "tools/tools.h"\n*/\n// #include "tools/tools.h"\n'
        self.assertEqual(self.errors_of({"src/base/a.h": text}), [])

    def test_unknown_room(self):
        self.expect_one({"src/kitchen/a.cpp": ""}, "src/kitchen: not in the list of rooms")

    def test_nameless_files_and_folders(self):
        self.expect_one({"src/ir/util.h": ""}, "has no name yet")
        self.expect_one({"src/common/a.h": ""}, "has no name yet")
        self.expect_one({"tests/helpers/a.h": "", "src/ir/a.h": ""}, "has no name yet")

    def test_file_outside_rooms(self):
        self.expect_one({"src/a.cpp": ""}, "stands in no room")

    def test_switch_over_opcodes(self):
        text = "int f(Op op) {\n  switch (op) {\n    case Op::Add: return 1;\n  }\n}\n"
        self.expect_one({"src/eval/a.cpp": text}, "src/eval/a.cpp:3: a switch over opcodes")


if __name__ == "__main__":
    unittest.main(verbosity=2)
