"""Transposes whose dimensions stay in runs have long loops: those of the runs."""
import glob
import os
import subprocess
import tempfile
import unittest

HILO = os.environ.get("HILO_COMMAND", "build/hilo")


class MergedDims(unittest.TestCase):
    def merged(self, from_dims, order):
        """The dimensions of the transpose that is left before copies are inserted."""
        sizes = from_dims.split(",")
        to_dims = ",".join(sizes[int(d)] for d in order.split(","))
        with tempfile.TemporaryDirectory() as folder:
            path, dumped = os.path.join(folder, "m.hlo"), os.path.join(folder, "dump")
            with open(path, "w") as file:
                file.write(f"HloModule m\n\nENTRY e {{\n  x = f32[{from_dims}] parameter(0)\n"
                           f"  ROOT t = f32[{to_dims}] transpose(x), dimensions={{{order}}}\n}}\n")
            subprocess.run([HILO, "bench", path, "--runs=1", f"--dump-to={dumped}"], check=True, capture_output=True)
            last = sorted(glob.glob(os.path.join(dumped, "*after_*.txt")))[-1]
            with open(last) as file:
                line = next(line for line in file if " transpose(" in line)
        return line.split("= f32[")[1].split("]")[0], line.split("dimensions={")[1].split("}")[0]

    def test_runs_are_one_dimension(self):
        self.assertEqual(self.merged("32,30,20,8", "3,0,1,2"), ("8,19200", "1,0"))
        self.assertEqual(self.merged("4,8,6,7", "0,2,3,1"), ("4,42,8", "0,2,1"))
        self.assertEqual(self.merged("8,1,9,10,12", "4,0,2,1,3"), ("12,720", "1,0"))

    def test_others_stay(self):
        self.assertEqual(self.merged("4,5,6", "2,1,0"), ("6,5,4", "2,1,0"))


if __name__ == "__main__":
    unittest.main()
