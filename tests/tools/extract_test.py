"""`hilo extract` from outside: what is cut out is sound and computes what the program computes."""
import json
import os
import unittest

from command_test import Folder, hilo

MODULE = """HloModule step, num_partitions=2
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
fused {
  p = f32[4,16]{1,0} parameter(0)
  q = f32[4,16]{1,0} tanh(p)
  ROOT h = f32[4,16]{1,0} multiply(q, q)
}
body {
  state = (s32[], f32[4,16]{1,0}) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  v = f32[4,16]{1,0} get-tuple-element(state), index=1
  half = f32[4,16]{1,0} sine(v)
  ROOT again = (s32[], f32[4,16]{1,0}) tuple(next, half)
}
condition {
  state.1 = (s32[], f32[4,16]{1,0}) parameter(0)
  j = s32[] get-tuple-element(state.1), index=0
  limit = s32[] constant(3)
  ROOT less = pred[] compare(j, limit), direction=LT
}
ENTRY main {
  x = f32[4,8]{1,0} parameter(0)
  w = f32[8,16]{0,1} parameter(1)
  d = f32[4,16]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/dot" source_file="/src/model.py" source_line=7}
  f = f32[4,16]{1,0} fusion(d), kind=kLoop, calls=fused
  start = f32[4,16]{1,0} all-reduce-start(f), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
  done = f32[4,16]{1,0} all-reduce-done(start)
  two = f32[] constant(2)
  twos = f32[4,16]{1,0} broadcast(two), dimensions={}
  m = f32[4,16]{1,0} multiply(done, twos)
  zero = s32[] constant(0)
  init = (s32[], f32[4,16]{1,0}) tuple(zero, m)
  loop = (s32[], f32[4,16]{1,0}) while(init), condition=condition, body=body
  last = f32[4,16]{1,0} get-tuple-element(loop), index=1
  c = f32[4,16]{1,0} cosine(m)
  ROOT out = f32[4,16]{1,0} add(last, c)
}
"""


class Extract(Folder):
    def setUp(self):
        super().setUp()
        self.module = self.write("m.txt", MODULE)
        self.cut = os.path.join(self.folder, "cut.txt")
        self.values = os.path.join(self.folder, "values.npz")

    def extract(self, *options):
        done = hilo("extract", self.module, "-o", self.cut, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = hilo("check", self.cut)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.cut, encoding="utf-8") as file:
            return file.read()

    def entry(self, text):
        """Names of the entry's instructions, parameters first in their order."""
        lines = text[text.index("ENTRY"):].splitlines()[1:-1]
        lines = [line.replace("ROOT ", "").split() for line in lines if " = " in line]
        return [words[0].lstrip("%") + (" parameter" if words[3].startswith("parameter") else "")
                for words in lines]

    def test_every_instruction_computes_what_it_does_in_the_program(self):
        names = [line.split()[0] for line in
                 MODULE[MODULE.index("ENTRY"):].replace("ROOT ", "").splitlines()[1:-1]]
        names += ["fused", "half", "body", "next"]
        for options in ([], ["--depth=1"], ["--depth=2", "--users=1"], ["--depth=9", "--users=9"]):
            for name in names:
                with self.subTest(name=name, options=options):
                    if options and name in ("fused", "body"):
                        continue
                    self.extract(f"--only={name}", "--seed=3", f"--save-inputs={self.values}",
                                 *options)
                    done = hilo("run", self.cut, "--inputs", self.values, "--expected",
                                self.values, "--device=eval", "--rtol=0", "--atol=0")
                    self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
                    self.assertIn("agrees", done.stdout)

    def test_what_comes_along(self):
        self.assertEqual(self.entry(self.extract("--only=m")), ["done parameter", "twos parameter", "m"])
        self.assertEqual(self.entry(self.extract("--only=m", "--depth=1")),
                         ["f parameter", "start", "done", "two", "twos", "m"])
        self.assertEqual(self.entry(self.extract("--only=done")), ["f parameter", "start", "done"])
        self.assertEqual(self.entry(self.extract("--only=start")), ["f parameter", "start", "done"])
        self.assertEqual(self.entry(self.extract("--only=m", "--users=1")),
                         ["done parameter", "twos parameter", "m", "zero", "init", "c", "results"])

    def test_what_is_kept(self):
        text = self.extract("--only=d")
        self.assertIn("f32[8,16]{0,1} parameter(1)", text)
        self.assertIn('source_line=7', text)
        self.assertIn("num_partitions=2", text)
        self.assertNotIn("while", text)
        self.assertNotIn("tanh", text)
        self.assertIn("tanh", self.extract("--only=f"))

    def test_values_of_given_inputs(self):
        self.extract("--only=f", "--input=4x8xf32=0.5", "--input=8x16xf32=0.25",
                     f"--save-inputs={self.values}")
        done = hilo("run", self.cut, "--inputs", self.values, "--device=eval")
        self.assertIn("0.58", done.stdout)  # tanh(1)^2

    def test_one_document(self):
        done = hilo("extract", self.module, "--only=f", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual((document["schema"], document["results"]), ("hilo.extract.1", ["f"]))
        self.assertEqual(document["text"], hilo("extract", self.module, "--only=f").stdout)
        document = json.loads(hilo("extract", self.module, "--only=f", "--json", "-o", self.cut).stdout)
        self.assertEqual((document["output"], "text" in document), (self.cut, False))
        done = hilo("extract", self.module, "--only=nosuch", "--json")
        self.assertEqual(json.loads(done.stdout)["schema"], "hilo.errors.1")

    def test_is_stopped(self):
        with open(self.module, "w", encoding="utf-8") as file:
            file.write("""HloModule loop
always { p = s32[] parameter(0)  ROOT t = pred[] constant(true) }
same { ROOT p = s32[] parameter(0) }
ENTRY main { p = s32[] parameter(0)  w = s32[] while(p), condition=always, body=same  ROOT n = s32[] negate(w) }
""")
        done = hilo("extract", self.module, "--only=n", f"--save-inputs={self.values}",
                    "--timeout=0.5", seconds=20)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--timeout", done.stderr)

    def test_wrong_usage(self):
        for arguments, status, words in [
                (("--only=dd",), 2, "no computation or instruction of that name"),
                ((), 2, "--only"),
                (("--only=d", "--input=1xf32=1"), 2, "--save-inputs"),
                (("--only=d", "--depth=-1"), 2, "--depth")]:
            done = hilo("extract", self.module, *arguments)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
