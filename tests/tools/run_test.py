"""hilo run from outside: where inputs come from, what is shown, saved and told."""
import json
import os
import pty
import struct
import subprocess
import unittest
import zipfile

from command_test import ADD, HILO, Folder, hilo

CHAIN = """HloModule chain
double { x = f32[4] parameter(0)  ROOT y = f32[4] add(x, x) }
body { s = f32[4] parameter(0)  ROOT t = f32[4] multiply(s, s) }
condition { s = f32[4] parameter(0)  i = f32[1] slice(s), slice={[0:1]}  j = f32[] reshape(i)
  n = f32[] constant(100)  ROOT c = pred[] compare(j, n), direction=LT }
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  s = f32[4] subtract(a, b)
  f = f32[4] fusion(s), kind=kLoop, calls=double
  w = f32[4] while(f), condition=condition, body=body
  z = f32[] constant(0)
  ROOT r = f32[] reduce(w, z), dimensions={0}, to_apply=sum
}
"""
PARTITIONED = """HloModule two, num_partitions=2
sum { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }
ENTRY main {
  a = f32[4] parameter(0)
  s = f32[4] negate(a)
  g = f32[8] all-gather(s), dimensions={0}, replica_groups={{0,1}}, channel_id=1, use_global_device_ids=true, metadata={op_name="g" source_file="two.py" source_line=7}
  ROOT r = f32[8] negate(g)
}
"""
WHOLE = """HloModule whole, num_partitions=2
ENTRY e {
  a = f32[4] parameter(0), sharding={replicated}
  ROOT r = f32[4] negate(a), sharding={devices=[2]<=[2]}
}
"""
MARKER = """HloModule marker
ENTRY e {
  p = f32[2]{0} parameter(0)
  ROOT r = f32[2]{0} custom-call(p), custom_call_target="mark.1"
}
"""


def npy(values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}".encode()
    header = header.ljust(117) + b"\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}f", *values)


class Streams(unittest.TestCase):
    def test_standard_error_that_takes_nothing(self):
        with open("/dev/full", "w") as full:
            for arguments in (["run", "nonexistent"], ["run", "-"]):
                done = subprocess.run([HILO, *arguments], input=CHAIN, text=True, stdout=subprocess.DEVNULL, stderr=full)
                self.assertEqual(done.returncode, 1, arguments)


class Reference(unittest.TestCase):
    DOT = """HloModule m
ENTRY e {
  a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  ROOT s = f32[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}
"""

    def test_sums_are_exact(self):
        done = hilo("run", "-", "--device=reference", "--input=3xf32=[1e9 1 -1e9]",
                    "--input=3xf32=1", text=self.DOT)
        self.assertIn("= 1\n", done.stdout, done.stderr)

    def test_takes_the_evaluators_options(self):
        done = hilo("run", "-", "--device=reference", "--matmul-precision=bf16",
                    "--input=3xf32=1.001", "--input=3xf32=1", text=self.DOT)
        self.assertIn("= 3\n", done.stdout, done.stderr)


