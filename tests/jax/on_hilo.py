"""What the tests of JAX share: Hilo's platform beside jaxlib's CPU, and the comparison of the two."""
import os
import sys
import unittest
from pathlib import Path

BUILD = Path(os.environ.get("HILO_BUILD", Path(__file__).resolve().parents[2] / "build" / "release"))
SOURCE = Path(__file__).resolve().parents[2]
os.environ.setdefault("HILO_PLUGIN", str(BUILD / "libhilo_pjrt.so"))
os.environ.setdefault("HILO_COMMAND", str(BUILD / "hilo"))
os.environ["JAX_PLATFORMS"] = "hilo,cpu"
os.environ["HILO_DEVICES"] = "4"
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
if not Path(os.environ["HILO_PLUGIN"]).exists() or os.environ.get("HILO_SANITIZE"):
    sys.exit(77)  # skipped: built without LLVM, or for a process that begins with a sanitizer
sys.path.insert(0, str(SOURCE / "python"))

try:
    import jax
except ImportError:
    sys.exit(77)
import numpy as np

from hilo import jax_plugin

jax.config.update("jax_platforms", "hilo,cpu")  # read from the environment when jax was imported
jax_plugin.initialize()
HILO, CPU = jax.devices("hilo"), jax.devices("cpu")
assert HILO[0].client.platform_version != CPU[0].client.platform_version, "jaxlib's CPU judges itself"


def random_array(shape, dtype="float32", seed=0, low=-2.0, high=2.0):
    """Numbers between low and high; integers and booleans, too."""
    numbers = np.random.default_rng(seed).uniform(low, high, shape)
    if dtype == "bool":
        return numbers > 0
    if np.issubdtype(np.dtype(dtype) if dtype != "bfloat16" else np.float32, np.complexfloating):
        return (numbers + 1j * np.random.default_rng(seed + 1).uniform(low, high, shape)).astype(dtype)
    if "int" in dtype:
        return (numbers * 10).astype(dtype)
    return np.asarray(jax.device_put(numbers.astype("float32"), CPU[0]).astype(dtype)) \
        if dtype == "bfloat16" else numbers.astype(dtype)


def on(device, function, *arguments):
    """The results of a jitted function with its arguments on a device."""
    with jax.default_device(device):
        placed = [jax.device_put(argument, device) for argument in arguments]
        return jax.block_until_ready(jax.jit(function)(*placed))


class Compared(unittest.TestCase):
    """Tests whose programs run on both platforms."""

    def compare(self, function, *arguments, rtol=2e-5, atol=1e-5):
        got, expected = (on(platform[0], function, *arguments) for platform in (HILO, CPU))
        self.assert_same(got, expected, rtol, atol)
        return got

    def assert_same(self, got, expected, rtol=2e-5, atol=1e-5):
        got, got_tree = jax.tree.flatten(got)
        expected, expected_tree = jax.tree.flatten(expected)
        self.assertEqual(got_tree, expected_tree)
        for mine, other in zip(got, expected, strict=True):
            self.assertEqual((mine.shape, mine.dtype), (other.shape, other.dtype))
            if jax.dtypes.issubdtype(mine.dtype, jax.dtypes.prng_key):
                mine, other = jax.random.key_data(mine), jax.random.key_data(other)
            mine, other = np.asarray(mine), np.asarray(other)
            if mine.dtype.kind in "biu":
                np.testing.assert_array_equal(mine, other)
                continue
            wide = np.complex128 if mine.dtype.kind == "c" else np.float64
            least = 1e-2 if mine.dtype.itemsize < 4 else 0
            mine, other = mine.astype(wide), other.astype(wide)
            largest = np.max(np.abs(other[np.isfinite(other)]), initial=0)
            np.testing.assert_allclose(mine, other, rtol=max(rtol, least),
                                       atol=max(atol, least, rtol * largest))


def add_cases(test_class, cases):
    """A test method for each name: a function and its arguments, or a dict of tolerances last."""
    for name, (function, *arguments) in cases.items():
        tolerances = arguments.pop() if arguments and isinstance(arguments[-1], dict) and \
            set(arguments[-1]) <= {"rtol", "atol"} and arguments[-1] else {}

        def test(self, function=function, arguments=tuple(arguments), tolerances=tolerances):
            self.compare(function, *arguments, **tolerances)

        assert not hasattr(test_class, f"test_{name}"), name
        setattr(test_class, f"test_{name}", test)


def main():
    """Runs the tests of the calling file."""
    unittest.main(module="__main__", verbosity=1)
