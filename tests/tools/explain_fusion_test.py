"""`hilo opt --explain-fusion`: each producer and consumer with what became of them, and why."""
import json
import os
import subprocess
import tempfile
import unittest

HILO = os.environ.get("HILO_COMMAND", "build/release/hilo")
# The square is one loop with the sine; what is repeated 7 times would be computed as often.
MODULE = """HloModule m
ENTRY main {
  x = f32[40]{0} parameter(0)
  square = f32[40]{0} multiply(x, x), metadata={op_name="mul" source_file="model.py" source_line=12}
  wave = f32[40]{0} sine(square)
  high = f32[40]{0} exponential(x), metadata={op_name="exp" source_file="model.py" source_line=15}
  rows = f32[7,40]{1,0} broadcast(high), dimensions={1}
  y = f32[40,40]{1,0} parameter(1)
  twice = f32[40,40]{1,0} multiply(y, y)
  spread = f32[40,7,40]{2,1,0} broadcast(twice), dimensions={0,2}
  cube = f32[40,7,40]{2,1,0} negate(spread)
  table = f32[7,40]{1,0} negate(rows)
  ROOT r = (f32[40]{0}, f32[7,40]{1,0}, f32[40,7,40]{2,1,0}) tuple(wave, table, cube)
}
"""
# A value behind another one that is looked up: gathers are fused for the CPU, for no other chip.
LOOKUP = """HloModule m
ENTRY main {
  x = s32[9,6]{1,0} parameter(0)
  i = s32[4,1]{1,0} parameter(1)
  t = s32[9,6]{1,0} negate(x)
  ROOT r = s32[4,6]{1,0} gather(t, i), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}
}
"""
TEXT = """square (model.py:12) -> wave: one loop
high (model.py:15) -> rows: stored
  join: a costly op would be computed more than once an element
  merge: the loops go over other elements
  recompute: is made of an op that is not cheap
twice -> spread: stored
  join: is computed 7 times, at most 2
  merge: the loops go over other elements
  recompute: is computed 7 times, at most 4
spread -> cube: one loop
rows -> table: one loop
5 pairs: 3 in one loop, 0 recomputed, 2 stored
"""


def hilo(*arguments, text=MODULE):
    return subprocess.run([HILO, "opt", "-", *arguments], input=text, capture_output=True, text=True, timeout=60)


def decisions(*arguments, text=MODULE):
    done = hilo(*arguments, "--explain-fusion", "--json", text=text)
    assert done.returncode == 0, done.stderr
    return {(row["producer"], row["consumer"]): row for row in json.loads(done.stdout)["fusion"]}


class ExplainFusion(unittest.TestCase):
    def test_text_in_the_order_of_instructions(self):
        done = hilo("--passes=fusion", "--explain-fusion")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, TEXT)
        self.assertEqual(done.stdout, hilo("--passes=fusion", "--explain-fusion").stdout)

    def test_json_has_reasons_by_name_with_numbers(self):
        found = decisions("--passes=fusion")
        self.assertEqual(found["square", "wave"],
                         {"run": 1, "producer": "square", "producer_source": "model.py:12", "consumer": "wave",
                          "consumer_source": "", "outcome": "one loop", "refusals": []})
        stored = found["twice", "spread"]
        self.assertEqual(stored["outcome"], "stored")
        self.assertEqual(stored["refusals"][0], {"question": "join", "reason": "Repeated", "count": 7, "limit": 2,
                                                 "text": "is computed 7 times, at most 2"})
        self.assertEqual([refusal["question"] for refusal in stored["refusals"]], ["join", "merge", "recompute"])
        self.assertNotIn("limit", found["high", "rows"]["refusals"][0])

    def test_each_of_several_runs_is_named(self):
        text = hilo("--passes=fusion,dce,fusion", "--explain-fusion").stdout
        first, second = text.removeprefix("run 1, fusion\n").split("run 3, fusion\n")
        self.assertEqual(first, TEXT)
        self.assertRegex(second, r"\d+ pairs?: \d+ in one loop")
        rows = json.loads(hilo("--passes=fusion,dce,fusion", "--explain-fusion", "--json").stdout)["fusion"]
        self.assertEqual([row["run"] for row in rows], sorted(row["run"] for row in rows))
        self.assertEqual(len([row for row in rows if row["run"] == 1]), 5)
        self.assertLessEqual({row["run"] for row in rows}, {1, 3})

    def test_module_goes_to_a_file_as_ever(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.txt")
            done = hilo("--passes=fusion", "--explain-fusion", "-o", path)
            self.assertIn("one loop", done.stdout)
            with open(path) as file:
                self.assertEqual(file.read(), hilo("--passes=fusion").stdout)

    def test_without_fusion_nothing_can_be_explained(self):
        for arguments in [], ["--passes=dce"], ["--pipeline=cpu", "--disable=fusion"], ["--pipeline=cpu", "--stop-after=1"]:
            done = hilo(*arguments, "--explain-fusion")
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("the pass fusion did not run", done.stderr)

    def test_json_without_it_says_nothing_of_fusion(self):
        self.assertNotIn("fusion", json.loads(hilo("--passes=fusion", "--json").stdout))

    def test_decides_as_the_compiler_unless_for_another_chip(self):
        for arguments in ["--pipeline=cpu"], ["--passes=fusion"], ["--pipeline=simplify,cpu"], \
                ["--passes=simplify,cpu"], ["--passes=fusion", "--target=cpu"]:
            self.assertEqual(decisions(*arguments, text=LOOKUP)["t", "r"]["outcome"], "one loop", arguments)
        for arguments in ["--passes=fusion", "--target=v5e"], ["--pipeline=cpu", "--target=v5e"]:
            self.assertEqual(decisions(*arguments, text=LOOKUP)["t", "r"]["refusals"][0]["question"],
                             "consumer", arguments)


if __name__ == "__main__":
    unittest.main(verbosity=2)
