"""The demo agrees with NumPy's values, and a comparison with other values is seen to differ."""

import os
import subprocess
import unittest
from pathlib import Path

SOURCE, COMMAND = Path(os.environ["HILO_SOURCE"]), os.environ["HILO_COMMAND"]
EXAMPLE = SOURCE / "examples/tensor_parallel_mlp"


class Demo(unittest.TestCase):
    def test_all_outputs_agree(self):
        done = subprocess.run([SOURCE / "examples/demo", COMMAND], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count(" agrees"), 8, done.stdout)  # 2 outputs, 4 devices
        self.assertIn("out_0_dev3", done.stdout)

    def test_other_inputs_differ(self):
        done = subprocess.run([COMMAND, "run", EXAMPLE / "module.txt", "--seed=5",
                               "--expected", EXAMPLE / "values.npz"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("DIFFERS", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
