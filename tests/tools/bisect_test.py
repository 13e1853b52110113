"""hilo bisect from outside: faults that are there are found where they are."""
import json
import os
import unittest

from command_test import Folder, hilo

MODULE = """HloModule divide
ENTRY main {
  a = f32[64]{0} parameter(0)
  three = f32[] constant(3)
  threes = f32[64]{0} broadcast(three), dimensions={}
  one = f32[] constant(1)
  ones = f32[64]{0} broadcast(one), dimensions={}
  b = f32[64]{0} multiply(a, ones)
  c = f32[64]{0} divide(b, threes)
  ROOT d = f32[64]{0} add(c, b)
}
"""
FAULTY = MODULE.replace("add(c, b)", "subtract(c, b)")
FUNCTIONS = """HloModule functions
less {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT less = pred[] compare(x, y), direction=LT
}
ENTRY main {
  a = f32[65536]{0} parameter(0)
  b = f32[65536]{0} sort(a), dimensions={0}, to_apply=less
  c = f32[65536]{0} tanh(b)
  ROOT d = f32[65536]{0} exponential(c)
}
"""


class Bisect(Folder):
    def dump(self, texts):
        """A dump folder as XLA writes it: before, each pass by number, after."""
        last = len(texts) - 1
        for i, text in enumerate(texts):
            stage = (f"{i:04}.simplification.after_p{i}.before_p{i + 1}" if 0 < i < last
                     else "before_optimizations" if i == 0 else "cpu_after_optimizations")
            self.write(f"module_0001.divide.{stage}.txt", text)
        return self.folder

    def bisect(self, *arguments):
        done = hilo("bisect", *arguments, "--json")
        self.assertIn(done.returncode, (0, 3), done.stderr)
        return done.returncode, json.loads(done.stdout)

    def test_the_stage_of_a_dump_that_changes_the_values(self):
        for fault in range(1, 8):
            folder = self.dump([MODULE] * fault + [FAULTY] * (8 - fault))
            status, found = self.bisect(folder)
            self.assertEqual((status, found["found"]), (3, "stage"))
            order = sorted(os.listdir(folder))
            order.insert(0, order.pop(order.index("module_0001.divide.before_optimizations.txt")))
            self.assertEqual([os.path.basename(found[side]) for side in ("before", "after")],
                             order[fault - 1:fault + 1])
            self.assertEqual(found["lines"], ["-   ROOT d = f32[64]{0} add(c, b)",
                                              "+   ROOT d = f32[64]{0} subtract(c, b)"])

    def test_stages_that_cannot_be_run_are_passed_over(self):
        broken = "HloModule nothing\n"
        other = MODULE.replace("[64]", "[32]")
        folder = self.dump([MODULE, MODULE, broken, other, broken, FAULTY, FAULTY])
        _, found = self.bisect(folder)
        self.assertIn(".0001.", found["before"])
        self.assertIn(".0005.", found["after"])

    def test_a_dump_without_fault(self):
        status, found = self.bisect(self.dump([MODULE] * 4))
        self.assertEqual((status, found["found"]), (0, ""))

    def test_the_rule_that_changes_a_bit(self):
        module = self.write("m.hlo", MODULE)
        status, found = self.bisect(module, "--passes=simplify", "--rtol=0",
                                    f"--dump-to={self.folder}/found")
        self.assertEqual((status, found["found"], found["rule"]), (3, "rule", "divide-constant"))
        self.assertEqual(found["after"], "algebraic-simplifier")
        runs = [hilo("run", f"{self.folder}/found/{name}.txt", "--device=eval").stdout
                for name in ("before", "after")]
        self.assertNotEqual(*runs)
        status, found = self.bisect(module, "--passes=simplify", "--rtol=0", "--device=reference")
        self.assertEqual((status, found["rule"]), (3, "divide-constant"))
        status, found = self.bisect(module, "--passes=simplify", "--rtol=0", "--keep=bits")
        self.assertEqual((status, found["found"]), (0, ""))

    def test_the_instruction_whose_machine_code_differs(self):
        module = self.write("f.hlo", FUNCTIONS)  # functions may be a unit of the last place off
        status, found = self.bisect(module, "--rtol=0")
        self.assertEqual((status, found["found"]), (3, "machine code"))
        self.assertTrue(found["instruction"].startswith("fusion"), found["instruction"])
        self.assertIn(" ULP", found["difference"])
        self.assertIn("relative", found["tolerance"])
        status, found = self.bisect(module)
        self.assertEqual((status, found["tried"][-1]["name"]), (0, "machine code"))

    def test_wrong_usage(self):
        one = self.write("m.hlo", MODULE)
        self.write("module_0001.a.before_optimizations.txt", MODULE)
        self.write("module_0002.b.before_optimizations.txt", MODULE)
        for arguments, message in [((one, "--passes=cze"), "the nearest is cse"),
                                   ((self.folder,), "two are the least"),
                                   ((one, "--device=tpu"), "--device")]:
            done = hilo("bisect", *arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)

    def test_other_parameters(self):
        folder = self.dump([MODULE, MODULE.replace("[64]", "[32]")])
        done = hilo("bisect", folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("parameters", done.stderr)

    def test_is_stopped(self):
        loop = self.write("loop.hlo", """HloModule loop
always { p = s32[] parameter(0)  ROOT t = pred[] constant(true) }
same { ROOT p = s32[] parameter(0) }
ENTRY main { p = s32[] parameter(0)  ROOT w = s32[] while(p), condition=always, body=same }
""")
        done = hilo("bisect", loop, "--timeout=0.5", seconds=20)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--timeout", done.stderr)


if __name__ == "__main__":
    unittest.main()
