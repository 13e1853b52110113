"""What users reported (corpus/reports in HILO_SHARED) is read, run and explained as its README says is right."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

HILO = os.environ.get("HILO_COMMAND", "build/hilo")
REPORTS = Path(os.environ.get("HILO_SHARED") or "absent", "corpus", "reports")


def call(*arguments):
    done = subprocess.run([HILO, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


class Runs(unittest.TestCase):
    def outputs(self, name, device, *more):
        status, out, error = call("run", REPORTS / name, f"--device={device}", "--seed=1", *more)
        self.assertEqual(status, 0, error)
        return out, error

    def test_both_devices_agree(self):
        for name in ("concat_bitcast.hlo", "tf2022.hlo", "old2020.hlo", "literals.hlo"):
            self.assertEqual(self.outputs(name, "eval")[0], self.outputs(name, "cpu")[0], name)

    def test_bytes_keep_their_values(self):
        given = "--input=16x256xf32=0.5"
        for device in ("eval", "cpu"):
            self.assertIn("(-0.5 to -0.5)", self.outputs("concat_bitcast.hlo", device, given)[0])

    def test_constant_tuple(self):
        for device in ("eval", "cpu"):
            self.assertEqual(self.outputs("tuple_constant.hlo", device)[0],
                             "out_0 f32[2,1] = 1 2\nout_1 s32[3] = 3 4 5\n")

    def test_a_hint_changes_no_value(self):
        for device in ("eval", "cpu"):
            out = self.outputs("trip_count_hint.hlo", device, "--input=s32=2")[0]
            self.assertEqual(out, "out_0 s32[] = 7\n")

    def test_one_number_for_an_array(self):
        out, error = self.outputs("literals.hlo", "cpu")
        self.assertIn("pred[2] = true false", out)
        self.assertEqual(error.count("warning: one value for"), 3)

    def test_a_marker_passes_its_operand_on(self):
        call_of = "AwsNeuronTransferWithStaticRing"
        for device in ("eval", "cpu"):
            status, _, error = call("run", REPORTS / "neuron.hlo", f"--device={device}")
            self.assertEqual(status, 1)
            self.assertIn(f"{call_of}=operand", error)
            self.outputs("neuron.hlo", device, f"--custom-call={call_of}=operand")


class Refused(unittest.TestCase):
    def test_unsound(self):
        for more in ((), ("--no-verify",)):
            for device in ("eval", "cpu"):
                status, _, error = call("run", REPORTS / "unsound.hlo", f"--device={device}", *more)
                self.assertEqual(status, 1, error)
                self.assertIn("unsound.hlo:3:7: error: expected a result of f32[4], found f32[5000]", error)

    def test_an_unknown_call_with_an_effect(self):
        for device in ("eval", "cpu"):
            status, _, error = call("run", REPORTS / "side_effect_call.hlo", f"--device={device}")
            self.assertEqual(status, 1, error)
            self.assertIn("no custom call 'debug.Log' is known", error)


class Messages(unittest.TestCase):
    def expect(self, name, *words):
        status, out, error = call("explain", REPORTS / name)
        self.assertEqual(status, 0, error)
        for word in ("What would help", *words):
            self.assertIn(word, out, name)

    def test_scoped_vmem(self):
        self.expect("oom_vmem.txt", "ran out of vmem", "scoped", "21.3x", "--xla_tpu_scoped_vmem_limit_kib")

    def test_the_chip_by_its_capacity(self):
        self.expect("oom_hbm_30_75G.txt", "chip: v4 (inferred")
        self.expect("oom_log_2019.txt", "chip: v3 (inferred", "471.50MiB less")

    def test_an_allocator_names_a_gpu(self):
        self.expect("oom_gpu.txt", "GPU_0_bfc is XLA's allocator of a GPU")


if __name__ == "__main__":
    if not REPORTS.is_dir():
        print(f"skipped: {REPORTS} is absent")
        sys.exit(77)
    unittest.main()
