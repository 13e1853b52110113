"""Hilo, the compiler for machine-learning programs, from Python.

    import hilo, numpy as np
    program = hilo.load("model.mlirbc")      # StableHLO or HLO, a path or the bytes
    print(program.text)                      # as HLO text
    y = program(np.ones((2, 3), np.float32)) # compiled on the first call

JAX needs no import: with this package installed, JAX_PLATFORMS=hilo runs its programs on Hilo.
"""

from hilo.program import Error, Program, load

__all__ = ["Error", "Program", "load"]
__version__ = "0.1.0"