class Only(Folder):
    INPUTS = "--input=4xf32=[3 4 5 6]", "--input=4xf32=[1 1 1 1]"

    def only(self, name, *arguments):
        return hilo("run", "-", f"--only={name}", *arguments, text=CHAIN)

    def test_takes_the_programs_inputs(self):
        self.assertIn("= 4 6 8 10\n", self.only("f", *self.INPUTS).stdout)
        self.assertIn("= 4 6 8 10\n", self.only("double", *self.INPUTS).stdout)
        self.assertIn("= 256 1296 4096 10000\n", self.only("%w", *self.INPUTS).stdout)
        self.assertIn("= 16 36 64 100\n", self.only("body", *self.INPUTS).stdout)
        self.assertIn("= 4 6 8 10\n", self.only("y", *self.INPUTS).stdout)
        self.assertIn("= 15648\n", self.only("r", *self.INPUTS).stdout)
        self.assertIn("= 15648\n", self.only("main", *self.INPUTS).stdout)

    def test_a_parameter_is_what_it_is_given(self):
        text = "HloModule p\nENTRY e { q = f32[4] parameter(0)\n  r = f32[4] parameter(1)\n  ROOT s = f32[4] add(q, r) }\n"
        for device in ("cpu", "eval"):
            for name, values in (("q", "3 4 5 6"), ("r", "1 1 1 1")):
                done = hilo("run", "-", f"--only={name}", *self.INPUTS, f"--device={device}", text=text)
                self.assertIn(f"= {values}\n", done.stdout, done.stderr)

    def test_a_custom_call_keeps_its_configuration(self):
        dims = '"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["1"],' \
            '"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]'
        text = f"""HloModule m
ENTRY e {{
  a = f32[2,3] parameter(0)
  b = f32[4,3] parameter(1)
  ROOT g = f32[2,4] custom-call(a, b), custom_call_target="__cublas$gemm", backend_config={{"gemm_backend_config":{{"alpha_real":1,"beta":0,"dot_dimension_numbers":{{{dims}}},"epilogue":"DEFAULT"}}}}
}}
"""
        done = hilo("run", "-", "--only=g", "--input=2x3xf32=1", "--input=4x3xf32=2", text=text)
        self.assertIn("= 6 6 6 6 6 6 6 6\n", done.stdout, done.stderr)

    def test_within_a_loop_the_first_round_counts(self):
        self.assertIn("= 16 36 64 100\n", self.only("t", *self.INPUTS).stdout)

    def test_takes_a_file_of_the_programs_inputs(self):
        path = os.path.join(self.folder, "io.npz")
        with zipfile.ZipFile(path, "w") as file:
            for i, values in enumerate(([3, 4, 5, 6], [1, 1, 1, 1])):
                file.writestr(f"in_{i}.npy", npy(values))
        self.assertIn("= 4 6 8 10\n", self.only("f", "--inputs", path).stdout)
        self.assertIn("in_1 for parameter z", self.only("r", "--operands", path).stderr)

    def test_operands_are_its_own(self):
        self.assertIn("= 2 2 2 2\n", self.only("f", "--operand=4xf32=1").stdout)
        self.assertIn("= 2 2 2 2\n", self.only("f", "--operand=s=4xf32=1").stdout)

    def test_what_has_no_values_of_a_run(self):
        done = self.only("sum", *self.INPUTS)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--operands gives it its own", done.stderr)
        untaken = CHAIN.replace("ROOT r = f32[] reduce(w, z), dimensions={0}, to_apply=sum",
                                "p = pred[] constant(false)\n  ROOT r = f32[4] conditional(p, w, f), "
                                "true_computation=double, false_computation=other").replace("double {", "other { x = f32[4] "
                                "parameter(0)  n = f32[4] abs(x)  ROOT y = f32[4] add(n, n) }\ndouble {")
        self.assertIn("= 8 12 16 20\n", hilo("run", "-", "--only=other", *self.INPUTS, text=untaken).stdout)
        swapped = untaken.replace("true_computation=double, false_computation=other", "true_computation=other, false_computation=double")
        done = hilo("run", "-", "--only=n", *self.INPUTS, text=swapped)
        self.assertEqual(done.returncode, 1)
        self.assertIn("a branch that was not taken", done.stderr)
        for arguments in (["--operand=4xf32=1"], ["--only=f", "--operand=4xf32=1", "--input=4xf32=1"]):
            self.assertEqual(hilo("run", "-", *arguments, text=CHAIN).returncode, 2)

    def test_on_each_device(self):
        inputs = "--input=0@0=4xf32=1", "--input=a@1=4xf32=2"
        done = hilo("run", "-", "--only=g", *inputs, text=PARTITIONED)
        for device in 0, 1:
            self.assertIn(f"out_0_dev{device} f32[8] = -1 -1 -1 -1 -2 -2 -2 -2\n", done.stdout, done.stderr)


