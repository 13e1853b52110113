"""Other libraries of the process may show names that the plugin's libraries show too."""
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import jax
import jax.numpy as jnp

from on_hilo import SOURCE, main

USED = textwrap.dedent("""
    import ctypes, sys
    sys.path.insert(0, sys.argv[1])
    ctypes.CDLL(sys.argv[2], mode=ctypes.RTLD_GLOBAL)
    import numpy as np, hilo
    program = hilo.load(open(sys.argv[3], "rb").read())
    print(np.asarray(program(np.full((2, 2), 2, np.float32))).tolist())
""")


def protobuf_of_others(folder):
    """A library that shows the names of protobuf that the plugin takes, and ends who calls them."""
    taken = subprocess.run(["nm", "-D", "--undefined-only", os.environ["HILO_PLUGIN"]], text=True,
                           capture_output=True, check=True).stdout.split()
    names = [name for name in taken if name.startswith("_ZN") and "google8protobuf" in name]
    source, library = folder / "others.c", folder / "libothers.so"
    source.write_text("#include <stdlib.h>\n" + "".join(
        f'void f{number}(void) __asm__("{name}");\nvoid f{number}(void) {{ abort(); }}\n'
        for number, name in enumerate(names)))
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
    return library, names


class Symbols(unittest.TestCase):
    def test_protobuf_of_others(self):
        program = jax.jit(lambda x: x @ x + 1).lower(jnp.ones((2, 2)))
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            library, names = protobuf_of_others(folder)
            self.assertGreater(len(names), 10)
            proto = folder / "program.pb"
            proto.write_bytes(program.compiler_ir("hlo").as_serialized_hlo_module_proto())
            done = subprocess.run([sys.executable, "-c", USED, SOURCE / "python", library, proto],
                                  text=True, capture_output=True)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "[[9.0, 9.0], [9.0, 9.0]]"),
                         done.stderr)


if __name__ == "__main__":
    main()
