"""The command from outside: exit statuses, messages, files, and input that is wrong."""
import json
import os
import pty
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.environ.get("HILO_SOURCE", os.path.join(os.path.dirname(__file__), "../.."))
HILO = os.environ.get("HILO_COMMAND", "build/hilo")
ADD = """HloModule add
ENTRY main {
  a = f32[4]{0} parameter(0)
  b = f32[4]{0} parameter(1)
  ROOT sum = f32[4]{0} add(a, b)
}
"""


def hilo(*arguments, text=None, seconds=60, memory=None):
    def limit():
        if memory and not os.environ.get("HILO_SANITIZE"):  # which map all of the address space
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    start = time.monotonic()
    done = subprocess.run([HILO, *arguments], input=text, capture_output=True, timeout=seconds,
                          preexec_fn=limit, text=not isinstance(text, bytes))
    done.seconds = time.monotonic() - start
    return done


def wait_until_caught(process, signal_number):
    """Until the process has a handler for the signal (or has ended, or a minute has passed)."""
    for _ in range(6000):
        with open(f"/proc/{process.pid}/status") as status:
            caught = int(re.search(r"^SigCgt:\s*(\w+)", status.read(), re.MULTILINE)[1], 16)
        if caught >> (signal_number - 1) & 1 or process.poll() is not None:
            return
        time.sleep(0.01)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w" if isinstance(text, str) else "wb") as file:
            file.write(text)
        return path


