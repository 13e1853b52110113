"""The stored values of the example are what its script makes."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

folder = Path(os.environ["HILO_SOURCE"], "examples/tensor_parallel_mlp")
with tempfile.TemporaryDirectory() as made:
    shutil.copy(folder / "make_values.py", made)
    subprocess.run([sys.executable, Path(made, "make_values.py")], check=True)
    with numpy.load(Path(made, "values.npz")) as new, numpy.load(folder / "values.npz") as stored:
        assert sorted(new.files) == sorted(stored.files)
        for name in stored.files:
            numpy.testing.assert_allclose(new[name], stored[name], rtol=1e-6, err_msg=name)
        print(f"{len(stored.files)} arrays agree")
