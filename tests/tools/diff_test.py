"""`hilo diff` from outside: what is equal, changed, new, gone; text, JSON and exit status."""
import json
import os
import unittest

from command_test import Folder, hilo

MODULE = """HloModule step, is_scheduled=true
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY main {
  x = f32[4,8]{1,0} parameter(0), metadata={op_name="x"}
  w = f32[8,16]{1,0} parameter(1), metadata={op_name="w"}
  d = f32[4,16]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/dot" source_file="/src/model.py" source_line=7}
  t = f32[4,16]{1,0} tanh(d), metadata={op_name="jit(f)/tanh" source_file="/src/model.py" source_line=8}
  r = f32[4,16]{1,0} all-reduce(t), channel_id=1, replica_groups={{0,1}}, to_apply=add
  ROOT out = (f32[4,16]{1,0}) tuple(r)
}
"""


class Diff(Folder):
    def diff(self, before, after, *options, status=3):
        a, b = self.write("a.txt", before), self.write("b.txt", after)
        done = hilo("diff", a, b, "--json", *options)
        self.assertEqual(done.returncode, status, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["schema"], "hilo.diff.1")
        self.assertEqual(document["equal"], status == 0)
        text = hilo("diff", a, b, *options)
        self.assertEqual(text.returncode, status, text.stderr)
        self.text = text.stdout
        return document

    def changes(self, document):
        return {one["b"]["name"]: [(c["what"], c["from"], c["to"]) for c in one["changes"]]
                for one in document["changed"]}

    def names(self, document, which):
        return [one["name"] for one in document[which]]

    def test_equal_under_other_names(self):
        other = MODULE.replace("d = f32", "dot.7 = f32").replace("tanh(d)", "tanh(dot.7)") \
            .replace("channel_id=1", "channel_id=5").replace("source_line=7", "source_line=9")
        document = self.diff(MODULE, other, status=0)
        self.assertEqual((document["matched"], document["renamed"]), (9, 1))
        self.assertIn("equal: all 9 instructions have their counterpart, 1 under another name",
                      self.text)

    def test_batch(self):
        document = self.diff(MODULE, MODULE.replace("[4,", "[8,"))
        self.assertEqual(self.changes(document), {
            "x": [("shape", "f32[4,8]{1,0}", "f32[8,8]{1,0}")],
            "d": [("shape", "f32[4,16]{1,0}", "f32[8,16]{1,0}")],
            "t": [("shape", "f32[4,16]{1,0}", "f32[8,16]{1,0}")],
            "r": [("shape", "f32[4,16]{1,0}", "f32[8,16]{1,0}")],
            "out": [("shape", "(f32[4,16]{1,0})", "(f32[8,16]{1,0})")]})
        self.assertEqual((document["new"], document["gone"]), ([], []))
        self.assertEqual((document["a"]["flops"], document["b"]["flops"]),
                         (2 * 4 * 8 * 16 + 64, 2 * 8 * 8 * 16 + 128))
        self.assertEqual([document[side]["collectives"]["all-reduce"] for side in "ab"],
                         [{"count": 1, "bytes": 256.0}, {"count": 1, "bytes": 512.0}])
        self.assertLess(*(document[side]["memory"]["unpadded_peak_bytes"] for side in "ab"))
        for words in ("f32[4,16]{1,0} → f32[8,16]{1,0}", "model.py:7", "1 of 512B", "peak in use"):
            self.assertIn(words, self.text)

    def test_collectives_that_start_and_end_count_once(self):
        apart = MODULE.replace("all-reduce(t)", "all-reduce-start(t)").replace(
            "r = f32", "begun = f32").replace(
            "  ROOT out", "  r = f32[4,16]{1,0} all-reduce-done(begun)\n  ROOT out")
        document = self.diff(MODULE, apart.replace("{{0,1}}", "{{0,1,2,3}}"))
        self.assertEqual([document[side]["collectives"] for side in "ab"],
                         [{"all-reduce": {"count": 1, "bytes": 256.0}},
                          {"all-reduce": {"count": 1, "bytes": 384.0}}])

    def test_new_and_gone(self):
        other = MODULE.replace("t = f32[4,16]{1,0} tanh(d)",
                               "e = f32[4,16]{1,0} negate(d)\n  t = f32[4,16]{1,0} sine(e)")
        document = self.diff(MODULE, other)
        self.assertEqual((self.names(document, "new"), self.names(document, "gone")),
                         (["e", "t"], ["t"]))
        self.assertEqual(self.changes(document), {"r": [("operands", "t", "t")]})
        self.assertEqual(document["gone"][0]["source_line"], 8)
        self.assertIn("new: 2\n", self.text)
        self.assertRegex(self.text, r"instructions +9 +10 +\+1")
        self.assertIn("gone: 1\n", self.text)

    def test_layout_memory_space_sharding_attributes(self):
        other = MODULE.replace("t = f32[4,16]{1,0} tanh", "t = f32[4,16]{0,1} tanh") \
            .replace("d = f32[4,16]{1,0}", "d = f32[4,16]{1,0:S(1)}") \
            .replace("replica_groups={{0,1}}", "replica_groups={{0},{1}}") \
            .replace('parameter(1), metadata', 'parameter(1), sharding={replicated}, metadata')
        self.assertEqual(self.changes(self.diff(MODULE, other)), {
            "w": [("sharding", "", "{replicated}")],
            "d": [("memory space", "0", "1")],
            "t": [("layout", "f32[4,16]{1,0}", "f32[4,16]{0,1}")],
            "r": [("replica_groups", "{{0,1}}", "{{0},{1}}")]})

    def test_order_of_the_schedule(self):
        lines = MODULE.splitlines(keepends=True)
        x = next(i for i, line in enumerate(lines) if line.startswith("  x ="))
        lines[x], lines[x + 1] = lines[x + 1], lines[x]
        document = self.diff(MODULE, "".join(lines))
        self.assertEqual((document["reordered"], document["changed"]), (1, []))
        loose = [text.replace(", is_scheduled=true", "") for text in (MODULE, "".join(lines))]
        self.diff(*loose, status=0)

    def test_fused(self):
        fused = MODULE.replace("ENTRY", """fused {
  p = f32[4,16]{1,0} parameter(0)
  ROOT q = f32[4,16]{1,0} tanh(p), metadata={op_name="jit(f)/tanh"}
}
ENTRY""").replace("tanh(d),", "fusion(d), kind=kLoop, calls=fused,")
        document = self.diff(MODULE, fused)
        self.assertEqual(self.changes(document), {"q": [("fusion", "main", "t")]})
        self.assertEqual((self.names(document, "new"), document["gone"]), (["p", "t"], []))

    def test_a_reducer_of_another_reduction(self):
        text = """HloModule m
largest {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
}
ENTRY main {
  x = f32[4,8]{1,0} parameter(0)
  low = f32[] constant(-inf)
  ROOT r = f32[4]{0} reduce(x, low), dimensions={1}, to_apply=largest
}
"""
        window = text.replace("f32[4]{0} reduce(x, low), dimensions={1}",
                              "f32[4,1]{1,0} reduce-window(x, low), window={size=1x8}")
        document = self.diff(text, window)
        self.assertEqual((self.names(document, "new"), self.names(document, "gone"),
                          document["changed"]), (["r"], ["r"], []))

    def test_header(self):
        document = self.diff(MODULE, MODULE.replace("is_scheduled=true",
                                                    "is_scheduled=true, buffer_donor={ (0, {}) }"))
        self.assertEqual(document["header"], [{"what": "buffer_donor", "from": "", "to": "(0, {})"}])

    def test_many_are_cut_and_all_shows_them(self):
        ops = "".join(f"  s{i} = f32[{i + 1}]{{0}} iota(), iota_dimension=0\n" for i in range(40))
        a, b = self.write("a.txt", MODULE), self.write("b.txt", MODULE.replace("  d =", ops + "  d ="))
        done = hilo("diff", a, b, "--rows=5")
        self.assertIn("… 35 more, --all shows them", done.stdout)
        done = hilo("diff", a, b, "--all")
        for i in range(40):
            self.assertIn(f"  s{i}\n", done.stdout)

    def test_folders_and_stages(self):
        for folder, batch in (("one", 4), ("two", 8)):
            os.makedirs(os.path.join(self.folder, folder))
            for stage, op in (("before_optimizations", "sine"), ("cpu_after_optimizations", "tanh")):
                self.write(f"{folder}/module_0001.f.{stage}.txt",
                           MODULE.replace("[4,", f"[{batch},").replace("tanh(", op + "("))
        one, two = (os.path.join(self.folder, name) for name in ("one", "two"))
        document = json.loads(hilo("diff", one, two, "--json").stdout)
        self.assertTrue(document["a"]["file"].endswith("cpu_after_optimizations.txt"))
        self.assertEqual((len(document["changed"]), document["new"]), (5, []))
        document = json.loads(hilo("diff", one, two, "--json", "--stage=before").stdout)
        self.assertTrue(document["b"]["file"].endswith("before_optimizations.txt"))
        document = json.loads(hilo("diff", one, "--stages=before,after", "--json").stdout)
        self.assertEqual((self.names(document, "gone"), self.names(document, "new")), (["t"], ["t"]))
        self.assertEqual(hilo("diff", one, one).returncode, 0)

    def test_wrong_usage(self):
        one = self.write("a.txt", MODULE)
        broken = self.write("b.txt", MODULE.replace("tanh(d)", "tanh(none)"))
        for arguments, status, words in [((one,), 2, "two modules"), ((one, one, one), 2, "found 3"),
                                         ((one, broken), 1, "none"),
                                         ((one, self.folder + "/no"), 1, "No such file"),
                                         ((one, "--stages=a,b"), 2, "no dump folder"),
                                         ((one, one, "--target=z80"), 2, "z80")]:
            done = hilo("diff", *arguments)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
