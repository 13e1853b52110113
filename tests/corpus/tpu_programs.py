#!/usr/bin/env python3
"""Programs to compile for TPUs: PROGRAMS = {name: (make, topologies)}, by families.

`make(jax, mesh)` gives a function, its arguments as jax.ShapeDtypeStruct and their PartitionSpecs
over the mesh axis "x"; what the function may overwrite stands in its `donate`. tpu_modules.py
compiles and judges them.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from families import (
    control,
    elementwise,
    indexing,
    kernels,
    models,
    numeric,
    products,
)  # noqa: E402
from families import random_numbers, reductions, sharded  # noqa: E402
from families.registry import PROGRAMS  # noqa: E402

if __name__ == "__main__":
    print(*PROGRAMS, sep="\n")
