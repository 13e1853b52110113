"""`hilo compile`: objects are linked into programs by the system's compiler, and what these compute is
compared with the evaluator."""
import ast
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

HILO = os.environ.get("HILO_COMMAND", "build/hilo")

# Reads a file for each parameter and writes one for each result; argv: parameters, then results.
DRIVER = """
#include <cstdio>
#include <cstring>
#include <vector>
#include "NAME.h"
#include "NAME.h"
static void* array(size_t bytes) { return std::aligned_alloc(64, (bytes + 127) / 64 * 64); }
int main(int, char** argv) {
  std::vector<const void*> parameters;
  std::vector<void*> results;
  std::vector<std::vector<char>> before;
  for (int i = 0; i < NAME_PARAMETERS; ++i) {
    const size_t bytes = NAME_parameter_bytes[i];
    void* values = array(bytes);
    std::FILE* file = std::fopen(*++argv, "rb");
    if (std::fread(values, 1, bytes, file) != bytes) return 3;
    std::fclose(file);
    parameters.push_back(values);
    before.emplace_back((char*)values, (char*)values + bytes);
  }
  for (int i = 0; i < NAME_RESULTS; ++i) {
    results.push_back(array(NAME_result_bytes[i] + 1));
    ((char*)results[i])[NAME_result_bytes[i]] = 77;
  }
  NAME_program program;
  for (int twice = 0; twice < 2; ++twice)
    if (program(parameters.data(), results.data()) != 0) return 4;
  for (int i = 0; i < NAME_PARAMETERS; ++i)
    if (std::memcmp(parameters[i], before[i].data(), before[i].size()) != 0) return 5;
  for (int i = 0; i < NAME_RESULTS; ++i) {
    if (((char*)results[i])[NAME_result_bytes[i]] != 77) return 6;
    std::FILE* file = std::fopen(*++argv, "wb");
    std::fwrite(results[i], 1, NAME_result_bytes[i], file);
    std::fclose(file);
  }
}
"""

LAYERS = """HloModule layers
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[8,16] parameter(0)
  w = f32[16,4] parameter(1)
  bias = f32[4] constant({0.5, -1.25, 3, 1e-3})
  table = f32[4,4] constant({{1,2,3,4},{5,6,7,8},{9,1,2,3},{4,5,6,7}})
  product = f32[8,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  biases = f32[8,4] broadcast(bias), dimensions={1}
  sum = f32[8,4] add(product, biases)
  squeezed = f32[8,4] tanh(sum)
  zero = f32[] constant(0)
  rows = f32[8] reduce(squeezed, zero), dimensions={1}, to_apply=add
  mixed = f32[8,4] dot(squeezed, table), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT out = (f32[8,4], f32[8], f32[16,4], (f32[8,4])) tuple(mixed, rows, w, (f32[8,4]) tuple(squeezed))
}
"""
FUNCTIONS = ["cosine", "sine", "tan", "tanh", "exponential", "exponential-minus-one", "erf", "cbrt",
             "logistic", "sinh", "cosh", "asin", "acos", "atanh", "asinh"]
COMPLEX_FUNCTIONS = ["cosine", "sine", "tan", "tanh", "exponential", "log", "sqrt", "sinh", "cosh", "asin", "acos",
                     "atanh", "asinh", "acosh", "abs"]
COMPLEX_MATHS = "HloModule maths\nENTRY e {\n x = f64[9] parameter(0)\n half = f64[9] broadcast(f64[] constant(0.5))\n" \
    " z = c128[9] complex(x, half)\n" + "".join(
        f" z{i} = {'f64' if name == 'abs' else 'c128'}[9] {name}(z)\n r{i} = f64[9] real(z{i})\n i{i} = f64[9] imag(z{i})\n"
        for i, name in enumerate(COMPLEX_FUNCTIONS)) + \
    " w = c128[9] complex(half, x)\n q = c128[9] divide(z, w)\n rq = f64[9] real(q)\n iq = f64[9] imag(q)\n" + \
    f" ROOT t = ({', '.join(['f64[9]'] * (2 * len(COMPLEX_FUNCTIONS) + 2))}) tuple(" + \
    ", ".join(f"r{i}, i{i}" for i in range(len(COMPLEX_FUNCTIONS))) + ", rq, iq)\n}\n"