class Command(Folder):
    def test_runs_given_inputs(self):
        module = self.write("add.hlo", ADD)
        done = hilo("run", module, "--input=4xf32=[1 2 3 4]", "--input=4xf32=0.5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("out_0 f32[4] = 1.5 2.5 3.5 4.5", done.stdout)

    def test_reads_standard_input(self):
        done = hilo("run", "-", "--input=4xf32=1", "--input=4xf32=1", text=ADD)
        self.assertIn("= 2 2 2 2", done.stdout)

    def test_same_seed_same_bits(self):
        module = self.write("add.hlo", ADD)
        one, two, other = (hilo("run", module, f"--seed={seed}").stdout for seed in (1, 1, 2))
        self.assertEqual(one, two)
        self.assertNotEqual(one, other)

    def test_random_values_are_as_documented(self):
        def splitmix(state, i):
            z = (state + (i + 1) * 0x9e3779b97f4a7c15) % 2**64
            z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 % 2**64
            z = (z ^ z >> 27) * 0x94d049bb133111eb % 2**64
            return z ^ z >> 31

        def value(i):
            bits = splitmix(splitmix((5 << 32) + (1 << 16), 0), i)
            return (sum(bits >> 16 * part & 0xffff for part in range(4)) - 131070) * 3**0.5 / 655360

        done = hilo("run", "-", "--seed=5", "--input=0=4xf32=0", text=ADD)
        for i, shown in enumerate(done.stdout.split("=")[1].split()):
            self.assertAlmostEqual(float(shown) / value(i), 1, delta=1e-6)

    def test_saves_and_compares(self):
        module, saved = self.write("add.hlo", ADD), os.path.join(self.folder, "out.npz")
        self.assertEqual(hilo("run", module, "--seed=3", "--save", saved).returncode, 0)
        self.assertEqual(hilo("run", module, "--seed=3", "--expected", saved).returncode, 0)
        differs = hilo("run", module, "--seed=4", "--expected", saved)
        self.assertEqual(differs.returncode, 3)
        self.assertIn("DIFFERS", differs.stdout)
        self.assertIn("[0]: got", differs.stdout)

    def test_json(self):
        done = hilo("run", "-", "--json", text=ADD)
        document = json.loads(done.stdout)
        self.assertEqual(document["schema"], "hilo.run.1")
        self.assertEqual(document["times"]["run_s"], document["seconds"])
        for name in ("read_s", "compile_s", "inputs_s"):
            self.assertGreater(document["times"][name], 0)
        done = hilo("check", "-", "--json", text=ADD.replace("add(a", "add(c"))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stdout)["errors"][0]["line"], 5)

    def test_one_document_of_several_files(self):
        sound, unsound = self.write("sound.hlo", ADD), self.write("unsound.hlo", ADD.replace("add(a, b)", "add(a, c)"))
        absent = os.path.join(self.folder, "absent.hlo")
        done = hilo("check", sound, unsound, absent, self.folder, "--json")
        document = json.loads(done.stdout)
        taken = unsound  # of the folder: the last of its modules
        self.assertEqual((done.returncode, document["files"]), (1, [sound, unsound, absent, taken]))
        self.assertEqual([(error["file"], error["line"]) for error in document["errors"]],
                         [(unsound, 5), (absent, 0), (taken, 5)])
        done = hilo("check", sound, sound, "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["errors"]), (0, []))

    def test_error_shows_line_and_caret(self):
        module = self.write("bad.hlo", ADD.replace("add(a, b)", "add(a, c)"))
        done = hilo("check", module)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"bad\.hlo:5:\d+: error: ")
        self.assertIn("ROOT sum", done.stderr)
        self.assertIn("^", done.stderr)

    def test_error_shows_utf8_as_it_stands(self):
        bad = "  ROOT sum = f32[4]{0} /*größe*/ add(a, c), metadata={op_name=\"日本\"}"
        text = ADD.replace("  ROOT sum = f32[4]{0} add(a, b)", bad)
        done = hilo("check", self.write("bad.hlo", text.encode()))
        line, caret = done.stderr.splitlines()[1:3]
        self.assertEqual(line, "  " + bad)
        self.assertEqual(line[caret.index("^")], "c")
        damaged = text.encode().replace("日".encode(), b"\xe6\x97\x1b[31m\xc2\x9b")
        done = hilo("check", self.write("bad.hlo", damaged))
        self.assertNotIn("\x1b", done.stderr)
        self.assertNotIn("\x9b", done.stderr)

    def test_unknown_words_are_named(self):
        self.assertIn("--nosuch is not known", hilo("run", "--nosuch").stderr)
        self.assertIn("nosuch is not known", hilo("nosuch").stderr)

    def test_numbers_out_of_range(self):
        module = self.write("add.hlo", ADD)
        for command in (["run", module, "--timeout=nan"], ["run", module, "--timeout=-1"],
                        ["run", module, "--timeout=inf"], ["bench", module, "--timeout=1e300"],
                        ["run", module, "--devices=-1"], ["run", module, "--max-steps=-1"],
                        ["opt", module, "--stop-after=-1"], ["run", module, "--rtol=-1"],
                        ["run", module, "--atol=nan"], ["bisect", module, "--rtol=nan"]):
            done = hilo(*command)
            self.assertEqual(done.returncode, 2, (command, done.stdout))
            self.assertIn(command[2].split("=")[0], done.stderr)

    def test_a_file_behind_any_option(self):
        module = self.write("add.hlo", ADD)
        done = hilo("run", "--input=4xf32=1", "--input", "4xf32=2", module, "--seed=1")
        self.assertIn("out_0 f32[4] = 3 3 3 3", done.stdout, done.stderr)
        self.assertEqual(hilo("opt", "--disable=cse", module, "--verify").returncode, 0)

    def test_one_document_of_errors(self):
        for command in ["check"], ["run"], ["opt"], ["explain"], ["bench"]:
            for file in ("/none", self.write("broken.hlo", "HloModule m\nENTRY"), self.folder,
                         self.write("unsound.hlo", ADD.replace("b = f32[4]", "b = f32[5]"))):
                done = hilo(*command, file, "--json")
                self.assertEqual(json.loads(done.stdout)["schema"], "hilo.errors.1", (command, file))

    def test_every_help_has_examples(self):
        for line in hilo("--help").stdout.split("Subcommands:")[1].split("Examples:")[0].split("\n"):
            if line.strip():
                self.assertIn("Examples:", hilo(line.split()[0], "--help").stdout, line)

    def test_wrong_usage(self):
        self.assertEqual(hilo("run").returncode, 2)
        self.assertEqual(hilo("fly").returncode, 2)
        self.assertEqual(hilo("--help").returncode, 0)
        self.assertIn("Examples", hilo("run", "--help").stdout)

    def test_wrong_inputs_name_the_parameter(self):
        module = self.write("add.hlo", ADD)
        for spec, expected in (("3xf32=1", "f32[4]"), ("4xf32=[1 2]", "2 values for 4"), ("4xf32=x", "the value 'x'"),
                               ("@absent.npy", "absent.npy")):
            done = hilo("run", module, f"--input={spec}")
            self.assertNotEqual(done.returncode, 0, spec)
            self.assertIn(expected, done.stderr)
        self.assertIn("parameter a", hilo("run", module, "--input=3xf32=1").stderr)

    def test_files_of_arrays_that_are_none(self):
        module = self.write("add.hlo", ADD)
        for option in "--inputs", "--expected":
            for content in b"", b"text, no arrays", b"PK, no archive", os.urandom(100):
                file = self.write("arrays", content)
                done = hilo("run", module, option, file)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, f"{file}: error: .*a .npz or .safetensors file was expected")

    def test_folder_without_module(self):
        for stage in [], ["--stage=after"]:
            done = hilo("run", self.folder, *stage)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{self.folder}: no module among 0 files; a name that ends in .txt, .hlo", done.stderr)
        self.write("readme.md", "text")
        self.assertIn("no module among 1 file;", hilo("check", self.folder).stderr)
        self.write("module_0001.f.before_optimizations.txt", ADD)
        done = hilo("run", self.folder, "--stage=nosuch")
        self.assertIn(f"{self.folder}: no stage nosuch; there are: before_optimizations", done.stderr)

    def test_empty_file(self):
        for text in "", " \n\n", "// a comment\n":
            done = hilo("run", self.write("empty.hlo", text))
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"empty\.hlo:\d:1: error: there is nothing in it; HloModule, a computation")

    def test_names_that_are_not_there(self):
        module = self.write("add.hlo", ADD.replace("sum", "sum.12"))
        for option, kind in ("--only", "computation or instruction"), ("--print-values", "instruction"):
            for name, hint in ("nosuch", "`hilo print` shows the names"), ("sumx", "names like it: sum.12"), \
                    ("%12", "names like it: sum.12"):
                done = hilo("run", module, f"{option}={name}")
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(f"{module}: error: {option}={name}: module add has no {kind} of that name; {hint}",
                              done.stderr)
        done = hilo("run", module, "--print-values=%sum.12", "--input=4xf32=1", "--input=4xf32=2")
        self.assertIn("device 0 sum.12 = f32[4]{0} {3, 3, 3, 3}\n", done.stdout)

    def test_modules_and_texts_are_no_arrays(self):
        module, empty = self.write("add.hlo", ADD), self.write("empty", "")
        array = self.write("array.npy", b"\x93NUMPY\x01\0\x76\0" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"
                           .ljust(117) + b"\n" + bytes(16))
        for option, kind in ("--expected=", "a .npz or .safetensors file"), \
                ("--inputs=", "a .npz or .safetensors file"), ("--input=@", "a .npy file"):
            for file, found in (module, "text"), (empty, "an empty file"), (array, "npy"):
                done = hilo("run", module, option + file)
                if (option, file) == ("--input=@", array):
                    self.assertEqual(done.returncode, 0, done.stderr)
                    continue
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"{file}: error: found {found}; {kind} was expected", done.stderr)

    def test_file_that_grows_too_large(self):
        module, saved = self.write("add.hlo", ADD.replace("[4]", "[99999]")), os.path.join(self.folder, "out.npz")
        done = subprocess.run([HILO, "run", module, "--save", saved], capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (9999, 9999)))
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write", done.stderr)
        self.assertEqual(os.listdir(self.folder), ["add.hlo"])

    def test_sizes_of_dynamic_dimensions(self):
        text = """HloModule m
ENTRY main {
  a = f32[2,8] parameter(0)
  n = s32[] constant(3)
  ROOT d = f32[2,<=8] set-dimension-size(a, n), dimensions={1}
}
"""
        values = "--input=2x8xf32=[1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16]"
        for device in "eval", "cpu":
            done = hilo("run", "-", values, "--device", device, text=text)
            if "libhilo_emit" not in done.stderr:
                self.assertEqual(done.stdout, "out_0 f32[2,<=8] now [2,3] = 1 2 3 9 10 11\n")
        document = json.loads(hilo("run", "-", values, "--json", text=text).stdout)
        self.assertEqual(document["outputs"][0]["sizes"], [2, 3])

    def test_numbers_that_are_none(self):
        shown = hilo("run", "-", "--input=9xf32=nan", text=ADD.replace("[4]", "[9]")).stdout
        self.assertIn("(all nan)", shown)

    def test_failed_save_leaves_nothing(self):
        module = self.write("add.hlo", ADD)
        target = os.path.join(self.folder, "absent", "out.npz")
        done = hilo("run", module, "--save", target)
        self.assertEqual(done.returncode, 1)
        self.assertIn("out.npz", done.stderr)
        self.assertEqual(os.listdir(self.folder), ["add.hlo"])

    def test_print_is_stable(self):
        once = hilo("print", "-", text=ADD).stdout
        self.assertEqual(hilo("print", "-", text=once).stdout, once)
        self.assertIn("%sum = f32[4]{0} add(%a, %b)", once)

    def test_convert_there_and_back(self):
        module, proto = self.write("add.hlo", ADD), os.path.join(self.folder, "add.pb")
        self.assertEqual(hilo("convert", module, "-o", proto).returncode, 0)
        self.assertEqual(hilo("print", proto).stdout, hilo("print", module).stdout)

    def test_list(self):
        ops = json.loads(hilo("list", "ops", "--json").stdout)["rows"]
        with open(os.path.join(SOURCE, "src/ir/ops.def"), encoding="utf-8") as table:
            self.assertEqual(len(ops), len(re.findall(r"^OP\(", table.read(), re.M)))
        self.assertIn(("tanh", "floating complex", "transcendental"), [(op["op"], op["kinds"], op["traits"]) for op in ops])
        types = json.loads(hilo("list", "types", "--json").stdout)["rows"]
        self.assertIn(("bf16", "16", "floating"), [(t["type"], t["bits"], t["kind"]) for t in types])
        chips = json.loads(hilo("list", "targets", "--json").stdout)["rows"]
        self.assertIn(("v5e", "16"), [(chip["target"], chip["memory GiB"]) for chip in chips])

    def test_copies_and_slices_may_round(self):  # as in TPU modules
        text = ("HloModule m\nENTRY e {\n  p = f32[4]{0} parameter(0)\n  c = bf16[4]{0} copy(p)\n"
                "  s = bf16[2]{0} slice(p), slice={[1:3]}\n  ROOT t = (bf16[4]{0}, bf16[2]{0}) tuple(c, s)\n}\n")
        done = hilo("run", "-", "--input=4xf32=[1 1.001 3 4]", text=text)
        self.assertIn("= 1 1 3 4", done.stdout, done.stderr)
        self.assertIn("= 1 3", done.stdout)

    def test_custom_call_by_flag(self):
        text = 'HloModule m\nENTRY e {\n  p = f32[2]{0} parameter(0)\n  ROOT r = f32[2]{0} custom-call(p), custom_call_target="mine"\n}\n'
        self.assertIn("--custom-call", hilo("run", "-", text=text).stderr)
        self.assertIn("= 0 0", hilo("run", "-", "--custom-call=mine=zeros", text=text).stdout)
        self.assertIn("absent.so", hilo("run", "-", "--custom-call=mine=./absent.so", text=text).stderr)
        self.write("here.so", "no library")
        done = subprocess.run([os.path.abspath(HILO), "run", "-", "--custom-call=mine=here.so"], input=text,
                              capture_output=True, text=True, cwd=self.folder)
        self.assertIn("cannot open ./here.so: ./here.so: ", done.stderr)
        self.assertNotIn("No such file", done.stderr)

    def test_only_one_instruction(self):
        module = self.write("add.hlo", ADD)
        done = hilo("run", module, "--only=sum", "--input=4xf32=1", "--input=4xf32=2")
        self.assertIn("= 3 3 3 3", done.stdout)

    def test_check_says_which_ops_mix_widths_of_floats(self):
        mixed = self.write("mixed.hlo", ADD.replace("a = f32", "a = bf16").replace("sum = f32", "sum = bf16"))
        done = hilo("check", mixed)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{mixed}:5:8: note: 1 op mixes widths of floats", done.stderr)
        notes = json.loads(hilo("check", mixed, "--json").stdout)["notes"]
        self.assertEqual([(note["instruction"], note["line"]) for note in notes], [("sum", 5)])
        done = hilo("check", mixed, "--strict")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: expected one width of floats, found bf16[4] of bf16[4], f32[4]", done.stderr)
        errors = self.write("errors.hlo", ADD.replace("a = f32", "a = bf16").replace(
            "ROOT sum", "n = f32[5]{0} negate(b)\n  ROOT sum"))
        done = hilo("check", errors, "--strict")
        self.assertIn("errors.hlo:5:", done.stderr)
        self.assertIn("errors.hlo:6:8: error: expected one width of floats", done.stderr)
        one_width = self.write("add.hlo", ADD)
        done = hilo("check", one_width, "--strict")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(hilo("check", one_width, "--json").stdout)["notes"], [])

    def test_check_numerics(self):
        done = hilo("run", "-", "--check-numerics", "--input=4xf32=[1 2 nan 4]", "--input=4xf32=0", text=ADD)
        self.assertEqual(done.returncode, 1)
        self.assertIn("first NaN", done.stderr)
        self.assertIn("[2]", done.stderr)

    def test_folder_takes_the_most_optimised(self):
        self.write("module_0001.jit_f.before_optimizations.txt", ADD)
        self.write("module_0001.jit_f.cpu_after_optimizations.txt", ADD.replace("add(", "multiply("))
        self.write("module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt", "BufferAssignment:")
        self.assertIn("multiply", hilo("print", self.folder).stdout)
        self.assertIn(" add(", hilo("print", self.folder).stdout + ADD)

    def test_endless_loop_is_stopped(self):
        text = """HloModule loop
cond { s = s32[] parameter(0)  ROOT r = pred[] constant(true) }
body { s = s32[] parameter(0)  ROOT r = s32[] add(s, s) }
ENTRY main { a = s32[] parameter(0)  ROOT w = s32[] while(a), condition=cond, body=body }
"""
        done = hilo("run", "-", "--max-steps=1000", text=text)
        self.assertEqual(done.returncode, 1)
        self.assertIn("1000", done.stderr)
        for device in ("eval", "cpu"):
            done = hilo("bench", "-", "--timeout=0.6", "--device", device, text=text)
            if "libhilo_emit" not in done.stderr:
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn("stopped after 0.6 s", done.stderr)
        for device in ("eval", "cpu"):
            done = hilo("run", "-", "--timeout=0.3", "--device", device, text=text)
            if "libhilo_emit" in done.stderr:
                continue  # built without the compiler
            self.assertEqual(done.returncode, 1)
            self.assertIn("stopped after 0.3 s", done.stderr)
            self.assertLess(done.seconds, 5)

    def test_control_c(self):
        text = """HloModule loop
cond { s = s32[] parameter(0)  ROOT r = pred[] constant(true) }
body { s = s32[] parameter(0)  ROOT r = s32[] add(s, s) }
ENTRY main { a = s32[] parameter(0)  ROOT w = s32[] while(a), condition=cond, body=body }
"""
        for command in (["run"], ["run", "--device=eval"], ["bench"]):
            arguments = [HILO, *command, self.write("loop.hlo", text)]
            with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
                wait_until_caught(run, signal.SIGINT)
                time.sleep(0.5)  # to where the loop goes round; a signal that comes before ends it too
                run.send_signal(signal.SIGINT)
                stdout, stderr = run.communicate(timeout=30)
            self.assertEqual((run.returncode, stdout), (1, ""), command)
            self.assertRegex(stderr, "stopped by the user|interrupted")

    def test_long_step_is_stopped(self):
        text = """HloModule long
sum { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] divide(x, y) }
ENTRY main {
  x = f32[1048576] parameter(0)
  one = f32[] constant(1)
  ROOT w = f32[COUNT] reduce-window(x, one), window={size=SIZE}, to_apply=sum
}
"""
        # 10^10 and 3 * 10^11 divisions: two threads of 16 lanes, 5 cycles of 5 GHz for each 16, need
        # at least 0.3 and 8 s, so that a run that nobody stops ends with status 0 or takes minutes.
        for size in (10_000, 500_000):
            module = text.replace("SIZE", str(size)).replace("COUNT", str(1048576 - size + 1))
            done = hilo("run", "-", "--device=cpu", "--timeout=0.05", "--threads=2", text=module)
            if "libhilo_emit" not in done.stderr:
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("stopped after 0.05 s", done.stderr)

    def test_step_that_asks_nobody_is_stopped(self):
        text = """HloModule in_order
add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }
less { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = pred[] compare(x, y), direction=LT }
ENTRY main {
  x = f32[1,10000000] parameter(0)
  source = f32[1,9998001] parameter(1)
  zero = f32[] constant(0)
  ROOT r = f32[1,10000000] select-and-scatter(x, source, zero), window={size=1x2000}, select=less, scatter=add
}
"""
        # 2 * 10^10 comparisons, on one thread: seconds on any machine.
        for options in [], ["--json"], ["--device=eval"]:
            done = hilo("run", "-", "--timeout=0.1", "--threads=1", *options, text=text)
            self.assertEqual(done.returncode, 1)
            self.assertIn("stopped after 0.1 s (--timeout)", done.stderr)
            if "--json" in options:
                [error] = json.loads(done.stdout)["errors"]
                self.assertEqual(error["kind"], "interrupted")

    def test_long_compilation_is_stopped(self):
        steps, count = [], 3000
        for i in range(count):
            steps.append(f"  x{i} = f32[{i + 40}] parameter({i})\n"
                         f"  r{i} = f32[] reduce(x{i}, zero), dimensions={{0}}, to_apply=sum\n")
        tuple_type = ", ".join(["f32[]"] * count)
        roots = ", ".join(f"r{i}" for i in range(count))
        text = ("HloModule many\nsum { x = f32[] parameter(0)  y = f32[] parameter(1)"
                "  ROOT z = f32[] add(x, y) }\nENTRY main {\n  zero = f32[] constant(0)\n" +
                "".join(steps) + f"  ROOT t = ({tuple_type}) tuple({roots})\n}}\n")
        done = hilo("run", "-", "--device=cpu", "--timeout=0.05", "--threads=1", text=text)
        if "libhilo_emit" not in done.stderr:
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("stopped after 0.05 s", done.stderr)
            self.assertNotIn("compiled in", done.stderr)

    def test_progress_on_a_terminal_alone(self):
        text = """HloModule rounds
body { p = (s32[], f32[1048576]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[1048576] get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[1048576] sine(x)
  ROOT t = (s32[], f32[1048576]) tuple(next, y) }
condition { p = (s32[], f32[1048576]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY main { x = f32[1048576] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[1048576]) tuple(zero, x)
  w = (s32[], f32[1048576]) while(t), condition=condition, body=body
  ROOT r = f32[1048576] get-tuple-element(w), index=1 }
"""
        module = self.write("rounds.hlo", text)
        self.assertNotIn("\r", hilo("run", module).stderr)
        ours, its = pty.openpty()
        with subprocess.Popen([HILO, "run", module], stdout=subprocess.DEVNULL, stderr=its) as run:
            os.close(its)
            shown = b""
            try:
                while piece := os.read(ours, 4096):
                    shown += piece
            except OSError:  # the other side was closed
                pass
            os.close(ours)
        self.assertEqual(run.returncode, 0)
        if b"libhilo_emit" not in shown:
            self.assertIn(b"% of the work\r", shown)
            self.assertIn(b"\x1b[K", shown)

    def test_profile_and_trace(self):
        module, trace = self.write("add.hlo", ADD), os.path.join(self.folder, "trace.json")
        for device in ("eval", "cpu"):
            done = hilo("run", module, "--device", device, "--profile", "--json", "--trace", trace)
            if "libhilo_emit" in done.stderr:
                continue
            profile = json.loads(done.stdout)["profile"]
            add = next(row for row in profile["by_op"] if row["name"] == "add")
            self.assertEqual((add["count"], add["bytes"]), (1, 48))
            self.assertEqual("roofline" in profile, device == "cpu")
            with open(trace) as file:
                events = json.load(file)["traceEvents"]
            self.assertIn(("sum", "X"), [(event["name"], event["ph"]) for event in events])

    def test_trace_of_all_devices(self):
        text = """HloModule two, num_partitions=2
sum { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }
ENTRY main {
  a = f32[4] parameter(0)
  s = f32[4] sine(a)
  g = f32[8] all-gather(s), dimensions={0}, replica_groups={{0,1}}, channel_id=1, use_global_device_ids=true
  ROOT r = f32[8] negate(g)
}
"""
        module, trace = self.write("two.hlo", text), os.path.join(self.folder, "trace.json")
        for device in ("eval", "cpu"):
            done = hilo("run", module, "--device", device, "--partitioned", "--trace", trace)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(trace) as file:
                events = json.load(file)["traceEvents"]
            tracks = [(event["pid"], event["args"]["name"]) for event in events if event["ph"] == "M"]
            self.assertEqual(tracks, [(0, "two, device 0"), (1, "two, device 1")])
            for track in 0, 1:  # one step after the other
                steps = [event for event in events if event["ph"] == "X" and event["pid"] == track]
                names = [step["name"] for step in steps]
                self.assertEqual(names.count("g"), 1, names)
                self.assertGreater(len(names), 1)
                for one, next in zip(steps, steps[1:]):
                    self.assertGreaterEqual(next["ts"] + 1, one["ts"] + one["dur"])

    def test_printed_values_are_part_of_the_document(self):
        done = hilo("run", "-", "--print-values=sum", "--json", text=ADD)
        values = json.loads(done.stdout)["values"]
        self.assertEqual([(v["device"], v["instruction"]) for v in values], [(0, "sum")])
        shown = hilo("run", "-", "--print-values=sum", text=ADD).stdout.splitlines()[0]
        self.assertEqual(shown, f"device 0 sum = {values[0]['shape']} {values[0]['value']}")

    def test_what_the_compiler_cannot_watch(self):
        for option in ("--check-numerics", "--print-values=sum", "--max-steps=3", "--float=f64"):
            done = hilo("run", "-", "--device=cpu", option, text=ADD)
            self.assertEqual(done.returncode, 2, option)
            self.assertIn("needs --device=eval", done.stderr)
            done = hilo("run", "-", option, text=ADD)  # chooses the evaluator by itself
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("compiled", done.stderr)

    def test_compiles_where_no_device_is_named(self):
        done = hilo("run", "-", "--json", text=ADD)
        if "libhilo_emit" in done.stderr:  # built without the compiler
            self.assertIn("evaluated instead", done.stderr)
            return
        self.assertEqual(json.loads(done.stdout)["compiled"]["kernels"], 1)
        self.assertGreater(json.loads(hilo("bench", "-", "--runs=1", text=ADD).stdout)["compile_s"], 0)
        done = hilo("bench", "-", "--runs=1", "--device=eval", text=ADD)
        self.assertEqual(json.loads(done.stdout)["compile_s"], 0)

    def test_what_the_compiler_cannot_do(self):
        text = "HloModule m\nENTRY e {\n  p = (f32[4], opaque[]) parameter(0)\n  ROOT r = f32[4] get-tuple-element(p), index=0\n}\n"
        done = hilo("run", "-", text=text)
        if "libhilo_emit" not in done.stderr:
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r":3:3: error: parameter of \(f32\[4\], opaque\[\]\) on device cpu: .*--device=eval runs it")
        self.assertEqual(hilo("run", "-", "--device=eval", text=text).returncode, 0)

    def test_a_custom_call_that_nobody_knows(self):
        text = """HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  ROOT r = f32[4] custom-call(p), custom_call_target="their_op"
}
"""
        done = hilo("run", "-", text=text)
        self.assertEqual(done.returncode, 1)
        self.assertIn(":4:8: error: ", done.stderr)
        self.assertIn("no custom call 'their_op' is known", done.stderr)
        self.assertNotIn("compiled in", done.stderr)  # before anything runs
        self.assertEqual(hilo("run", "-", "--custom-call=their_op=zeros", text=text).returncode, 0)

    def test_bench_runs_what_verifies(self):
        text = "HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[3] negate(p)\n}\n"
        for device in ("eval", "cpu"):
            done = hilo("bench", "-", "--device", device, text=text)
            self.assertEqual(done.returncode, 1)
            self.assertIn(":4:", done.stderr)

    def test_output_that_does_not_fit(self):
        text = "HloModule big\nENTRY main {\n  z = f32[] constant(0)\n  ROOT b = f32[1099511627776]{0} broadcast(z), dimensions={}\n}\n"
        for device in ("eval", "cpu"):
            done = hilo("run", "-", "--device", device, text=text)
            if "libhilo_emit" in done.stderr:
                continue
            self.assertEqual(done.returncode, 1)
            self.assertIn("needs up to 4.00 TiB", done.stderr)


    def test_bisect_needs_memory(self):
        text = "HloModule big\nENTRY main {\n  p = f32[1000000,1000000] parameter(0)\n  ROOT n = f32[1000000,1000000] negate(p)\n}\n"
        done = hilo("bisect", "-", text=text)
        self.assertEqual(done.returncode, 1)
        self.assertIn("needs up to 7.28 TiB", done.stderr)

    def test_calls_that_double(self):
        levels = "".join(f"c{i} {{ x = f32[4] parameter(0)\n  a = f32[4] call(x), to_apply=c{i - 1}\n"
                         f"  ROOT r = f32[4] call(a), to_apply=c{i - 1} }}\n" for i in range(1, 70))
        text = ("HloModule m\nc0 { x = f32[4] parameter(0)\n  ROOT r = f32[4] negate(x) }\n" + levels +
                "ENTRY e { x = f32[4] parameter(0)\n  ROOT all = f32[4] call(x), to_apply=c69 }\n")
        for command in ["run"], ["explain"], ["opt", "--pipeline=cpu"]:
            done = hilo(*command, "-", text=text)
            self.assertEqual(done.returncode, 1)
            self.assertIn("with every call by itself there are more than 8000000 instructions", done.stderr)
            self.assertIn(" (call) in e]", done.stderr)

    def test_long_chain(self):
        count = 200_000  # half a second; a minute where each step looks at all others
        steps = "".join(f"  x{i} = f32[4] negate(x{i - 1})\n" for i in range(1, count))
        text = f"HloModule m\nENTRY e {{\n  x0 = f32[4] parameter(0)\n{steps}  ROOT r = f32[4] negate(x{count - 1})\n}}\n"
        done = hilo("run", "-", "--device=eval", "--timeout=30", "--input=4xf32=[1 2 3 4]", text=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("out_0 f32[4] = 1 2 3 4", done.stdout)

    def test_deep_loops(self):
        levels = "".join(f"b{i} {{ s = s32[] parameter(0)\n  ROOT w = s32[] while(s), condition=c, body=b{i - 1} }}\n"
                         for i in range(1, 600))
        text = ("HloModule m\nc { s = s32[] parameter(0)\n  n = s32[] constant(3)\n"
                "  ROOT r = pred[] compare(s, n), direction=LT }\nb0 { s = s32[] parameter(0)\n  o = s32[] constant(1)\n"
                "  ROOT r = s32[] add(s, o) }\n" + levels +
                "ENTRY e { x = s32[] parameter(0)\n  ROOT r = s32[] while(x), condition=c, body=b599 }\n")
        done = hilo("run", "-", "--device=cpu", text=text)
        if "libhilo_emit" not in done.stderr:
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"<stdin>(:\d+:\d+)?: error: computations call each other more than 500 deep \[")


