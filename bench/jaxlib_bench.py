#!/usr/bin/env python3
"""Compiles and runs an HLO text file on XLA's CPU back end and prints one JSON line like that of
`hilo bench`: compile_s, exec_s (median), exec_min_s, temp_bytes. Inputs are random.

  jaxlib_bench.py FILE [--threads N] [--runs N] [--max-seconds S] [--save F.npz]
                  [--save-inputs F.npz]

--save keeps the inputs as in_I and the outputs as out_I, types that NumPy lacks as unsigned bits;
--save-inputs the inputs alone, unless they fill more than a gigabyte.
"""

import argparse
import json
import os
import statistics
import time

MOST_SAVED = 1 << 30  # bytes


def leaves(shape):
    if shape.is_tuple():
        return [leaf for part in shape.tuple_shapes() for leaf in leaves(part)]
    return [shape]


def random_array(rng, shape, np):
    kind, dims = np.dtype(shape.numpy_dtype()), shape.dimensions()
    if kind == bool:
        return rng.integers(0, 2, dims).astype(bool)
    if np.issubdtype(kind, np.integer):
        return rng.integers(0, 8, dims).astype(kind)
    if np.issubdtype(kind, np.complexfloating):
        return (rng.standard_normal(dims) + 1j * rng.standard_normal(dims)).astype(kind)
    return rng.standard_normal(dims).astype(kind)


def plain(array, np):
    array = np.asarray(array)
    if array.dtype.kind != "V" and array.dtype.name in np.sctypeDict:
        return array
    return array.view(f"u{array.dtype.itemsize}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--max-seconds", type=float, default=5)
    parser.add_argument("--save")
    parser.add_argument("--save-inputs")
    options = parser.parse_args()
    if options.threads:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import numpy as np
    from jaxlib import _hlo, _jax, lapack, xla_client
    jax.config.update("jax_enable_x64", True)
    lapack._lapack.initialize()  # else its custom calls have no code behind them

    module = _hlo.hlo_module_from_text(open(options.file).read())
    proto = module.as_serialized_hlo_module_proto()
    parameters = _hlo.XlaComputation(proto).program_shape().parameter_shapes()
    program = _jax.mlir.hlo_to_stablehlo(proto)
    device = jax.devices("cpu")[0]
    start = time.perf_counter()
    executable = device.client.compile_and_load(program, _jax.DeviceList((device,)),
                                                xla_client.CompileOptions())
    out = {"compile_s": time.perf_counter() - start,
           "temp_bytes": executable.get_compiled_memory_stats().temp_size_in_bytes}

    rng = np.random.default_rng(1)
    arrays = [random_array(rng, leaf, np) for shape in parameters for leaf in leaves(shape)]

    def put():
        return [jax.device_put(array, device).block_until_ready() for array in arrays]

    def run(inputs):
        start = time.perf_counter()
        results = executable.execute_sharded(inputs).disassemble_into_single_device_arrays()
        for shards in results:
            shards[0].block_until_ready()
        return time.perf_counter() - start, results

    named = {f"in_{i}": plain(array, np) for i, array in enumerate(arrays)}
    if options.save_inputs and sum(array.nbytes for array in arrays) <= MOST_SAVED:
        np.savez(options.save_inputs, **named)
    inputs = put()
    donates = "input_output_alias" in open(options.file).readline()
    first, results = run(inputs)
    if options.save:
        named |= {f"out_{i}": plain(shards[0], np) for i, shards in enumerate(results)}
        np.savez(options.save, **named)
    times = []
    while not times or (len(times) < options.runs and sum(times) < options.max_seconds):
        if donates:
            inputs = put()
        times.append(run(inputs)[0])
    out |= {"exec_s": statistics.median(times), "exec_min_s": min(times), "runs": len(times)}
    print(json.dumps(out))


if __name__ == "__main__":
    main()
