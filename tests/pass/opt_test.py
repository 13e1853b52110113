"""`hilo opt` from outside: text in, text out, names, steps, dumps, and wrong usage."""
import json
import os
import subprocess
import tempfile
import unittest

HILO = os.environ.get("HILO_COMMAND", "build/release/hilo")
MODULE = """HloModule jit_f_x
ENTRY main {
  a = f32[4]{0} parameter(0)
  b = f32[4]{0} negate(a)
  c = f32[4]{0} negate(b)
  dead = f32[4]{0} sine(a)
  ROOT r = f32[4]{0} add(c, c)
}
"""


def hilo(*arguments, text=MODULE):
    return subprocess.run([HILO, *arguments], input=text, capture_output=True, text=True, timeout=60)


class Opt(unittest.TestCase):
    def test_text_comes_out(self):
        done = hilo("opt", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("negate", done.stdout)
        self.assertNotIn("sine", done.stdout)
        again = hilo("opt", "-", text=done.stdout)
        self.assertEqual(again.stdout, done.stdout)

    def test_only_the_passes_that_are_named(self):
        done = hilo("opt", "-", "--passes=dce")
        self.assertIn("negate", done.stdout)
        self.assertNotIn("sine", done.stdout)
        done = hilo("opt", "-", "--passes=dce,algebraic-simplifier", "--disable=algebraic-simplifier")
        self.assertIn("negate", done.stdout)
        done = hilo("opt", "-", "--passes=algebraic-simplifier,dce", "--stop-after=1")
        self.assertIn("sine", done.stdout)
        self.assertNotIn("negate", done.stdout)

    def test_passes_of_the_compiler(self):
        ran = [run["pass"] for run in json.loads(hilo("opt", "-", "--pipeline=cpu", "--json").stdout)["runs"]]
        self.assertEqual((ran[0], ran[-1]), ("forget-aliasing", "copy-insertion"))
        listed = json.loads(hilo("list", "passes", "--json").stdout)["rows"]
        self.assertLessEqual(set(ran), {row["pass"] for row in listed})
        text = "HloModule m\nENTRY main { a = f32[2,3]{0,1} parameter(0)  ROOT r = f32[2,3]{0,1} negate(a) }\n"
        self.assertIn("ROOT %r = f32[2,3]{1,0}", hilo("opt", "-", "--passes=row-major", text=text).stdout)

    def test_dumps_what_changed(self):
        with tempfile.TemporaryDirectory() as folder:
            steps = os.path.join(folder, "steps")
            hilo("opt", "-", "--passes=cse,algebraic-simplifier,dce", f"--dump-to={steps}")
            self.assertEqual(sorted(os.listdir(steps)),
                             ["module_0000.jit_f_x.0002.after_algebraic-simplifier.txt",
                              "module_0000.jit_f_x.0003.after_dce.txt"])
            path = os.path.join(steps, "module_0000.jit_f_x.0003.after_dce.txt")
            self.assertEqual(hilo("check", path).returncode, 0)

    def test_json_tells_of_runs_and_rules(self):
        document = json.loads(hilo("opt", "-", "--passes=algebraic-simplifier,dce", "--json").stdout)
        self.assertEqual(document["schema"], "hilo.opt.1")
        self.assertEqual([run["pass"] for run in document["runs"]], ["algebraic-simplifier", "dce"])
        self.assertEqual(document["rules"], {"negate-negate": 1})

    def test_says_what_was_fast_and_what_fired(self):
        done = hilo("opt", "-", "--time", "--statistics")
        self.assertIn("algebraic-simplifier", done.stderr)
        self.assertIn("negate-negate", done.stderr)

    def test_wrong_usage(self):
        for arguments, message in ((["--passes=dec"], "the nearest is dce"),
                                   (["--disable=nothing"], "no pass or pipeline"),
                                   (["--pipeline=nothing"], "no such pipeline"),
                                   (["--passes=dce,(cse"], "expected \")*\""),
                                   (["--target=z80"], "no chip of that name"),
                                   (["--topology=2x2"], "of which chip"),
                                   (["--target=v5e", "--topology=2x2x2"], "torus of 2 axes")):
            done = hilo("opt", "-", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr)

    def test_unsound_modules_are_refused(self):
        done = hilo("opt", "-", text=MODULE.replace("add(c, c)", "add(c)"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("error", done.stderr)

    def test_lists(self):
        for what, word in (("passes", "constant-folding"), ("pipelines", "simplify"),
                           ("rules", "transpose-transpose")):
            self.assertIn(word, hilo("list", what).stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
