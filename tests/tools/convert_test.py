"""hilo convert, print, check and their documents from outside: what an ending says is done, or refused."""
import gzip
import json
import os
import unittest

from command_test import ADD, Folder, hilo

FRONTEND = ADD.replace("add(a, b)", 'add(a, b), frontend_attributes={k="v"}, backend_config="\\001", metadata={op_name="n"}')
ASSIGNMENT = """BufferAssignment:
allocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {}:
 value: <0 p @0> (size=16,offset=0): f32[4]{0}

Total bytes used: 16 (16B)
"""
OUT_OF_MEMORY = """RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 17.20G of 15.48G hbm. Exceeded hbm capacity by 1.72G.

Total hbm usage >= 17.72G:
"""


class Convert(Folder):
    def convert(self, name, *arguments):
        path = os.path.join(self.folder, name)
        return path, hilo("convert", self.write("add.hlo", FRONTEND), "-o", path, *arguments)

    def test_what_the_ending_says(self):
        printed = hilo("print", "-", text=FRONTEND).stdout
        for name, start in (("m.txt", b"HloModule"), ("m.hlo", b"HloModule"), ("m.pb", b"\n\x03add"), ("m.pbtxt", b"name:"),
                            ("m.prototext", b"name:"), ("m.textproto", b"name:"), ("m.json", b"{"), ("plain", b"HloModule")):
            path, done = self.convert(name)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(path, "rb") as file:
                content = file.read()
            self.assertTrue(content.startswith(start), (name, content[:20]))
            self.assertEqual(hilo("print", path).stdout, printed, name)
            path, done = self.convert(name + ".gz")
            with gzip.open(path) as file:
                self.assertEqual(file.read(), content)
            self.assertEqual(hilo("print", path).stdout, printed, name)

    def test_json_is_protobufs(self):
        path, _ = self.convert("m.json")
        with open(path) as file:
            document = json.load(file)
        self.assertEqual((document["name"], document["computations"][0]["name"]), ("add", "main"))
        [sum_] = [i for i in document["computations"][0]["instructions"] if i["name"] == "sum"]
        self.assertEqual(sum_["opcode"], "add")
        self.assertEqual(sum_["shape"]["element_type"], "F32")
        self.assertEqual(sum_["shape"]["dimensions"], ["4"])
        self.assertEqual(sum_["frontend_attributes"], {"map": {"k": "v"}})
        self.assertEqual(sum_["backend_config"], "AQ==")  # bytes, in base 64

    def test_json_keeps_all_numbers(self):
        constants = {"f32[4]": "{-0.0, inf, -inf, nan}", "f64[]": "-0.0", "bf16[2]": "{-0.0, 1}", "c64[2]": "{(-0.0, 1), (2, -0.0)}",
                     "s64[2]": "{-9223372036854775808, 1}", "u64[]": "18446744073709551615", "pred[2]": "{1, 0}", "s4[2]": "{-8, 7}"}
        for shape, literal in constants.items():
            text = f"HloModule m\nENTRY e {{ ROOT c = {shape} constant({literal}) }}\n"
            path = os.path.join(self.folder, "m.json")
            self.assertEqual(hilo("convert", "-", "-o", path, text=text).returncode, 0)
            self.assertEqual(hilo("print", path).stdout, hilo("print", "-", text=text).stdout)

    def test_json_that_is_none(self):
        for text, says in (("{", "expected the JSON of an HloModuleProto"), ("{}", "no computations"),
                           ('{"name": 3', "expected the JSON"), ('{"computations": 1}', "expected the JSON"), ("[" * 9999, "error")):
            done = hilo("print", self.write("bad.json", text))
            self.assertEqual(done.returncode, 1)
            self.assertIn(says, done.stderr)

    def test_stablehlo(self):
        path, done = self.convert("m.mlir")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no place for backend configurations", done.stderr)
        with open(path) as file:
            text = file.read()
        self.assertIn("func.func public @main(", text)
        self.assertIn('stablehlo.add %a, %b {mhlo.frontend_attributes = {k = "v"}} : tensor<4xf32> loc(#loc1)', text)
        self.assertIn('#loc1 = loc("n")', text)
        for version in "1.0.0", "1.8.0", "1.17.0":
            path, done = self.convert("m.mlirbc", f"--stablehlo-version={version}")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(path, "rb") as file:
                self.assertTrue(file.read().startswith(b"ML\xefR\rStableHLO_v" + version.encode() + b"\0"))
            printed = hilo("print", path).stdout
            self.assertIn('frontend_attributes={k="v"}, metadata={op_name="n"}', printed)
        path, done = self.convert("n.mlirbc", "--stablehlo-version=0.9.0")
        self.assertEqual((done.returncode, os.path.exists(path)), (2, False))
        self.assertIn("1.0.0 to 1.20.0", done.stderr)
        path, done = self.convert("n.mlir", "--stablehlo-version=1.0.0")
        self.assertEqual((done.returncode, os.path.exists(path)), (2, False))
        self.assertIn("is for bytecode", done.stderr)

    def test_settings_that_a_call_of_an_op_has_not(self):
        def read(target, fields):
            call = f"%0 = stablehlo.custom_call @{target}(%a) {{{fields}}} : (tensor<4xf32>) -> tensor<4xf32>"
            return hilo("print", self.write("m.mlir", "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n" + call
                                            + "\nreturn %0 : tensor<4xf32>\n}\n"))
        known = "mhlo.attributes = {}, mhlo.version = 1 : i64, backend_config = \"\""
        self.assertEqual(read("mhlo.tan", known).stderr, "")
        printed = read("mhlo.tan", known).stdout
        for fields, says in (("mhlo.attributes = {speed = 3 : i64}", "'chlo.tan' has no setting 'speed': dropped"),
                             ("mhlo.version = 2 : i64", "another mhlo.version than 1"),
                             ("mhlo.version = \"1\"", "another mhlo.version than 1"),
                             ("backend_config = \"fast\"", "'mhlo.tan' has no backend_config: dropped"),
                             ("mhlo.backend_config = {fast = true}", "has no mhlo.backend_config: dropped")):
            done = read("mhlo.tan", fields)
            self.assertEqual((done.returncode, done.stdout), (0, printed), done.stderr)
            self.assertIn(f"m.mlir:2:", done.stderr)
            self.assertIn(f"warning: {says}" if says.startswith("'") else says, done.stderr)

    def test_what_stablehlo_lacks(self):
        module = self.write("m.hlo", "HloModule m\nENTRY e {\n  a = f32[] parameter(0)\n  b = u32[] parameter(1)\n  ROOT c = s8[] stochastic-convert(a, b)\n}\n")
        done = hilo("convert", module, "-o", os.path.join(self.folder, "m.mlir"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("m.hlo:5", done.stderr)
        self.assertIn("StableHLO has no op stochastic-convert", done.stderr)

    def test_other_endings_are_refused(self):
        for name in "m.tflite", "m.onnx", "m.pb.zip", "m.after":
            path, done = self.convert(name)
            self.assertEqual((done.returncode, os.path.exists(path)), (2, False))
            self.assertIn("no form of a module ends in", done.stderr)
            path, done = self.convert(name, "--to=text")
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_print_and_opt_write_text(self):
        module = self.write("add.hlo", ADD)
        for command in "print", "opt":
            for name in "m.pb", "m.json", "m.txt.gz":
                path = os.path.join(self.folder, name)
                done = hilo(command, module, "-o", path)
                self.assertEqual((done.returncode, os.path.exists(path)), (2, False))
                self.assertIn("hilo convert", done.stderr)


class Check(Folder):
    MIXED = """HloModule m
sum { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }
ENTRY e {
  a = f32[2] parameter(0)
  b = f32[3] negate(a)
  c = f32[2] nonsense(a)
  d = f32[2] add(c, a)
  f = f32[2,2] add(a, a)
  g = f32[2] reduce(a, a), dimensions={0}, to_apply=sum
  ROOT h = f32[2] add(a, missing)
}
"""

    def test_errors_of_all_kinds_in_the_order_of_the_file(self):
        done = hilo("check", "-", "--json", text=self.MIXED)
        errors = [(e["line"], e["kind"]) for e in json.loads(done.stdout)["errors"]]
        self.assertEqual((done.returncode, errors),
                         (1, [(5, "shape"), (6, "name"), (8, "shape"), (9, "shape"), (10, "name")]))

    def test_at_most_twenty(self):
        text = self.MIXED.replace("  f =", "".join(f"  n{i} = f32[9] negate(a)\n" for i in range(50)) + "  f =")
        self.assertEqual(len(json.loads(hilo("check", "-", "--json", text=text).stdout)["errors"]), 20)

    def test_what_calls_a_broken_computation_is_left_alone(self):
        text = self.MIXED.replace("ROOT z = f32[] add(x, y)", "ROOT z = f32[] ad(x, y)")
        lines = [e["line"] for e in json.loads(hilo("check", "-", "--json", text=text).stdout)["errors"]]
        self.assertEqual(lines, [2, 5, 6, 8, 10])

    def test_counts_have_their_plurals(self):
        one = "HloModule m\nENTRY e { ROOT c = f32[] constant(1) }\n"
        self.assertIn("sound: 1 computation, 1 instruction\n", hilo("check", "-", text=one).stdout)
        self.assertIn("sound: 1 computation, 3 instructions\n", hilo("check", "-", text=ADD).stdout)

    def test_dumps_are_for_explain(self):
        for text, what in (ASSIGNMENT, "a buffer assignment"), (OUT_OF_MEMORY, "an out-of-memory message"):
            path = self.write("dump.txt", text)
            for command in (["run"], ["check"], ["print"], ["opt"], ["bench"], ["convert"]):
                done = hilo(*command, path)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"{path}: error: expected a module, found {what}; `hilo explain` reads it", done.stderr)


class Documents(Folder):
    def test_one_document_whatever_fails(self):
        module, nothing = self.write("add.hlo", ADD), os.path.join(self.folder, "absent", "file")
        for arguments in (["run"], ["run", module, "--nosuch"], ["run", module, "--device=gpu"], ["run", module, "--runs=0"],
                          ["check"], ["bench", "--nosuch"], ["nosuch"], ["list", "nosuch"], ["print", "/none"],
                          ["convert", module, "-o", "m.nosuch"], ["opt", module, "-o", nothing],
                          ["compile", module, "-o", nothing], ["run", module, "--save", nothing],
                          ["bisect", "/none"], ["opt", module, "--passes=nosuch"], ["run", module, "--input=1"]):
            done = hilo(*arguments, "--json")
            self.assertNotEqual(done.returncode, 0, arguments)
            document = json.loads(done.stdout)
            self.assertEqual(document["schema"], "hilo.errors.1", arguments)
            self.assertTrue(document["errors"][0]["message"], arguments)

    def test_one_document_where_it_goes_well(self):
        module = self.write("add.hlo", ADD)
        for arguments in (["run", module], ["check", module], ["print", module], ["bench", module, "--device=eval", "--runs=1"],
                          ["convert", module, "-o", os.path.join(self.folder, "m.pb")], ["opt", module], ["list", "ops"],
                          ["explain", module], ["bisect", module, "--device=eval"]):
            done = hilo(*arguments, "--json")
            self.assertEqual(done.returncode, 0, (arguments, done.stderr))
            self.assertTrue(json.loads(done.stdout)["schema"].startswith("hilo."), arguments)

    def test_the_document_has_standard_output_for_itself(self):
        module = self.write("add.hlo", ADD)
        for command in "print", "opt", "convert":
            document = json.loads(hilo(command, module, "--json", "-o", "-").stdout)
            self.assertEqual(document["schema"], f"hilo.{command}.1")
        done = hilo("compile", module, "--json", "-o", "-")
        self.assertEqual((done.returncode, json.loads(done.stdout)["errors"][0]["kind"]), (2, "usage"))

    def test_a_nan_is_an_error_of_the_document(self):
        done = hilo("run", "-", "--check-numerics", "--json", "--input=4xf32=nan", "--input=4xf32=0", text=ADD)
        document = json.loads(done.stdout)
        self.assertEqual((done.returncode, document["schema"]), (1, "hilo.run.1"))
        self.assertIn("first NaN", document["errors"][0]["message"])

    def test_print_and_convert(self):
        document = json.loads(hilo("print", "-", "--json", text=ADD).stdout)
        self.assertEqual(document["text"], hilo("print", "-", text=ADD).stdout)
        path = os.path.join(self.folder, "m.pb")
        document = json.loads(hilo("convert", "-", "-o", path, "--json", text=ADD).stdout)
        self.assertEqual((document["format"], document["bytes"]), ("HLO proto", os.path.getsize(path)))


if __name__ == "__main__":
    unittest.main()