class Inputs(Folder):
    def test_by_name(self):
        done = hilo("run", "-", "--input=b=4xf32=2", "--input=%a=4xf32=1", text=ADD)
        self.assertIn("= 3 3 3 3\n", done.stdout, done.stderr)
        done = hilo("run", "-", "--input=x=4xf32=2", text=ADD)
        self.assertEqual(done.returncode, 2)
        self.assertIn("'x' is neither a shape as in 4x8xf32=0.5 nor a parameter of add, which has a, b", done.stderr)
        pair = ADD.replace("a = f32[4]{0}", "t = (f32[4]{0}, f32[]) parameter(0)\n  a = f32[4]{0} get-tuple-element(t), index=0 //")
        done = hilo("run", "-", "--input=b=4xf32=2", "--input=t{0}=4xf32=5", text=pair)
        self.assertIn("= 7 7 7 7\n", done.stdout, done.stderr)

    def test_what_is_given_wrongly_is_said_before_compiling(self):
        path = self.write("sparse.hlo", ADD)
        for specs, words in (["a@5=4xf32=1"], "no device 5: add runs on 1 device, numbered from 0"), \
                (["a=4xf32=1", "a=4xf32=2"], "parameter a is given by --input=a=4xf32=1 already"), \
                (["b=4xf32=1", "4xf32=2", "1=4xf32=3"], "parameter b is given by"), \
                (["a=5xf32=1"], "expected f32[4], found f32[5]"), (["a=4xf32=[1 2]"], "2 values for 4 elements"), \
                (["2=4xf32=1"], "add has 2 parameter arrays"):
            done = hilo("run", path, *(f"--input={one}" for one in specs))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertNotIn("compiled in", done.stderr)
        array = os.path.join(self.folder, "array.npz")
        with zipfile.ZipFile(array, "w") as file:
            for name in "in_0.npy", "in_1.npy":
                file.writestr(name, npy([1, 2, 3]))
        for given, words in ("--input=a=@absent.npy", "absent.npy"), ("--inputs=absent.npz", "absent.npz"), \
                (f"--inputs={array}", "in_0 for parameter a: expected f32[4]"):
            for command in ("run", "bench") if "--inputs" in given else ("run",):
                done = hilo(command, path, given)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stderr)
                self.assertNotIn("compiled in", done.stderr)
        done = hilo("run", path, "--only=sum", "--operand=c=4xf32=1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--operand=c=4xf32=1: 'c' is neither", done.stderr)

    def test_one_device_of_all(self):
        given = "--input=a=4xf32=1", "--input=a@1=4xf32=2"
        for inputs in given, given[::-1]:
            done = hilo("run", "-", "--only=g", *inputs, text=PARTITIONED)
            self.assertIn("out_0_dev0 f32[8] = -1 -1 -1 -1 -2 -2 -2 -2\n", done.stdout, done.stderr)

    def test_arrays_of_each_device_are_tiles(self):
        array = os.path.join(self.folder, "array.npz")
        with zipfile.ZipFile(array, "w") as file:
            for device in range(2):
                file.writestr(f"in_0_dev{device}.npy", npy([1, 2, 3, 4]))
        module = self.write("whole.hlo", WHOLE)  # shapes cannot tell: the parameter is whole on each
        done = hilo("run", module, "--inputs", array)
        self.assertIn("out_0_dev0 f32[2] = -1 -2\nout_0_dev1 f32[2] = -3 -4\n", done.stdout, done.stderr)

    def test_copies_on_several_devices_are_the_same(self):
        nan = "nan"
        for sharding, given, words in (
                ("{replicated}", (1, 1, 2, 1), "device 2 has another value of parameter 0 (a), which {replicated} "
                 "makes the same as on device 0, than device 0"),
                ("{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}", (1, 2, 1, 3),
                 "device 3 has another value of parameter 0 (a), which {devices=[2,2]<=[2,2]T(1,0) "
                 "last_tile_dim_replicate} makes the same as on device 1, than device 1"),
                ("{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}", (1, 2, 1, 2), ""),
                ("{replicated}", (nan, nan, nan, nan), ""), ("{devices=[4]<=[4]}", (1, 2, 3, 4), "")):
            text = (f"HloModule same, num_partitions=4\nENTRY e {{ a = f32[4] parameter(0), sharding={sharding}\n"
                    "  ROOT r = f32[4] negate(a) }\n")
            inputs = [f"--input=a@{device}=4xf32={value}" for device, value in enumerate(given)]
            for device in "eval", "cpu":
                done = hilo("run", "-", f"--device={device}", "--partitioned", *inputs, text=text)
                self.assertEqual(done.returncode, 1 if words else 0, done.stderr)
                self.assertIn(words, done.stderr)
                random = hilo("run", "-", f"--device={device}", "--partitioned", text=text)
                self.assertEqual(random.returncode, 0, random.stderr)

    def test_arrays_for_nobody(self):
        module, saved = self.write("add.hlo", ADD), os.path.join(self.folder, "out.npz")
        hilo("run", "-", "--save", saved, text="HloModule i\nENTRY e { ROOT t = (f32[4], f32[4]) tuple("
             "f32[4] constant({2,2,2,2}), f32[4] constant({1,1,1,1})) }\n")
        done = hilo("run", module, "--input=4xf32=1", "--input=4xf32=1", "--expected", saved)
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"warning: {saved} has out_1, which nothing uses: there is 1 array on 1 device", done.stderr)


