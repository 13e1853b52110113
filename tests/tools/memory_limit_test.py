"""Commands under limits on their address space: each ends in what it computes or in an error, never
in a signal, an abort or a message about Hilo's insides. HILO_MEMORY_SIZES says how many limits are
tried (200 for a long run)."""
import os
import resource
import subprocess
import sys
import tempfile
import unittest

HILO = os.environ.get("HILO_COMMAND", "build/hilo")
SIZES = int(os.environ.get("HILO_MEMORY_SIZES") or 12)
MIB = 1 << 20
# Arrays of 24 MiB beside small ones; a product, a sort and a loop, so that loops, routines and
# threads of the pool all take memory.
MODULE = """HloModule arrays
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}
body {
  s = (s32[], f32[1024,6144]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[1024,6144] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[1024,6144] tanh(x)
  ROOT t = (s32[], f32[1024,6144]) tuple(j, y)
}
condition {
  s = (s32[], f32[1024,6144]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(2)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[1024,6144] parameter(0)
  w = f32[6144,64] parameter(1)
  zero = s32[] constant(0)
  none = f32[] constant(0)
  s = (s32[], f32[1024,6144]) tuple(zero, x)
  l = (s32[], f32[1024,6144]) while(s), condition=condition, body=body
  y = f32[1024,6144] get-tuple-element(l), index=1
  p = f32[1024,64] dot(y, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  q = f32[1024,64] sort(p), dimensions={0}, to_apply=less
  r = f32[6144] reduce(y, none), dimensions={0}, to_apply=add
  ROOT t = (f32[1024,64], f32[6144]) tuple(q, r)
}
"""
DEVICES = """HloModule devices, num_partitions=8
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY main {
  x = f32[1024,256] parameter(0)
  ROOT r = f32[1024,256] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3,4,5,6,7}},
    use_global_device_ids=true, to_apply=add
}
"""


def run(arguments, limit, seconds=120):
    def set_limit():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return subprocess.run([HILO, *arguments], capture_output=True, text=True, timeout=seconds,
                          preexec_fn=set_limit, stdin=subprocess.DEVNULL)


def starts(limit):
    """Whether the loader itself has room enough."""
    return run(["--version"], limit).returncode == 0


def smallest(works, low, high):
    """A limit between the two, of which the first does not work, from which on it does."""
    while high - low > MIB:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


class MemoryLimit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.environ.get("HILO_SANITIZE"):
            raise unittest.SkipTest("sanitizers map all of the address space")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        for name, text in (("arrays.hlo", MODULE), ("devices.hlo", DEVICES)):
            with open(cls.path(name), "w") as file:
                file.write(text)
        cls.first = smallest(starts, 1 * MIB, 1024 * MIB)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def check(self, *arguments, enough=4096 * MIB, sizes=SIZES):
        whole = run(arguments, enough)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        high = smallest(lambda limit: run(arguments, limit).returncode == 0, self.first, enough)
        refused = 0
        for i in range(sizes):
            limit = self.first + (high - self.first) * i // sizes
            done = run(arguments, limit)
            what = f"{arguments} with {limit} bytes: {done.returncode}\n{done.stderr}"
            self.assertIn(done.returncode, (0, 1), what)
            self.assertNotIn("internal error", done.stderr, what)
            self.assertNotIn("LLVM ERROR", done.stderr, what)
            if done.returncode == 1:
                self.assertIn("error: ", done.stderr, what)
                refused += 1
        if high - self.first > MIB:  # it needs more than starting does
            self.assertGreater(refused, 0, arguments)

    def test_evaluated(self):
        self.check("run", "--device=eval", "--threads=2", self.path("arrays.hlo"))

    def test_compiled(self):
        self.check("run", "--device=cpu", "--threads=2", self.path("arrays.hlo"))

    def test_evaluated_on_devices(self):
        self.check("run", "--device=eval", "--threads=1", self.path("devices.hlo"))

    def test_compiled_on_devices(self):
        self.check("run", "--device=cpu", "--threads=1", self.path("devices.hlo"))

    def test_others(self):
        few = max(3, SIZES // 4)
        out = self.path("out")
        self.check("check", self.path("arrays.hlo"), sizes=few)
        self.check("print", self.path("arrays.hlo"), sizes=few)
        self.check("explain", self.path("arrays.hlo"), sizes=few)
        self.check("convert", self.path("arrays.hlo"), "-o", out + ".pb", sizes=few)
        self.check("opt", self.path("arrays.hlo"), "--pipeline=cpu", sizes=few)
        self.check("compile", self.path("arrays.hlo"), "-o", out + ".o", sizes=few)


if __name__ == "__main__":
    sys.exit(unittest.main())
