"""`hilo explain` from outside: every kind of input, its JSON, limits, and input that is wrong."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HILO = os.environ.get("HILO_COMMAND", "build/hilo")
SHARED = os.environ.get("HILO_SHARED", "../shared")

# x (4 KiB) is widened to two values of 1 MiB that are alive together, and summed.
MODULE = """HloModule wide, is_scheduled=true, entry_computation_layout={(f32[1024]{0})->f32[]}

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

ENTRY %main (x: f32[1024]) -> f32[] {
  %x = f32[1024]{0} parameter(0), metadata={op_name="x"}
  %zero = f32[] constant(0)
  %rows = f32[256,1024]{1,0} broadcast(%x), dimensions={1}, metadata={op_name="jit(f)/rows" source_file="/src/model.py" source_line=7}
  %product = f32[256,256]{1,0} dot(%rows, %rows), lhs_contracting_dims={1}, rhs_contracting_dims={1}, metadata={op_name="jit(f)/product" source_file="/src/model.py" source_line=8}
  ROOT %total = f32[] reduce(%product, %zero), dimensions={0,1}, to_apply=%add, metadata={op_name="jit(f)/total" source_file="/src/model.py" source_line=9}
}
"""

# A loop of which the body and the condition have the same names.
LOOP = """HloModule loop, is_scheduled=true

