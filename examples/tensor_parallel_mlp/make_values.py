"""Writes values.npz: inputs for module.txt and what it must compute, from NumPy alone.

The model, on a 2x2 mesh (batch, model), device = 2 * batch + model:
    h = tanh(x @ w1);  y = h @ w2;  total = sum(y * y);  result = y / sqrt(total / y.size)
x is sharded by rows over `batch` and by columns over `model`, w1 by columns and w2 by rows over
`model`; y comes back like x. Arrays are named in_I_devD and out_I_devD; bfloat16 as its 16 bits.
"""

from pathlib import Path

import numpy

ROWS, WIDTH, OUT = 32, 256, 128


def bfloat16_bits(values):
    """The upper half of each float32; the values here have no lower half."""
    bits = values.astype(numpy.float32).view(numpy.uint32)
    assert not numpy.any(bits & 0xffff)
    return (bits >> 16).astype(numpy.uint16)


def half(size, which):
    return slice(which * size // 2, (which + 1) * size // 2)


def main():
    random = numpy.random.default_rng(0)
    x = random.standard_normal((ROWS, WIDTH)).astype(numpy.float32)
    w1 = random.integers(-16, 17, (WIDTH, WIDTH)) / 128
    w2 = random.integers(-16, 17, (WIDTH, OUT)) / 128
    y = numpy.tanh(x.astype(numpy.float64) @ w1) @ w2
    total = numpy.sum(y * y)
    result = y / numpy.sqrt(total / y.size)

    arrays = {}
    for device in range(4):
        batch, model = divmod(device, 2)
        rows = half(ROWS, batch)
        columns = {size: half(size, model) for size in (WIDTH, OUT)}
        arrays[f"in_0_dev{device}"] = x[rows, columns[WIDTH]]
        arrays[f"in_1_dev{device}"] = bfloat16_bits(w1[:, columns[WIDTH]])
        arrays[f"in_2_dev{device}"] = bfloat16_bits(w2[columns[WIDTH], :])
        arrays[f"out_0_dev{device}"] = result[rows, columns[OUT]].astype(numpy.float32)
        arrays[f"out_1_dev{device}"] = numpy.float32(total)
    numpy.savez_compressed(Path(__file__).with_name("values.npz"), **arrays)


main()