MATHS = "HloModule maths\nENTRY e {\n x = f64[9] parameter(0)\n one = f64[9] broadcast(f64[] constant(1.5))\n" \
        " up = f64[9] add(one, f64[9] multiply(x, x))\n" + "".join(
            f" r{i} = f64[9] {name}(x)\n" for i, name in enumerate(FUNCTIONS)) + \
        " l = f64[9] log(up)\n l1 = f64[9] log-plus-one(up)\n ach = f64[9] acosh(up)\n" \
        " p = f64[9] power(up, x)\n at = f64[9] atan2(x, up)\n" + \
        f" ROOT t = ({', '.join(['f64[9]'] * (len(FUNCTIONS) + 5))}) tuple(" + \
        ", ".join(f"r{i}" for i in range(len(FUNCTIONS))) + ", l, l1, ach, p, at)\n}\n"
LOOP = """HloModule loop, input_output_alias={ {0}: (0, {}, must-alias) }
condition { s = (f32[6,5], s32[], f32[5]) parameter(0)
 i = s32[] get-tuple-element(s), index=1
 ROOT more = pred[] compare(i, s32[] constant(6)), direction=LT }
body { s = (f32[6,5], s32[], f32[5]) parameter(0)
 a = f32[6,5] get-tuple-element(s), index=0
 i = s32[] get-tuple-element(s), index=1
 v = f32[5] get-tuple-element(s), index=2
 row = f32[1,5] reshape(v)
 zero = s32[] constant(0)
 b = f32[6,5] dynamic-update-slice(a, row, i, zero)
 next = s32[] add(i, s32[] constant(2))
 w = f32[5] multiply(v, v)
 ROOT t = (f32[6,5], s32[], f32[5]) tuple(b, next, w) }
ENTRY e {
 a = f32[6,5] parameter(0)
 v = f32[5] parameter(1)
 start = s32[] constant(0)
 s = (f32[6,5], s32[], f32[5]) tuple(a, start, v)
 done = (f32[6,5], s32[], f32[5]) while(s), condition=condition, body=body
 r = f32[6,5] get-tuple-element(done), index=0
 k = f32[5] get-tuple-element(done), index=2
 c = f32[3] constant({7, 8, 9})
 ROOT out = (f32[6,5], f32[5], f32[3]) tuple(r, k, c)
}
"""
LARGE = """HloModule large
ENTRY e {
 a = f32[400000] parameter(0)
 b = f32[400000] parameter(1)
 c = f32[400000] multiply(a, b)
 ROOT d = f32[400000] exponential(c)
}
"""
EMPTY = "HloModule empty\nENTRY e {\n c = f32[] constant(2)\n ROOT d = f32[2] broadcast(c)\n}\n"
SORTED = """HloModule sorted
less { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=LT }
ENTRY e {
 x = f32[10] parameter(0)
 ROOT in_order = f32[10] sort(x), dimensions={0}, to_apply=less
}
"""
# Routines at the module's top, in a loop's body, in the place of an operand, and with results that
# are a tuple; kernels between them.
ROUTINES = """HloModule routines
greater { a = f32[] parameter(0)
 b = f32[] parameter(1)
 i = s32[] parameter(2)
 j = s32[] parameter(3)
 ROOT c = pred[] compare(a, b), direction=GT }
condition { s = (s32[], f32[96,96]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 ROOT more = pred[] compare(i, s32[] constant(3)), direction=LT }
body { s = (s32[], f32[96,96]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 a = f32[96,96] get-tuple-element(s), index=1
 p = f32[96,96] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 small = f32[96,96] broadcast(f32[] constant(0.03125)), dimensions={}
 b = f32[96,96] multiply(p, small)
 next = s32[] add(i, s32[] constant(1))
 ROOT t = (s32[], f32[96,96]) tuple(next, b) }
ENTRY e {
 x = f32[96,96] parameter(0)
 zero = s32[] constant(0)
 s = (s32[], f32[96,96]) tuple(zero, x)
 done = (s32[], f32[96,96]) while(s), condition=condition, body=body
 y = f32[96,96] get-tuple-element(done), index=1
 places = s32[96,96] iota(), iota_dimension=1
 sorted = (f32[96,96], s32[96,96]) sort(y, places), dimensions={1}, to_apply=greater, is_stable=true
 values = f32[96,96] get-tuple-element(sorted), index=0
 order = s32[96,96] get-tuple-element(sorted), index=1
 ordered = f32[96,96] convert(order)
 turned = c64[96,49] fft(values), fft_type=RFFT, fft_length={96}
 re = f32[96,49] real(turned)
 ROOT t = (f32[96,96], f32[96,96], f32[96,49]) tuple(values, ordered, re)
}
"""
# A library's products with parts of an array that a loop's counter names.
STACKED = """HloModule stacked
condition { s = (s32[], f32[512,512], f32[3,512,512]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 ROOT more = pred[] compare(i, s32[] constant(3)), direction=LT }
body { s = (s32[], f32[512,512], f32[3,512,512]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 a = f32[512,512] get-tuple-element(s), index=1
 w = f32[3,512,512] get-tuple-element(s), index=2
 zero = s32[] constant(0)
 layer = f32[1,512,512] dynamic-slice(w, i, zero, zero), dynamic_slice_sizes={1,512,512}
 weights = f32[512,512] reshape(layer)
 p = f32[512,512] dot(a, weights), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 small = f32[512,512] broadcast(f32[] constant(0.03125)), dimensions={}
 b = f32[512,512] multiply(p, small)
 next = s32[] add(i, s32[] constant(1))
 ROOT t = (s32[], f32[512,512], f32[3,512,512]) tuple(next, b, w) }
ENTRY e {
 x = f32[512,512] parameter(0)
 w = f32[3,512,512] parameter(1)
 zero = s32[] constant(0)
 s = (s32[], f32[512,512], f32[3,512,512]) tuple(zero, x, w)
 done = (s32[], f32[512,512], f32[3,512,512]) while(s), condition=condition, body=body
 ROOT y = f32[512,512] get-tuple-element(done), index=1
}
"""
# A step that is evaluated: nothing else knows the size of what it makes.
EVALUATED = """HloModule evaluated
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
ENTRY e {
 x = f32[10] parameter(0)
 n = s32[] constant(7)
 part = f32[<=10] set-dimension-size(x, n), dimensions={0}
 zero = f32[] constant(0)
 ROOT sum = f32[] reduce(part, zero), dimensions={0}, to_apply=add
}
"""
FEED = "HloModule feed\nENTRY e {\n t = token[] after-all()\n f = (f32[3], token[]) infeed(t)\n" \
       " ROOT x = f32[3] get-tuple-element(f), index=0\n}\n"
