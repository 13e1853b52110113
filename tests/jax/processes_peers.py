"""JAX in several processes, each with devices of its own: this file is also what each of them runs."""
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

import numpy as np

BUILD = Path(os.environ.get("HILO_BUILD", Path(__file__).resolve().parents[2] / "build" / "release"))
SOURCE = Path(__file__).resolve().parents[2]
PLUGIN = Path(os.environ.get("HILO_PLUGIN", BUILD / "libhilo_pjrt.so"))
if not PLUGIN.exists() or os.environ.get("HILO_SANITIZE"):
    sys.exit(77)  # skipped: built without LLVM, or for a process that begins with a sanitizer
try:
    import jax
except ImportError:
    sys.exit(77)
from jax.sharding import NamedSharding, PartitionSpec as P

DEVICES = 4  # of all processes together


def numbers(size, seed=0):
    """f32 whose sums depend on their order."""
    return np.random.default_rng(seed).uniform(-1, 1, size).astype(np.float32)


def mesh_of_all(*shape):
    return jax.make_mesh(shape or (DEVICES,), ("x", "y")[:max(len(shape), 1)],
                         axis_types=(jax.sharding.AxisType.Auto,) * max(len(shape), 1))


def sharded(array, mesh, *spec):
    """A global array, of which each process gives the shards of its devices."""
    return jax.make_array_from_callback(array.shape, NamedSharding(mesh, P(*spec)), lambda at: array[at])


def local(array):
    """Start of each shard of this process along the first dimension, and its values."""
    return [(shard.index[0].start or 0 if shard.index else 0, np.asarray(shard.data))
            for shard in array.addressable_shards]


def assert_is(array, expected):
    """Every shard here has the values of its part of the whole."""
    assert array.shape == expected.shape, (array.shape, expected.shape)
    for shard in array.addressable_shards:
        np.testing.assert_allclose(np.asarray(shard.data), expected[shard.index], rtol=1e-5, atol=1e-6)


def over_all(function, mesh, in_specs, out_specs):
    return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False))


# What a process does: each function gives what the test looks at.

def know_devices():
    return {"count": jax.device_count(), "local": [device.id for device in jax.local_devices()],
            "processes": [device.process_index for device in jax.devices()],
            "ids": [device.id for device in jax.devices()], "index": jax.process_index(),
            "hardware": [device.local_hardware_id for device in jax.local_devices()],
            "platform": jax.local_devices()[0].client.platform_version}


def psum():
    mesh, data = mesh_of_all(), numbers(8 * DEVICES)
    out = over_all(lambda x: jax.lax.psum(x, "x"), mesh, P("x"), P())(sharded(data, mesh, "x"))
    np.testing.assert_allclose(np.asarray(out), data.reshape(DEVICES, 8).sum(0), rtol=1e-5, atol=1e-6)
    return {"sum": np.asarray(out).tobytes().hex()}


def collectives():
    mesh, data = mesh_of_all(), numbers((DEVICES * DEVICES, 6))
    blocks = data.reshape(DEVICES, DEVICES, 6)
    x = sharded(data, mesh, "x")
    assert_is(over_all(lambda a: jax.lax.all_gather(a, "x", tiled=True), mesh, P("x"), P())(x), data)
    exchanged = over_all(lambda a: jax.lax.all_to_all(a, "x", 0, 0, tiled=True), mesh, P("x"), P("x"))(x)
    assert_is(exchanged, blocks.transpose(1, 0, 2).reshape(data.shape))
    ring = [(i, (i + 1) % DEVICES) for i in range(DEVICES)]
    assert_is(over_all(lambda a: jax.lax.ppermute(a, "x", ring), mesh, P("x"), P("x"))(x),
              np.roll(blocks, 1, 0).reshape(data.shape))
    assert_is(over_all(lambda a: jax.lax.psum_scatter(a, "x", tiled=True), mesh, P("x"), P("x"))(x),
              blocks.sum(0))
    assert_is(over_all(lambda a: jax.lax.pmax(a, "x"), mesh, P("x"), P())(x), blocks.max(0))
    index = over_all(lambda: jax.lax.axis_index("x")[None], mesh, (), P("x"))()
    assert_is(index, np.arange(DEVICES, dtype=np.int32))
    return {}