class Places(Folder):
    """Where outputs go: streams and files that are no ordinary ones."""

    def test_standard_output_that_takes_nothing(self):
        module = self.write("add.hlo", ADD)
        commands = [["run", module], ["run", module, "--json"], ["print", module], ["check", module],
                    ["convert", module], ["opt", module], ["explain", module], ["list", "ops"],
                    ["list", "rules", "--json"], ["--help"]]
        for command in commands:
            with open("/dev/full", "w") as full:
                done = subprocess.run([HILO, *command], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 1, command)
            self.assertIn("cannot write standard output: No space left", done.stderr)

    def test_closed_standard_output(self):
        module, saved = self.write("add.hlo", ADD), os.path.join(self.folder, "out.npz")
        done = subprocess.run([HILO, "run", module, "--save", saved], stderr=subprocess.PIPE, text=True,
                              preexec_fn=lambda: os.close(1))
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write standard output", done.stderr)
        self.assertEqual(hilo("run", module, "--expected", saved).returncode, 0)

    def test_what_is_no_regular_file_stays(self):
        module, pipe = self.write("add.hlo", ADD), os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        received = {}
        for command, option in ("print", "-o"), ("run", "--save"):
            reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            self.assertEqual(hilo(command, module, option, pipe).returncode, 0)
            received[command] = os.read(reader, 1 << 16)
            os.close(reader)
            self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))
        self.assertEqual(received["print"].decode(), hilo("print", module).stdout)
        saved = self.write("saved.npz", received["run"])
        self.assertEqual(hilo("run", module, "--expected", saved).returncode, 0)

    def test_links_and_permissions_stay(self):
        module, target = self.write("add.hlo", ADD), self.write("target.txt", "old")
        link = os.path.join(self.folder, "link.txt")
        os.symlink("target.txt", link)
        os.chmod(target, 0o600)
        self.assertEqual(hilo("print", module, "-o", link).returncode, 0)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(stat.S_IMODE(os.stat(target).st_mode), 0o600)
        with open(target) as file:
            self.assertEqual(file.read(), hilo("print", module).stdout)

    def test_place_is_looked_at_before_the_work(self):
        module = self.write("add.hlo", ADD)
        for place, why in ((self.folder, "Is a directory"), (self.folder + "/none/x", "No such file")):
            for command in ["run", module, "--save"], ["run", module, "--trace"], ["compile", module, "-o"]:
                done = hilo(*command, place)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"cannot write {place}: {why}", done.stderr)
                self.assertNotIn("compiled in", done.stderr)

    def test_proto_on_standard_output(self):
        module = self.write("add.hlo", ADD)
        proto = subprocess.run([HILO, "convert", module, "--to=proto"], stdout=subprocess.PIPE).stdout
        self.assertEqual(hilo("print", self.write("add.pb", proto)).stdout, hilo("print", module).stdout)


