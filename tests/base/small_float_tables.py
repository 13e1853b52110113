"""small_float_tables.py FILE: what ml_dtypes and NumPy say of the small floats, for
small_float_peers_test.cpp. For each 8-bit (or narrower) format in FORMATS: 256 decoded float32,
then the encodings of all 2^16 float16 and of all 2^16 bfloat16 patterns; then pairs of float64 and
float16, and of float32 and bfloat16."""

import sys
import warnings

import ml_dtypes
import numpy

FORMATS = ("float8_e5m2", "float8_e4m3", "float8_e3m4", "float8_e4m3fn", "float8_e4m3b11fnuz",
           "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu", "float4_e2m1fn",
           "float6_e3m2fn", "float6_e2m3fn")
PAIRS = 200_000


def main(path):
    patterns = numpy.arange(65536, dtype=numpy.uint16)
    sources = [patterns.view(numpy.float16), patterns.view(ml_dtypes.bfloat16)]
    random = numpy.random.default_rng(7)
    with open(path, "wb") as file:
        for name in FORMATS:
            dtype = getattr(ml_dtypes, name)
            bits = 4 if "float4" in name else 6 if "float6" in name else 8
            codes = (numpy.arange(256) % (1 << bits)).astype(numpy.uint8)
            file.write(codes.view(dtype).astype(numpy.float32).tobytes())
            for source in sources:
                file.write(source.astype(numpy.float32).astype(dtype).view(numpy.uint8).tobytes())
        exponents = random.integers(1023 - 30, 1023 + 20, PAIRS, dtype=numpy.uint64)
        fractions = random.integers(0, 1 << 52, PAIRS, dtype=numpy.uint64)
        fractions[::2] &= numpy.uint64(((1 << 12) - 1) << 40)  # many ties
        doubles = ((exponents << numpy.uint64(52)) | fractions).view(numpy.float64)
        file.write(doubles.tobytes() + doubles.astype(numpy.float16).tobytes())
        floats = random.integers(0, 1 << 32, PAIRS, dtype=numpy.uint32)
        floats[::2] &= numpy.uint32(0xffff8000)
        floats = floats.view(numpy.float32)
        file.write(floats.tobytes() + floats.astype(ml_dtypes.bfloat16).tobytes())


warnings.simplefilter("ignore")
main(sys.argv[1])