def automatic_shardings():
    mesh = mesh_of_all(2, 2)
    a, b = numbers((8, 16), 1), numbers((16, 12), 2)
    x, y = sharded(a, mesh, "x", "y"), sharded(b, mesh, "y", None)
    product = jax.jit(lambda x, y: jax.numpy.tanh(x @ y), out_shardings=NamedSharding(mesh, P("x", "y")))
    assert_is(product(x, y), np.tanh(a @ b))
    assert_is(jax.jit(lambda x: x.T, out_shardings=NamedSharding(mesh, P("x")))(x), a.T)
    assert_is(jax.jit(lambda x: x.sum(), out_shardings=NamedSharding(mesh, P()))(x), a.sum())

    def loss(w, x):
        return (jax.numpy.tanh(x @ w) ** 2).mean()

    step = jax.jit(lambda w, x: w - 0.1 * jax.grad(loss)(w, x), donate_argnums=0)
    w = sharded(b, mesh, None, "y")
    for _ in range(3):
        w = step(w, sharded(a, mesh, "x", None))
    expected = b
    for _ in range(3):
        hidden = np.tanh(a @ expected)
        expected = expected - 0.1 * a.T @ (2 * hidden * (1 - hidden ** 2)) / hidden.size
    assert_is(w, expected)
    return {}