class BadInput(unittest.TestCase):
    """Each is an error that says what and where, in 2 s and 1 GiB."""

    def bad(self, text, expected="", least_seconds=2.0):
        done = hilo("check", "-", text=text, memory=2 << 30)
        self.assertEqual(done.returncode, 1, done.stderr[-300:])
        errors = done.stderr if isinstance(done.stderr, str) else done.stderr.decode(errors="replace")
        self.assertIn("error:", errors)
        self.assertIn(expected, errors)
        # Sanitizers and a loaded machine are slower; the limit is for the error, not the machine.
        self.assertLess(done.seconds, least_seconds * 5)
        return errors

    def test_truncated(self):
        for length in range(20, len(ADD) - 3, 7):
            self.bad(ADD[:length])

    def test_binary(self):
        self.bad(bytes(range(256)) * 40)
        self.bad(b"\x00" * 1000)

    def test_nesting(self):
        self.bad("HloModule m\nENTRY e {\n  ROOT a = " + "(" * 10000 + "f32[]" + ")" * 10000 + " tuple()\n}\n")
        self.bad("HloModule m\nENTRY e {\n  ROOT a = f32[] constant(" + "{" * 10000 + "\n}\n")
        self.bad("HloModule m\nENTRY e {\n  ROOT a = f32[] " + "negate(" * 10000 + "\n}\n")

    def test_many_brackets(self):
        self.bad("[" * 50_000_000)

    def test_huge_shapes(self):
        self.bad("HloModule m\nENTRY e {\n  ROOT a = f32[9223372036854775807,9]{1,0} parameter(0)\n}\n")
        self.bad("HloModule m\nENTRY e {\n  ROOT a = f32[9223372036854775808]{0} parameter(0)\n}\n")

    def test_many_dimensions(self):
        shape = "f32[" + ",".join(["1"] * 2000) + "]"
        self.bad(f"HloModule m\nENTRY e {{\n  ROOT p = {shape} parameter(0)\n}}\n",
                 "<stdin>:3:8: error: an array of more than 1024 dimensions [p (parameter) in e]")

    def test_names(self):
        self.bad(ADD.replace("b = f32", "a = f32"), "a")
        self.bad(ADD.replace("add(a, b)", "add(a, bb)"), "bb")

    def test_arity(self):
        self.bad(ADD.replace("add(a, b)", "add(a)"), "operand")

    def test_cycle(self):
        self.bad("HloModule m\nENTRY e {\n  p = f32[] parameter(0)\n  a = f32[] negate(b)\n  ROOT b = f32[] negate(a)\n}\n")

    def test_zero_elements_are_sound(self):
        done = hilo("run", "-", text="HloModule m\nENTRY e {\n  p = f32[0,3]{1,0} parameter(0)\n  ROOT r = f32[0,3]{1,0} negate(p)\n}\n")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