class Shown(Folder):
    def test_json_has_values(self):
        done = hilo("run", "-", "--json", "--input=4xf32=[1 2 nan 4]", "--input=4xf32=[0 -inf 0 0]", text=ADD)
        self.assertEqual(json.loads(done.stdout)["outputs"][0]["values"], [1, "-inf", "nan", 4])
        many = ADD.replace("[4]", "[20]")
        document = json.loads(hilo("run", "-", "--json", "--input=20xf32=1.5", "--input=20xf32=1", text=many).stdout)
        self.assertEqual(document["outputs"][0],
                         {"output": 0, "device": 0, "shape": "f32[20]", "first_values": [2.5] * 8,
                          "min": 2.5, "max": 2.5, "nans": 0})

    def test_nan_has_no_sign(self):
        done = hilo("run", "-", "--input=4xf32=-nan", "--input=4xf32=0", "--print-values=a", text=ADD)
        self.assertIn("= nan nan nan nan", done.stdout)
        self.assertNotIn("-nan", done.stdout)

    def test_quiet(self):
        module = self.write("add.hlo", ADD)
        for device in "eval", "cpu":
            done = hilo("run", module, "-q", "--device", device)
            if "libhilo_emit" not in done.stderr:
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("out_0 f32[4] = ", done.stdout)

    def test_runs(self):
        for device in "eval", "cpu":
            done = hilo("run", "-", "--runs=5", "--profile", "--json", "--device", device, text=ADD)
            if "libhilo_emit" in done.stderr:
                continue
            document = json.loads(done.stdout)
            add = next(row for row in document["profile"]["by_op"] if row["name"] == "add")
            self.assertEqual((document["runs"], add["count"], add["bytes"]), (5, 1, 48))
        self.assertEqual(hilo("run", "-", "--runs=0", text=ADD).returncode, 2)
        self.assertEqual(hilo("run", "-", "--runs=2", "--check-numerics", text=ADD).returncode, 2)

    def test_the_profile_estimates_commands(self):
        text = ("HloModule m\nENTRY e {\n  x = f32[256,256] parameter(0)\n  n = f32[256,256] cosine(x)\n"
                "  d = f32[256,256] dot(n, n), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
                "  ROOT r = f32[256,256] divide(d, x)\n}\n")
        done = hilo("run", "-", "--runs=5", "--profile", "--json", "--threads=1", "--device=cpu", text=text)
        if "libhilo_emit" in done.stderr:
            return
        commands = {row["op"]: row for row in json.loads(done.stdout)["profile"]["by_command"]}
        self.assertEqual(set(commands), {"cosine", "dot", "divide"})
        for row in commands.values():
            self.assertEqual(row["count"], 1)
            self.assertGreater(row["seconds"], 0)
            self.assertGreater(row["estimated_seconds"], 0)
        self.assertEqual(commands["dot"]["bound"], "arithmetic")
        done = hilo("run", "-", "--profile", "--device=cpu", text=text)
        self.assertRegex(done.stdout, r"estimated ms +count  bound by +command\n")
        self.assertRegex(done.stdout, r"\d  arithmetic +dot d\n")

    def test_readme_shows_the_tables_of_the_profile(self):
        source = os.environ.get("HILO_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))
        done = hilo("run", os.path.join(source, "examples/tensor_parallel_mlp/module.txt"), "--seed=1", "--profile")
        if "libhilo_emit" in done.stderr:
            return
        with open(os.path.join(source, "README.md")) as file:
            example = file.read().split("--profile --runs=20")[1].split("```")[0].splitlines()
        lines = done.stdout.splitlines()[1 - len(example):]
        self.assertEqual([line for line in lines if line.startswith("        ms")],
                         [line for line in example if line.startswith("        ms")])

    def test_the_profile_has_the_estimates_of_explain(self):
        text = ("HloModule m\nless { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
                " ROOT c = pred[] compare(a, b), direction=LT }\nENTRY e {\n  x = f32[256,256] parameter(0)\n"
                "  d = f32[256,256] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
                "  s = f32[256,256] sort(d), dimensions={1}, to_apply=less\n  low = f32[] constant(0)\n"
                "  high = f32[] constant(1)\n  noise = f32[256,256] rng(low, high), distribution=rng_uniform\n"
                "  ROOT r = f32[256,256] add(s, noise)\n}\n")
        done = hilo("run", "-", "--profile", "--json", "--threads=1", "--device=cpu", text=text)
        if "libhilo_emit" in done.stderr:
            return
        measured = {row["name"]: row for row in json.loads(done.stdout)["profile"]["by_command"]}
        planned = json.loads(hilo("explain", "-", "--commands", "--json", "--threads=1", text=text).stdout)["commands"]
        self.assertEqual(set(measured), {one["name"] for one in planned})
        for one in planned:
            row = measured[one["name"]]
            self.assertEqual((row["estimated_seconds"], row["bound"]), (one.get("seconds", 0), one.get("bound", "unknown")))
        self.assertEqual({one["kind"] for one in planned if "seconds" not in one}, {"evaluated"})

    def test_median_and_least_of_several_runs(self):
        for device in "eval", "cpu":
            done = hilo("run", "-", "--runs=3", "--device", device, text=ADD)
            self.assertRegex(done.stdout, r"3 runs after one to warm up: median [\d.]+ ms, least [\d.]+ ms\n", done.stderr)
            self.assertIn("1 run after", hilo("run", "-", "--runs=1", "--device", device, text=ADD).stdout)
        self.assertNotIn("warm up", hilo("run", "-", "--runs=3", "-q", text=ADD).stdout)
        times = json.loads(hilo("run", "-", "--runs=3", "--json", text=ADD).stdout)["times"]
        self.assertLessEqual(times["least_run_s"], times["run_s"])

    def test_what_differs_by_a_nan(self):
        module, saved = self.write("add.hlo", ADD), os.path.join(self.folder, "out.npz")
        hilo("run", module, "--input=4xf32=1", "--input=4xf32=[1 1 nan inf]", "--save", saved)
        done = hilo("run", module, "--input=4xf32=1", "--input=4xf32=1", "--expected", saved)
        self.assertEqual(done.returncode, 3)
        self.assertIn("2 of 4 differ, all by a NaN or an infinity\n", done.stdout)
        done = hilo("run", module, "--input=4xf32=1", "--input=4xf32=[2 1 1 1]", "--expected", saved)
        self.assertIn("3 of 4 differ, 2 of them by a NaN or an infinity; largest finite difference 1 abs", done.stdout)

    def test_tolerance_is_told(self):
        module, saved = self.write("add.hlo", ADD), os.path.join(self.folder, "out.npz")
        hilo("run", module, "--save", saved)
        self.assertIn("tolerance: |difference| <= 0.0001 * (|expected| + its maximum)",
                      hilo("run", module, "--expected", saved).stdout)
        self.assertIn("tolerance: |difference| <= 1 + 0.5 * |expected|",
                      hilo("run", module, "--expected", saved, "--rtol=0.5", "--atol=1").stdout)
        document = json.loads(hilo("run", module, "--expected", saved, "--json").stdout)
        self.assertEqual(document["tolerance"], {"relative": 1e-4, "absolute": 0, "elementwise": False})
        self.assertIn("1e-4", hilo("run", "--help").stdout)

    def test_collectives_in_the_profile(self):
        for device in "eval", "cpu":
            done = hilo("run", "-", "--profile", "--partitioned", "--device", device, text=PARTITIONED)
            if "libhilo_emit" in done.stderr:
                continue
            self.assertRegex(done.stdout, r"ms +group +count +MiB +collective; MiB that a device sends\n"
                                          r" +[\d.]+ +2 +1 +0.00  all-gather g\S*, two.py:7\n")
            done = hilo("run", "-", "--profile", "--partitioned", "--json", "--device", device, text=PARTITIONED)
            [row] = json.loads(done.stdout)["profile"]["collectives"]
            self.assertEqual((row["kind"], row["group"], row["sent_bytes"], row["count"]), ("all-gather", 2, 16, 1))

    def test_tables_fit_the_terminal(self):
        for command, limit in (["list", "custom-calls"], 60), (["list", "custom-calls"], 0):
            ours, its = pty.openpty()
            environment = {**os.environ, "COLUMNS": str(limit)} if limit else os.environ
            with subprocess.Popen([HILO, *command], stdout=its if limit else subprocess.PIPE, env=environment) as run:
                os.close(its)
                shown = b""
                if limit:
                    try:
                        while piece := os.read(ours, 4096):
                            shown += piece
                    except OSError:  # the other side was closed
                        pass
                else:
                    shown = run.stdout.read()
                os.close(ours)
            longest = max(len(line) for line in shown.decode().replace("\r", "").split("\n"))
            self.assertEqual(longest <= 100, bool(limit), longest)


class Messages(Folder):
    def test_a_marker_passes_its_operand_on(self):
        for device in "eval", "cpu":
            done = hilo("run", "-", "--device", device, text=MARKER)
            if "libhilo_emit" in done.stderr:
                continue
            self.assertEqual(done.returncode, 1)
            self.assertIn("pass its operand on with 'mark.1=operand'", done.stderr)
            done = hilo("run", "-", "--device", device, "--custom-call=mark.1=operand", "--input=2xf32=[3 4]", text=MARKER)
            self.assertIn("= 3 4\n", done.stdout, done.stderr)

    def test_results_in_place_of_each_others_operands(self):
        crossed = """HloModule m
ENTRY e {
  a = f32[2] parameter(0)
  x = f32[2] negate(a)
  y = f32[2] exponential(a)
  ROOT c = (f32[2], f32[2]) custom-call(x, y), custom_call_target="mark", output_to_operand_aliasing={{0}: (1, {}), {1}: (0, {})}
}
"""
        for device in "eval", "cpu":
            done = hilo("run", "-", "--device", device, "--custom-call=mark=operand", "--input=2xf32=[0 0]", text=crossed)
            if "libhilo_emit" not in done.stderr:
                self.assertIn("out_0 f32[2] = -0 -0\nout_1 f32[2] = 1 1\n", done.stdout, done.stderr)

    def test_an_operand_of_another_shape_is_not_offered(self):
        other = MARKER.replace("p = f32[2]{0}", "p = f32[3]{0}")
        self.assertNotIn("operand", hilo("run", "-", text=other).stderr)
        done = hilo("run", "-", "--custom-call=mark.1=operand", text=other)
        self.assertEqual(done.returncode, 2)
        self.assertIn("its result f32[2] cannot be its operand, which is f32[3]", done.stderr)

    def test_what_runs_in_the_evaluator(self):
        done = hilo("run", "-", "--device=cpu", "--custom-call=mark.1=operand", text=MARKER)
        if "libhilo_emit" not in done.stderr:
            self.assertIn("custom call `mark.1` runs in the evaluator (1 of 1 step)", done.stderr)
            self.assertIn("1 step in the evaluator", done.stderr)


    def test_more_than_can_be_counted(self):
        huge = ADD.replace("[4]", "[1073741824,1073741824]").replace("{0}", "{1,0}")
        done = hilo("run", "-", "--device=eval", text=huge)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the run needs more than 1 EiB, and", done.stderr)

    def test_devices_that_are_in_no_group(self):
        for device in "eval", "cpu":
            done = hilo("run", "-", "--device", device, "--partitioned", "--devices=8", text=PARTITIONED)
            self.assertIn("its replica groups name 2 of 8 devices: 2 is the first in none", done.stderr)

    def test_a_program_for_other_devices(self):
        for device in "eval", "cpu":
            done = hilo("run", "-", "--device", device, "--devices=3", text=PARTITIONED)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--devices=3: two is for 2 devices", done.stderr)

    def test_options_like_the_unknown_one(self):
        done = hilo("run", self.write("add.hlo", ADD), "--sed=1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("Options like it: --seed", done.stderr)

    def test_seeds_that_are_none(self):
        for seed in "-1", "99999999999999999999999", "1.5", "x":
            done = hilo("run", "-", f"--seed={seed}", text=ADD)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--seed", done.stderr)


class Saved(Folder):
    def save(self, name, text=ADD):
        path = os.path.join(self.folder, name)
        return path, hilo("run", "-", "--input=4xf32=1", "--input=4xf32=2", "--save", path, text=text)

    def test_what_the_ending_says(self):
        path, done = self.save("out.npy")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, "rb") as file:
            self.assertEqual(file.read()[-16:], struct.pack("<4f", 3, 3, 3, 3))
        path, done = self.save("out.safetensors")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, "rb") as file:
            self.assertIn(b'"out_0"', file.read())

    def test_or_nothing(self):
        for name in "out.csv", "out.npzz", "out.pt":
            path, done = self.save(name)
            self.assertEqual((done.returncode, os.path.exists(path)), (2, False))
            self.assertIn("expected a name that ends in .npz, .safetensors or .npy", done.stderr)
        two = ADD.replace("ROOT sum = f32[4]{0} add(a, b)", "ROOT t = (f32[4]{0}, f32[4]{0}) tuple(a, b)")
        path, done = self.save("out.npy", two)
        self.assertEqual((done.returncode, os.path.exists(path)), (2, False))
        self.assertIn("an .npy holds one array; there are 2 outputs on 1 device", done.stderr)


if __name__ == "__main__":
    unittest.main()