def arrays_of_processes():
    from jax.experimental import multihost_utils
    mesh, rank, ranks = mesh_of_all(), jax.process_index(), jax.process_count()
    rows = np.arange(DEVICES * 3, dtype=np.float32).reshape(DEVICES, 3)
    own = rows[rank * DEVICES // ranks:(rank + 1) * DEVICES // ranks]
    whole = jax.make_array_from_process_local_data(NamedSharding(mesh, P("x")), own)
    assert_is(whole, rows)
    assert not whole.is_fully_addressable and whole.nbytes == rows.nbytes
    np.testing.assert_array_equal(multihost_utils.process_allgather(whole, tiled=True), rows)
    gathered = multihost_utils.process_allgather(np.full(2, rank, np.int32))
    np.testing.assert_array_equal(gathered, np.arange(ranks, dtype=np.int32)[:, None].repeat(2, 1))
    told = multihost_utils.broadcast_one_to_all(np.float32(7 + rank))
    assert float(told) == 7
    multihost_utils.sync_global_devices("here")
    multihost_utils.assert_equal({"a": np.arange(3)}, "not alike")
    back = multihost_utils.host_local_array_to_global_array(own, mesh, P("x"))
    assert_is(back, rows)
    np.testing.assert_array_equal(multihost_utils.global_array_to_host_local_array(back, mesh, P("x")), own)
    placed = jax.device_put(rows, NamedSharding(mesh, P("x")))
    assert_is(placed + whole, 2 * rows)
    return {}


def own_programs():
    """Of the devices of this process alone; nobody waits for others."""
    rank = jax.process_index()
    assert float(jax.jit(lambda x: x * 2)(rank + 1.0)) == 2 * (rank + 1)
    mine = jax.make_mesh((len(jax.local_devices()),), ("x",), devices=jax.local_devices(),
                         axis_types=(jax.sharding.AxisType.Auto,))
    for _ in range(rank):  # as often as one likes
        y = over_all(lambda x: jax.lax.psum(x, "x"), mine, P("x"), P())(np.arange(4.0, dtype=np.float32))
        assert np.asarray(y).sum() == 6
    return {}


def some_processes():
    """A program on the devices of two of the processes: others do something else meanwhile."""
    rank = jax.process_index()
    pair = [device for device in jax.devices() if device.process_index in (0, jax.process_count() - 1)]
    mesh = jax.sharding.Mesh(np.array(pair), ("x",))
    if rank in (0, jax.process_count() - 1):
        data = numbers(len(pair) * 2)
        out = over_all(lambda x: jax.lax.psum(x, "x"), mesh, P("x"), P())(sharded(data, mesh, "x"))
        assert_is(out, data.reshape(len(pair), 2).sum(0))
    return psum()


def large_sums():
    """The bits of a sum over all devices."""
    mesh, data = mesh_of_all(), numbers((DEVICES, 400_003), 5)
    out = over_all(lambda x: jax.lax.psum(x, "x"), mesh, P("x"), P())(sharded(data, mesh, "x"))
    return {"bits": hashlib.sha256(np.asarray(out).tobytes()).hexdigest()}


def another_program():
    mesh, data = mesh_of_all(), numbers(8 * DEVICES)
    factor = 1 + jax.process_index()
    out = over_all(lambda x: jax.lax.psum(factor * x, "x"), mesh, P("x"), P())
    return {"error": error_of(lambda: out(sharded(data, mesh, "x")))}


def another_step():
    mesh, data = mesh_of_all(), numbers(8 * DEVICES)
    x = sharded(data, mesh, "x")
    steps = [over_all(lambda x, n=n: jax.lax.psum(n * x, "x"), mesh, P("x"), P()) for n in (1, 2)]
    for step in steps:
        jax.block_until_ready(step(x))
    return {"error": error_of(lambda: steps[min(jax.process_index(), 1)](x))}


def killed():
    mesh, data = mesh_of_all(), numbers(8 * DEVICES)
    x = sharded(data, mesh, "x")
    step = over_all(lambda x: jax.lax.psum(x, "x"), mesh, P("x"), P())
    jax.block_until_ready(step(x))
    is_last = jax.process_index() == jax.process_count() - 1

    def steps():
        for count in range(1000):
            if is_last and count == 20:
                print(json.dumps({"killed": time.time()}), flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
            jax.block_until_ready(step(x))
            time.sleep(0.01)

    return {"error": error_of(steps), "ended": time.time()}


def error_of(body):
    try:
        jax.block_until_ready(body())
    except (jax.errors.JaxRuntimeError, ValueError) as error:  # JAX has both, by where it is found
        return str(error)
    return ""


def process(bodies, rank, ranks, port):
    """Runs as one of the processes; a line of JSON for each function."""
    sys.path.insert(0, str(SOURCE / "python"))
    from hilo import jax_plugin

    jax.config.update("jax_platforms", "hilo")
    jax_plugin.initialize()
    if ranks > 1:
        jax.distributed.initialize(f"localhost:{port}", ranks, rank)
    for body in bodies.split(","):
        print(json.dumps(globals()[body]()), flush=True)
    sys.stdout.flush()
    if "killed" in bodies:
        os._exit(0)  # JAX waits long for those that are no more


def free_port():
    with socket.socket() as one:
        one.bind(("", 0))
        return one.getsockname()[1]


def on_processes(ranks, *bodies, devices=None):
    """What the functions give in each of so many processes; lists by rank."""
    port = free_port()
    environment = dict(os.environ, HILO_PLUGIN=str(PLUGIN), JAX_PLATFORMS="hilo",
                       HILO_DEVICES=str(devices or DEVICES // ranks), HILO_THREADS="1", HILO_TIMEOUT="20")
    started = [subprocess.Popen([sys.executable, __file__, "--as-rank", ",".join(bodies), str(rank), str(ranks),
                                 str(port)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
               for rank in range(ranks)]
    out = []
    for rank, one in enumerate(started):
        try:
            said, errors = one.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            for other in started:
                other.kill()
            raise
        answers = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
        out.append((one.returncode, answers, errors))
    return out


class Processes(unittest.TestCase):
    def expect_well(self, done):
        """The answers of each rank, which has ended well."""
        for rank, (status, _, errors) in enumerate(done):
            self.assertEqual(status, 0, f"rank {rank}: {errors}")
        return [answers for _, answers, _ in done]

    def test_devices(self):
        for ranks in (2, 4):
            answers = self.expect_well(on_processes(ranks, "know_devices"))
            each = DEVICES // ranks
            for rank, (said,) in enumerate(answers):
                self.assertEqual(said["ids"], list(range(DEVICES)))
                self.assertEqual(said["processes"], [i // each for i in range(DEVICES)])
                self.assertEqual(said["local"], list(range(rank * each, (rank + 1) * each)))
                self.assertEqual(said["hardware"], list(range(each)))
                self.assertEqual((said["count"], said["index"]), (DEVICES, rank))
                self.assertIn("hilo", said["platform"])

    def test_two_processes(self):
        self.expect_well(on_processes(2, "psum", "collectives", "automatic_shardings", "arrays_of_processes",
                                      "own_programs"))

    def test_four_processes(self):
        self.expect_well(on_processes(4, "psum", "collectives", "automatic_shardings", "arrays_of_processes",
                                      "own_programs", "some_processes"))

    def test_same_bits_as_in_one_process(self):
        bodies = ("psum", "large_sums")
        alone, = self.expect_well(on_processes(1, *bodies))
        for ranks in (2, 4):
            for said in self.expect_well(on_processes(ranks, *bodies)):
                self.assertEqual(said, alone)

    def test_what_differs_is_named(self):
        for (first, second) in self.expect_well(on_processes(2, "another_program", "another_step")):
            self.assertIn("rank 1 has another program than rank 0", first["error"])
            self.assertIn("all processes wait for ever", second["error"])
            for rank in range(2):
                self.assertIn(f"rank {rank}: device {2 * rank} waits in all-reduce", second["error"])

    def test_killed_process_is_named(self):
        for ranks in (2, 4):
            *others, last = on_processes(ranks, "killed")
            self.assertEqual(last[0], -signal.SIGKILL)
            for said, in self.expect_well(others):
                self.assertIn(f"rank {ranks - 1} has died", said["error"])
                self.assertLess(said["ended"] - last[1][0]["killed"], 5)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as-rank"]:
        process(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        unittest.main(verbosity=1)
