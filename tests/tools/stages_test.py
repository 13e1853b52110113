"""Dump folders from outside: one rule of choosing a stage for all commands, and their list."""
import json
import os
import unittest

from command_test import Folder, hilo

MODULE = """HloModule m
ENTRY main {
  a = f32[4]{0} parameter(0)
  ROOT r = f32[4]{0} OP(a)
}
"""
COMMANDS = [["run", "--seed=1"], ["check"], ["print"], ["convert", "--to=text"], ["opt"],
            ["bench", "--parse-only"], ["bisect", "--device=eval"], ["explain"],
            ["extract", "--only=r"], ["compile", "-o", "/dev/null", "--device"]]


class Stages(Folder):
    def dump(self, module="module_0001.jit_f", ops=("sine", "cosine", "tanh", "negate")):
        stages = ["before_optimizations", "0003.simplification.after_cse.before_dce",
                  "0012.fusion.after_dce.before_cse", "cpu_after_optimizations"]
        for stage, op in zip(stages, ops):
            self.write(f"{module}.{stage}.txt", MODULE.replace("OP", op))
        self.write(f"{module}.cpu_after_optimizations-buffer-assignment.txt", "nothing")
        self.write(f"{module}.execution_options.txt", "no module")

    def taken(self, *arguments):
        done = hilo("print", self.folder, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)  # one line says which
        return next(line for line in done.stdout.splitlines() if "ROOT" in line).split()[4][:-4]

    def test_stages_by_name_and_number(self):
        self.dump()
        for choice, op in [("", "negate"), ("after", "negate"), ("before", "sine"),
                           ("3", "cosine"), ("0012", "tanh"), ("12", "tanh"), ("cse", "cosine"),
                           ("after_dce", "tanh"), ("before_dce", "cosine"), ("fusion", "tanh"),
                           ("before_optimizations", "sine"), ("cpu_after", "negate")]:
            with self.subTest(choice):
                self.assertEqual(self.taken(*([f"--stage={choice}"] if choice else [])), op)

    def test_a_number_is_no_part_of_a_name(self):
        self.dump()
        done = hilo("check", self.folder, "--stage=2")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no stage 2; there are: ", done.stderr)

    def test_all_commands_choose(self):
        self.dump()
        for command, *options in COMMANDS:
            if "--device" in options:
                options = options[:-1]
            with self.subTest(command):
                done = hilo(command, self.folder, "--stage=3", *options)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(".0003.", done.stderr)
                self.assertNotIn(".0012.", done.stderr + done.stdout)
                done = hilo(command, self.folder, "--list-stages", *options)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(len(done.stdout.splitlines()), 5, done.stdout)
                done = hilo(command, self.folder, "--stage=nosuch", *options)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("0012.fusion.after_dce.before_cse", done.stderr)
                one = os.path.join(self.folder, "module_0001.jit_f.before_optimizations.txt")
                done = hilo(command, one, "--stage=before", *options)
                self.assertEqual(done.returncode, 2 if command != "check" else 1, done.stderr)
                self.assertIn("is no dump folder", done.stderr)

    def test_list(self):
        self.dump(ops=("sine", "sine", "tanh", "negate"))
        done = hilo("check", self.folder, "--list-stages", "--json")
        document = json.loads(done.stdout)
        self.assertEqual((document["schema"], document["module"]),
                         ("hilo.stages.1", "module_0001.jit_f"))
        self.assertEqual([(s["number"], s["instructions"], s["changed"])
                          for s in document["stages"]],
                         [(None, 2, False), (3, 2, False), (12, 2, True), (None, 2, True)])

    def test_numbers_are_ordered_as_numbers(self):
        for name, op in (("0-written", "sine"), ("9-optimised", "tanh"), ("10-windows", "cosine")):
            self.write(f"{name}.hlo", MODULE.replace("OP", op))
        self.assertEqual(self.taken(), "cosine")
        self.assertEqual(self.taken("--stage=9"), "tanh")

    def test_largest_of_several_modules(self):
        self.dump("module_0001.jit_f")
        self.dump("module_0002.jit_tiny")
        big = MODULE.replace("ROOT", "b = f32[4]{0} abs(a)\n  ROOT").replace("OP(a)", "exponential(b)")
        self.write("module_0001.jit_f.cpu_after_optimizations.txt", big)
        self.assertEqual(self.taken(), "exponential")
        self.assertEqual(self.taken("--module=tiny"), "negate")
        self.assertEqual(self.taken("--module=tiny", "--stage=before"), "sine")
        done = hilo("print", self.folder)
        self.assertIn("the largest of 2 modules", done.stderr)
        self.assertIn("module_0002.jit_tiny", done.stderr)
        done = hilo("print", self.folder, "--module=none")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there are: module_0001.jit_f, module_0002.jit_tiny", done.stderr)

    def test_hundreds_of_stages_are_one_line(self):
        for i in range(300):
            self.write(f"module_0001.jit_f.{i:04}.p.after_a{i}.before_b.txt",
                       MODULE.replace("OP", "sine" if i < 299 else "tanh"))
        self.assertEqual(self.taken(), "tanh")
        done = hilo("explain", self.folder)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