body {
  s = (s32[], f32[256]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[256]{0} get-tuple-element(s), index=1
  y = f32[256]{0} negate(x)
  ROOT out = (s32[], f32[256]{0}) tuple(next, y)
}

condition {
  s = (s32[], f32[256]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(4)
  ROOT less = pred[] compare(i, one), direction=LT
}

ENTRY main {
  one = s32[] constant(0)
  x = f32[256]{0} parameter(0)
  s = (s32[], f32[256]{0}) tuple(one, x)
  loop = (s32[], f32[256]{0}) while(s), condition=condition, body=body
  ROOT y = f32[256]{0} get-tuple-element(loop), index=1
}
"""

ASSIGNMENT = """BufferAssignment:
allocation 0: size 1024, parameter 0, shape |f32[256]| at ShapeIndex {}:
 value: <0 x @0> (size=1024,offset=0): f32[256]{0}
allocation 1: size 512, output shape is |f32[128]|, maybe-live-out:
 value: <4 out @0> (size=512,offset=0): f32[128]{0}
allocation 2: size 3584, preallocated-temp:
 value: <1 early @0> (size=2048,offset=0): f32[512]{0}
 value: <2 middle @0> (size=1536,offset=2048): f32[384]{0}
 value: <3 late @0> (size=1024,offset=0): f32[256]{0}
"""
LIVE_RANGE = """HloLiveRange (max 5):
  InstructionSequence:
    0:x
    1:early
    2:middle
    3:late
    4:out
  BufferLiveRange:
    x{}:0-5
    early{}:1-2
    middle{}:2-4
    late{}:3-4
    out{}:4-5
  Live ranges at 2 (peak):
    early{}: 2048 bytes (cumulative: 2048 bytes)
    middle{}: 1536 bytes (cumulative: 3584 bytes)
    x{}: 1024 bytes (cumulative: 4608 bytes)
"""
USAGE = """Memory Space: default (color=0)
Total bytes: 5120 (5.0KiB)
  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
     2.0KiB( 57%);     2.0KiB;            0;                2; f32[256], f32[512]
     3.5KiB(100%);     1.5KiB;         2048;                1; f32[384]

  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
     1.0KiB(100%);     1.0KiB;            0;                1; f32[256]

  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
       512B(100%);       512B;            0;                1; f32[128]


"""
MESSAGE = """Traceback (most recent call last):
RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 20.50G of 15.48G hbm. Exceeded hbm capacity by 5.02G.

  Largest program allocations in hbm:

  1. Size: 16.00G
     Operator: op_name="jit(step)/mul" source_file="/src/train.py" source_line=17
     Shape: f32[8388608,4]{1,0:T(8,128)}
     Unpadded size: 512.00M
     XLA label: multiply.3 = f32[8388608,4]{1,0:T(8,128)} multiply(p, q)
     ==========================
"""


def explain(*arguments, text=None, seconds=60):
    return subprocess.run([HILO, "explain", *arguments], input=text, capture_output=True,
                          timeout=seconds, text=True)


class Explain(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def document(self, *arguments, text=None, status=0):
        done = explain("--json", *arguments, text=text)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout)

    def space(self, document, number=0):
        return next(one for one in document["memory_spaces"] if one["space"] == number)

    # Modules

    def test_module_says_peak_and_source(self):
        done = explain("-", "--target=h100_sxm", text=MODULE)
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("named by --target", "peak in use", "product", "model.py:8", "jit(f)/rows",
                      "XLA's peak", "flops/byte"):
            self.assertIn(words, done.stdout)

    def test_json_has_schema_and_spaces(self):
        document = self.document("-", text=MODULE)
        self.assertEqual(document["schema"], "hilo.explain.1")
        self.assertEqual(document["machine"], "cpu")
        self.assertIn("assumed", document["machine_reason"])
        space = self.space(document)
        # rows and product are alive together; x, the constant and the result lie beside them.
        self.assertEqual(space["temp_bytes"], (256 * 1024 + 256 * 256) * 4)
        self.assertEqual(space["lower_bound_bytes"], space["temp_bytes"])
        self.assertEqual(space["peak_at"], "product")
        self.assertEqual(space["total_bytes"], space["temp_bytes"] + 4096 + 4 + 4)
        rows = next(one for one in document["values"] if one["name"] == "rows")
        self.assertEqual(rows["source"], "/src/model.py:7")
        self.assertEqual(rows["bytes"], 1 << 20)
        total = sum(one["bytes"] for one in document["allocations"] if not one["is_thread_local"])
        self.assertEqual(total, sum(one["total_bytes"] for one in document["memory_spaces"]))

    def test_unscheduled_module(self):
        text = MODULE.replace("is_scheduled=true, ", "")
        document = self.document("-", text=text)
        self.assertTrue(any("not scheduled" in note for note in document["notes"]))
        kept = self.document("-", "--keep-order", text=text)
        self.assertFalse(any("not scheduled" in note for note in kept["notes"]))
        names = [one["name"] for one in kept["sequence"]]
        self.assertEqual(names, ["x", "zero", "rows", "product", "total"])

    def test_target_is_named_or_refused(self):
        self.assertEqual(self.document("-", "--target=v5e", text=MODULE)["machine"], "v5e")
        done = explain("-", "--target=abacus", text=MODULE)
        self.assertEqual(done.returncode, 2)
        self.assertIn("v5e", done.stderr)

    def test_one_device_is_on_any_slice(self):
        self.assertEqual(self.document("-", "--target=v5e:2x2", text=MODULE)["machine"], "v5e")

    def test_topology_is_of_as_many_devices(self):
        text = ("HloModule m, num_partitions=4\nENTRY e {\n  x = f32[8] parameter(0)\n  ROOT y = f32[32] "
                "all-gather(x), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0}, "
                "use_global_device_ids=true\n}\n")
        line = ["-", "--collectives", "--target=v5e", "--json"]
        document = json.loads(explain(*line, "--topology=4x1", text=text).stdout)
        self.assertEqual(document["topology"], [4, 1, 1])
        square = json.loads(explain(*line, text=text).stdout)
        self.assertEqual(square["topology"], [2, 2, 1])
        self.assertLess(square["step_seconds"], document["step_seconds"])
        for topology in ("4x2", "2x2x1", "four"):
            refused = explain(*line, f"--topology={topology}", text=text)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("topology", refused.stderr)

    def test_limit(self):
        fits = explain("-", "--limit=2MiB", text=MODULE)
        self.assertEqual(fits.returncode, 0, fits.stderr)
        self.assertIn("fits: ", fits.stdout)
        done = explain("-", "--limit=1MiB", text=MODULE)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("does not fit", done.stdout)
        self.assertIn("rows (model.py:7)", done.stdout)
        self.assertFalse(self.document("-", "--limit=1MiB", text=MODULE, status=3)["limit"]["fits"])
        self.assertEqual(explain("-", "--limit=much", text=MODULE).returncode, 2)
        unit = explain("-", "--limit=16", text=MODULE)
        self.assertEqual(unit.returncode, 2)
        self.assertIn("as in 16GiB", unit.stderr)

    def test_plan_is_checked(self):
        self.assertEqual(explain("-", "--verify-plan", text=MODULE).returncode, 0)

    def test_index_maps(self):
        done = explain("-", "--index-map=total", text=MODULE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("%product f32[256,256]: ()[r0 < 256, r1 < 256] -> (r0, r1)", done.stdout)
        document = self.document("-", "--index-map=%product", text=MODULE)
        self.assertEqual(document["schema"], "hilo.index_maps.1")
        self.assertEqual([one["map"] for one in document["maps"]],
                         ["(i0, i1)[r0 < 1024] -> (i0, r0)", "(i0, i1)[r0 < 1024] -> (i1, r0)"])
        self.assertEqual([one["reuse"] for one in document["maps"]], [256, 256])
        missing = explain("-", "--index-map=products", text=MODULE)
        self.assertEqual(missing.returncode, 2)
        self.assertIn("product", missing.stderr)
        self.assertEqual(explain("-", "--index-map=x", text=ASSIGNMENT).returncode, 2)

    def test_same_input_same_output(self):
        self.assertEqual(explain("-", text=MODULE).stdout, explain("-", text=MODULE).stdout)

    def test_html(self):
        page = os.path.join(self.folder, "page.html")
        done = explain("-", "--html", page, text=MODULE)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("<html", text)
        self.assertIn("product", text)
        self.assertEqual(explain("-", "--html=-", text=MODULE).stdout, text)
        self.assertEqual(explain("-", "--html=-", "--json", text=MODULE).returncode, 2)
        self.assertFalse(os.path.exists("-"))

    def test_advice_by_role(self):
        text = MODULE.replace("jit(f)/rows", "jit(f)/jvp(rows)").replace(
            "jit(f)/product", "jit(f)/transpose(jvp(product))")
        done = explain("-", "--target=v5e", text=text)
        self.assertRegex(done.stdout, r"What would help.*\n activations\n[ +] +[\d.]+.iB less: ", done.stdout)
        self.assertNotIn("\n activations\n", explain("-", "--target=v5e", text=MODULE).stdout)

    # Dumps

    def test_written_dumps_are_read_back(self):
        module = self.write("module.hlo", MODULE)
        for form in ("today", "older"):
            folder = os.path.join(self.folder, form)
            planned = self.document(module, "--dump-to", folder, f"--dump-form={form}")
            names = sorted(os.listdir(folder))
            self.assertIn("module_0000.wide.cpu_after_optimizations-buffer-assignment.txt", names)
            read = self.document(folder)
            self.assertEqual(read["faults"], [])
            self.assertIn("buffer assignment", read["made_from"])
            for key in ("total_bytes", "temp_bytes", "lower_bound_bytes", "peak_at"):
                self.assertEqual(self.space(read)[key], self.space(planned)[key], (form, key))
            self.assertEqual(read["unpadded_peak"], planned["unpadded_peak"])

    def test_equal_names_in_several_computations(self):
        module = self.write("module.hlo", LOOP)
        folder = os.path.join(self.folder, "dumps")
        planned = self.document(module, "--dump-to", folder)
        read = self.document(folder)
        self.assertEqual(read["faults"], [])
        self.assertEqual(len(read["sequence"]), len(planned["sequence"]))
        names = [one["name"] for one in read["sequence"]]
        self.assertEqual(len(names), len(set(names)))
        self.assertNotIn("XLA's buffer assignment", explain(folder).stdout)

    def test_folder_has_what_its_module_has(self):
        module = self.write("module.hlo", MODULE)
        planned = self.document(module, "--target=v5p", "--dump-to", os.path.join(self.folder, "d"))
        folder = os.path.join(self.folder, "d")
        read = self.document(folder)
        self.assertEqual(read["machine"], "v5p")
        self.assertIn("file's name", read["machine_reason"])
        costs = [{one["name"]: one.get("flops") for one in document["sequence"]}
                 for document in (planned, read)]
        self.assertEqual(costs[0], costs[1])
        self.assertIn("Cost of one run", explain(folder).stdout)

    def test_assignment_alone(self):
        document = self.document("-", text=ASSIGNMENT)
        self.assertEqual(self.space(document)["total_bytes"], 5120)
        self.assertIsNone(self.space(document)["lower_bound_bytes"])
        self.assertTrue(any("no live ranges" in note for note in document["notes"]))

    def test_files_given_together(self):
        files = self.write("a.txt", ASSIGNMENT), self.write("b.txt", LIVE_RANGE)
        space = self.space(self.document(*files))
        self.assertEqual((space["lower_bound_bytes"], space["peak_at"]), (3584, "middle"))

    def test_folder_of_nameless_dumps(self):
        self.write("buffer-assignment.txt", ASSIGNMENT)
        self.write("live-range.txt", LIVE_RANGE)
        self.write("memory-usage-report.txt", USAGE)
        self.assertEqual(self.space(self.document(self.folder))["peak_bytes"], 4608)

    def test_usage_report_before_its_assignment(self):
        document = self.document("-", text=USAGE + "\n" + ASSIGNMENT + "\n" + LIVE_RANGE)
        self.assertEqual(document["faults"], [])
        self.assertEqual(self.space(document)["total_bytes"], 5120)
        self.assertEqual(len(document["values"]), len(self.document("-", text=ASSIGNMENT)["values"]))

    def test_folder_takes_the_dumps_of_one_module(self):
        stem = "module_0002.jit_f.cpu_after_optimizations"
        self.write(f"{stem}-buffer-assignment.txt", ASSIGNMENT)
        self.write(f"{stem}-live-range.txt", LIVE_RANGE)
        self.write("module_0001.jit_g.cpu_after_optimizations-buffer-assignment.txt",
                   ASSIGNMENT.replace("1024", "9999"))
        self.assertEqual(self.space(self.document(self.folder))["total_bytes"], 5120)

    def test_live_range_alone(self):
        document = self.document("-", text=LIVE_RANGE)
        self.assertTrue(document["is_partial"])
        self.assertEqual(document["unpadded_peak"],
                         {"bytes": 4608, "moment": 2, "peak_at": "middle"})
        self.assertIsNone(self.space(document)["total_bytes"])

    def test_usage_report_alone(self):
        document = self.document("-", text=USAGE)
        self.assertEqual(self.space(document)["total_bytes"], 5120)
        self.assertIsNone(self.space(document)["temp_bytes"])
        self.assertNotIn("-1B", explain("-", text=USAGE).stdout)

    def test_neither_module_nor_message(self):
        for text in "Epoch 3: loss = 0.25\nall is well\n", "<html><body>hello</body></html>":
            done = explain(self.write("train.log", text))
            self.assertEqual(done.returncode, 1)
            self.assertIn("train.log: error: expected a module (HLO text, an HLO proto or StableHLO), "
                          "XLA's dumps of one, or a log with an out-of-memory message", done.stderr)
        done = explain(self.write("module.hlo", MODULE.replace("broadcast(%x)", "broadcast(%x")))
        self.assertIn("module.hlo:12:", done.stderr)

    def test_out_of_memory_message(self):
        document = self.document("-", text=MESSAGE)
        self.assertEqual(self.space(document)["total_bytes"], int(20.5 * 2**30))
        self.assertEqual(document["values"][0]["source"], "/src/train.py:17")
        self.assertIn("multiply.3", explain("-", text=MESSAGE).stdout)
        self.assertEqual(explain("-", "--limit=15.48G", text=MESSAGE).returncode, 3)
        self.assertEqual(document["machine"], "v3")
        self.assertEqual(document["message"]["limit_bytes"], round(15.48 * 2**30))
        self.assertTrue(document["advice"])

    def test_reports_of_users(self):
        folder = os.path.join(SHARED, "corpus", "reports")
        if not os.path.isdir(folder):
            self.skipTest("no reports")
        expected = {"oom_vmem.txt": ("v5e", 1), "oom_hbm_30_75G.txt": ("v4", 0),
                    "oom_gpu.txt": ("h100_sxm", 0), "oom_log_2019.txt": ("v3", 0)}
        for name, (machine, space) in expected.items():
            with self.subTest(name):
                document = self.document(os.path.join(folder, name))
                self.assertEqual(document["machine"], machine, document["machine_reason"])
                self.assertEqual(document["message"]["space"], space)
                self.assertTrue(document["values"])
                self.assertTrue(document["advice"])
                self.assertEqual(document["faults"], [])

    # Wrong input

    def test_faults_are_said_with_their_line(self):
        done = explain("-", text=ASSIGNMENT.replace("size 3584", "size 3000"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("<stdin>:6:1: error: allocation 2 has 3000 bytes, its values reach 3584",
                      done.stderr)
        self.assertIn("WARNING: a fault", done.stdout)

    def test_usage_that_is_of_another_module(self):
        files = self.write("a.txt", ASSIGNMENT), self.write("c.txt", USAGE.replace("5120", "5000"))
        done = explain(*files)
        self.assertEqual(done.returncode, 1)
        self.assertIn("states 5000 bytes for color 0", done.stderr)

    def test_cut_anywhere(self):
        whole = ASSIGNMENT + "\nTotal bytes used: 5120 (5.0KiB)\n\n" + LIVE_RANGE
        for length in range(0, len(whole), 23):
            done = explain("-", "--json", text=whole[:length])
            self.assertIn(done.returncode, (0, 1), (length, done.stderr))
            document = json.loads(done.stdout)
            if done.returncode == 0:
                total = self.space(document)["total_bytes"]
                sizes = [one["bytes"] for one in document["allocations"]]
                self.assertEqual(total, sum(sizes), length)

    def test_modules_that_contradict_themselves(self):
        twice = MODULE.replace("->f32[]}\n", "->f32[]}, input_output_alias={ {}: (0, {}), {}: (0, {}) }\n")
        for text in (twice, MODULE.replace("dot(%rows, %rows)", "dot(%rows, %total)"),
                     MODULE.replace("parameter(0), metadata", "parameter(1), metadata"),
                     MODULE[:500], ""):
            done = explain("-", text=text)
            self.assertEqual(done.returncode, 1, text[:200])
            self.assertIn("error:", done.stderr)

    def test_empty_folder(self):
        done = explain(self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("neither a module nor a dump", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
