"""hilo explain --commands: what a program consists of, before there is code."""

import json
import os
import subprocess
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("HILO_SOURCE", Path(__file__).resolve().parents[2]))
COMMAND = os.environ.get("HILO_COMMAND", SOURCE / "build/hilo")

PROGRAM = """HloModule program
ENTRY main {
  x = f32[512,512] parameter(0)
  product = f32[512,512] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sorted = f32[512,512] sort(product), dimensions={1}, to_apply=less
  low = f32[] constant(0)
  high = f32[] constant(1)
  noise = f32[512,512] rng(low, high), distribution=rng_uniform
  ROOT sum = f32[512,512] add(sorted, noise)
}
"""
LESS = "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=LT }\n"


def explain(text, *options):
    done = subprocess.run([COMMAND, "explain", "-", "--commands", *options], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class ExplainCommands(unittest.TestCase):
    def setUp(self):
        head, entry = PROGRAM.split("\n", 1)
        self.program = f"{head}\n{LESS}{entry}"

    def commands(self, text):
        document = json.loads(explain(text, "--json"))
        self.assertEqual(document["schema"], "hilo.commands.1")
        return document["commands"]

    def test_each_command_has_its_kind_slots_and_estimate(self):
        commands = {one["name"]: one for one in self.commands(self.program)}
        self.assertEqual(commands["product"]["kind"], "routine")
        self.assertEqual(commands["product"]["reason"], "a routine is faster")
        self.assertEqual(commands["product"]["flops"], 2 * 512 ** 3)
        self.assertEqual([one["bytes"] for one in commands["product"]["reads"]], [512 * 512 * 4] * 2)
        self.assertGreater(commands["product"]["seconds"], 0)
        self.assertEqual(commands["noise"]["kind"], "evaluated")
        self.assertEqual(commands["noise"]["reason"], "no loops for this op")
        self.assertNotIn("reason", next(one for one in commands.values() if one["kind"] == "kernel"))

    def test_they_are_what_is_compiled(self):
        kinds = [one["kind"] for one in self.commands(self.program)]
        done = subprocess.run([COMMAND, "run", "-", "--device=cpu", "--json"], input=self.program, capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        compiled = json.loads(done.stdout)["compiled"]
        self.assertEqual(kinds.count("routine"), compiled["routines"])
        self.assertEqual(kinds.count("evaluated"), compiled["evaluated_steps"])

    def test_a_loop_names_what_it_runs(self):
        text = """HloModule loop
body {
  s = (f32[64], s32[]) parameter(0)
  x = f32[64] get-tuple-element(s), index=0
  i = s32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  y = f32[64] sine(x)
  n = s32[] add(i, one)
  ROOT r = (f32[64], s32[]) tuple(y, n)
}
test {
  s = (f32[64], s32[]) parameter(0)
  x = f32[64] get-tuple-element(s), index=0
  first = f32[1] slice(x), slice={[0:1]}
  f = f32[] reshape(first)
  half = f32[] constant(0.5)
  ROOT c = pred[] compare(f, half), direction=GT
}
ENTRY main {
  x = f32[64] parameter(0)
  zero = s32[] constant(0)
  s = (f32[64], s32[]) tuple(x, zero)
  w = (f32[64], s32[]) while(s), condition=test, body=body
  ROOT y = f32[64] get-tuple-element(w), index=0
}
"""
        commands = self.commands(text)
        loop = next(one for one in commands if one["kind"] == "loop")
        ran = {one["computation"] for one in commands if one is not loop}
        self.assertEqual(set(loop["runs"]), ran - {loop["computation"]})
        self.assertNotIn("seconds", loop)

    def test_times_are_those_of_the_target(self):
        here, there = (json.loads(explain(self.program, "--json", *target))["commands"]
                       for target in ([], ["--target=v5e"]))
        self.assertEqual([one["name"] for one in here], [one["name"] for one in there])
        product = next(one for one in there if one["name"] == "product")
        # Bound by the bytes of three arrays at 819 GB/s, which no processor reads.
        self.assertAlmostEqual(product["seconds"], 3 * 512 * 512 * 4 / 819e9, delta=1e-7)
        self.assertEqual(product["bound"], "memory")
        self.refused("--target=v5e", "--machine=record.json", says="--target excludes --machine")

    def test_threads(self):
        text = PROGRAM.replace("512", "4096").replace("sort(product), dimensions={1}, to_apply=less", "negate(product)")
        seconds = {}
        for threads in 1, 64:
            product = next(one for one in json.loads(explain(text, "--json", f"--threads={threads}"))["commands"]
                           if one["name"] == "product")
            self.assertEqual(product["threads"], threads)
            seconds[threads] = product["seconds"]
        self.assertGreater(seconds[1], 32 * seconds[64])
        self.refused("--threads=2", "--target=v5e", says="v5e is no processor")
        self.refused("--threads=-1", says="--threads=-1")
        done = subprocess.run([COMMAND, "explain", "-", "--threads=2"], input=PROGRAM, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--commands is missing", done.stderr)

    def refused(self, *options, says):
        done = subprocess.run([COMMAND, "explain", "-", "--commands", *options], input=self.program,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn(says, done.stderr)

    def test_the_text_has_a_table_for_each_computation(self):
        text = explain(self.program)
        self.assertRegex(text, r"\A\d+ commands: ")
        self.assertIn("\n%main\n", text)
        row = next(line for line in text.splitlines() if "%product" in line)
        self.assertRegex(row, r"routine +%product +f32\[512,512\].*a routine is faster")

    def test_a_dump_has_none(self):
        done = subprocess.run([COMMAND, "explain", "-", "--commands"], input="BufferAssignment:\n", capture_output=True,
                              text=True)
        self.assertNotEqual(done.returncode, 0)

    def test_help_names_it(self):
        done = subprocess.run([COMMAND, "explain", "--help"], capture_output=True, text=True)
        self.assertIn("--commands", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