UNKNOWN = "HloModule unknown\nENTRY e {\n x = f32[3] parameter(0)\n" \
          " ROOT y = f32[3] custom-call(x), custom_call_target=\"theirs\"\n}\n"
SEVERAL = "HloModule several, replica_count=2\nadd { a = f32[] parameter(0)\n b = f32[] parameter(1)\n" \
          " ROOT c = f32[] add(a, b) }\nENTRY e {\n x = f32[3] parameter(0)\n" \
          " ROOT y = f32[3] all-reduce(x), replica_groups={{0,1}}, to_apply=add\n}\n"
DYNAMIC = "HloModule dynamic\nENTRY e {\n x = f32[10] parameter(0)\n n = s32[] constant(7)\n" \
          " ROOT part = f32[<=10] set-dimension-size(x, n), dimensions={0}\n}\n"

LIBRARIES = os.path.dirname(os.path.realpath(HILO))
SANITIZE = [f"-fsanitize={os.environ['HILO_SANITIZE']}"] if os.environ.get("HILO_SANITIZE") else []


def run(*arguments, **options):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=120, **options)


def npz_arrays(path):
    """Raw bytes and dtype of each out_I."""
    out = []
    with zipfile.ZipFile(path) as archive:
        for i in range(len(archive.namelist())):
            data = archive.read(f"out_{i}.npy")
            size = struct.unpack_from("<H", data, 8)[0]
            out.append((ast.literal_eval(data[10:10 + size].decode())["descr"], data[10 + size:]))
    return out


class ObjectFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w" if isinstance(text, str) else "wb") as file:
            file.write(text)
        return self.path(name)

    def compile(self, text, name="model", *flags):
        module = self.write(name + ".hlo", text)
        done = run(HILO, "compile", module, "-o", self.path(name + ".o"), "--header",
                   self.path(name + ".h"), f"--name={name}", *flags)
        if "libhilo_emit.so cannot be opened" in done.stderr:
            self.skipTest("no code generator")
        return done

    def link(self, driver, name, needs_run_time):
        library = [f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}", "-lhilo_run", *SANITIZE] if needs_run_time else []
        linked = run("c++", "-std=c++17", "-Wall", "-Werror", f"-I{self.folder}", driver, self.path(name + ".o"),
                     "-o", self.path("main"), *library, "-lm")
        self.assertEqual(linked.returncode, 0, linked.stderr)

    def compare(self, text, shapes, *flags, tolerance=2e-6, bound=1.0, needs_run_time=False):
        """shapes: 'f32' or 'f64' and dims of each parameter."""
        name = "model"
        done = self.compile(text, name, *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        driver = self.write("main.cpp", DRIVER.replace("NAME", name))
        with open(self.path(name + ".h")) as file:
            self.assertIn("-lhilo_run" if needs_run_time else "libm and nothing else", file.read())
        self.link(driver, name, needs_run_time)
        values = random.Random(7)
        given, files = [], []
        for i, (kind, dims) in enumerate(shapes):
            count = 1
            for dim in dims:
                count *= dim
            numbers = [values.uniform(-bound, bound) for _ in range(count)]
            files.append(self.write(f"in_{i}.bin", struct.pack(f"<{count}{'f' if kind == 'f32' else 'd'}", *numbers)))
            given.append(f"--input={'x'.join(map(str, dims))}x{kind}=@{files[-1]}")
        ran = run(HILO, "run", "--device=eval", self.path(name + ".hlo"), *given, "--save", self.path("out.npz"))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        expected = npz_arrays(self.path("out.npz"))
        outputs = [self.path(f"out_{i}.bin") for i in range(len(expected))]
        ran = run(self.path("main"), *files, *outputs)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        for (kind, wanted), output in zip(expected, outputs):
            with open(output, "rb") as file:
                got = file.read()
            self.assertEqual(len(got), len(wanted))
            form = f"<{len(got) // int(kind[2:])}{'f' if kind == '<f4' else 'd'}"
            for a, b in zip(struct.unpack(form, got), struct.unpack(form, wanted)):
                self.assertLessEqual(abs(a - b), tolerance * max(1, abs(b)))

    def test_products_constants_and_results_that_are_parameters(self):
        self.compare(LAYERS, [("f32", (8, 16)), ("f32", (16, 4))])

    def test_every_function_of_libm(self):
        self.compare(MATHS, [("f64", (9,))], tolerance=1e-15, bound=0.9)
        self.compare(COMPLEX_MATHS, [("f64", (9,))], tolerance=1e-15, bound=0.9)

    def test_loops_that_write_over_a_parameter(self):
        self.compare(LOOP, [("f32", (6, 5)), ("f32", (5,))])

    def test_what_threads_would_share(self):
        self.compare(LARGE, [("f32", (400000,)), ("f32", (400000,))])

    def test_no_parameters(self):
        self.compare(EMPTY, [])

    def test_another_processor(self):
        self.compare(LAYERS, [("f32", (8, 16)), ("f32", (16, 4))], "--target-cpu=x86-64-v2")

    def test_two_objects_in_one_program_of_c(self):
        for name, text in (("first", LAYERS), ("second", EMPTY)):
            self.assertEqual(self.compile(text, name).returncode, 0)
        main = self.write("main.c", '#include "first.h"\n#include "second.h"\n'
                          "_Alignas(64) static float out[16], work[SECOND / 4];\n"
                          "int main(void) { void* results[] = {out}; (void)&first;\n"
                          " return second(0, results, work) != 0 || out[1] != 2; }\n"
                          .replace("SECOND", "second_WORKSPACE_BYTES"))
        linked = run("cc", f"-I{self.folder}", main, self.path("first.o"), self.path("second.o"), "-o",
                     self.path("main"), "-lm")
        self.assertEqual(linked.returncode, 0, linked.stderr)
        self.assertEqual(run(self.path("main")).returncode, 0)
        undefined = run("nm", "-u", self.path("first.o")).stdout
        self.assertNotIn("hilo", undefined.lower())
        self.assertNotIn("llvm", undefined.lower())

    def test_routines(self):
        for flags in ([], ["--threads=2"], ["--threads=0"]):
            self.compare(ROUTINES, [("f32", (96, 96))], *flags, needs_run_time=True, tolerance=1e-4)
            self.compare(STACKED, [("f32", (512, 512)), ("f32", (3, 512, 512))], *flags, needs_run_time=True,
                         tolerance=1e-4)
        self.compare(SORTED, [("f32", (10,))], needs_run_time=True)

    def test_threads_have_the_same_bits(self):
        outputs = []
        for flags in ([], ["--threads=1", "--stand-alone"], ["--threads=3"]):
            self.compare(LARGE, [("f32", (400000,)), ("f32", (400000,))], *flags,
                         needs_run_time="--threads=3" in flags)
            with open(self.path("out_0.bin"), "rb") as file:
                outputs.append(file.read())
        self.assertEqual(len(set(outputs)), 1)

    def test_evaluated_steps(self):
        self.compare(EVALUATED, [("f32", (10,))], needs_run_time=True)
        done = self.compile(EVALUATED, "model", "--json")
        report = json.loads(done.stdout)
        self.assertEqual((report["name"], report["needs"], report["routines"]), ("model", "hilo_run", 0))
        self.assertIn("set-dimension-size", " ".join(report["evaluated"]))

    def test_a_failing_step_says_why(self):
        self.assertEqual(self.compile(FEED).returncode, 0)
        driver = self.write("main.cpp", """
#include <cstdio>
#include "model.h"
alignas(64) static float out[16];
alignas(64) static char workspace[model_WORKSPACE_BYTES];
int main() {
  void* results[] = {out};
  const int status = model(nullptr, results, workspace);
  std::puts(workspace);
  return status;
}
""")
        self.link(driver, "model", True)
        done = run(self.path("main"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("infeed", done.stdout)

    def test_what_an_object_cannot_have_is_named(self):
        for text, flags, words in ((SORTED, ["--stand-alone"], ["sort 'in_order'", "model.hlo:7"]),
                                   (UNKNOWN, [], ["custom-call 'y'", "model.hlo:4"]),
                                   (SEVERAL, [], ["one device", "model.hlo:7"]),
                                   (DYNAMIC, [], ["f32[<=10]", "model.hlo:5"])):
            done = self.compile(text, "model", *flags)
            self.assertEqual(done.returncode, 1, done.stderr)
            for word in words:
                self.assertIn(word, done.stderr)
            self.assertFalse(os.path.exists(self.path("model.o")))

    def test_wrong_usage(self):
        for flags, word in ((["--name=2x"], "2x"), (["--name=while"], "while"), (["--name=a b"], "a b"),
                            (["--target-cpu=abacus"], "abacus")):
            module = self.write("e.hlo", EMPTY)
            done = run(HILO, "compile", module, "-o", self.path("e.o"), *flags)
            if "libhilo_emit.so cannot be opened" in done.stderr:
                self.skipTest("no code generator")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(word, done.stderr)
            self.assertFalse(os.path.exists(self.path("e.o")))
        done = self.compile(MATHS, "sinh")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("libm's sinh", done.stderr)

    def test_llvm_ir(self):
        done = self.compile(EMPTY, "model", "--emit-llvm", self.path("model.ll"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("model.ll")) as file:
            self.assertIn("@model(", file.read())


if __name__ == "__main__":
    if not shutil.which("c++"):
        sys.exit(77)
    unittest.main()
