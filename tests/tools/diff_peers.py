"""hilo diff of programs that JAX wrote and XLA's CPU compiler optimised, for two batch sizes: every
value is matched, and what is changed is what has another size or number, and nothing else."""
import json
import os
import re
import subprocess
import tempfile
import unittest

import jax
import jax.numpy as jnp

HILO = os.environ.get("HILO_COMMAND", "build/hilo")
F32 = jnp.float32


def array(*shape):
    return jax.ShapeDtypeStruct(shape, F32)


def mlp(weights, x, y):
    for w, b in weights:
        x = jnp.tanh(x @ w + b)
    return jnp.mean((x - y) ** 2)


def attention(x, w):
    q, k, v = jnp.split(jnp.einsum("bsd,de->bse", x, w), 3, axis=-1)
    return jax.nn.softmax(q @ k.swapaxes(1, 2)) @ v


def recurrent(x, w):
    def step(carry, now):
        carry = jnp.tanh(now + carry @ w)
        return carry, carry
    return jax.lax.scan(step, jnp.zeros(x.shape[1:]), x)


def norm(x, scale):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5) * scale


WEIGHTS = [(array(16, 16), array(16)) for _ in range(3)]
PROGRAMS = {
    "mlp": (jax.value_and_grad(mlp), lambda n: (WEIGHTS, array(n, 16), array(n, 16))),
    "attention": (jax.grad(lambda x, w: attention(x, w).sum(), argnums=(0, 1)),
                  lambda n: (array(n, 8, 12), array(12, 36))),
    "recurrent": (jax.grad(lambda x, w: recurrent(x, w)[1].sum(), argnums=1),
                  lambda n: (array(5, n, 8), array(8, 8))),
    "norm": (jax.grad(lambda x, s: norm(x, s).sum(), argnums=(0, 1)),
             lambda n: (array(n, 6, 16), array(16))),
}
SIZES = {"shape", "constant", "slice", "dynamic_slice_sizes", "backend config"}


def texts_of(function, arguments):
    lowered = jax.jit(function).lower(*arguments)
    return lowered.compiler_ir("hlo").as_hlo_text(), lowered.compile().as_text()


def renamed(text):
    """All instructions under other names."""
    names = {name: f"v.{i}" for i, name in
             enumerate(re.findall(r"^ +(?:ROOT )?%?([\w.-]+) = ", text, re.MULTILINE)[::-1])}
    return re.sub(r"(?<=[ (%])([\w.-]+)(?=[,) ])", lambda m: names.get(m[1], m[1]), text)


class BatchDoubled(unittest.TestCase):
    def diff(self, a, b):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("a.txt", "b.txt")]
            for path, text in zip(paths, (a, b)):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            done = subprocess.run([HILO, "diff", *paths, "--json"], capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual(done.returncode, 3, done.stderr)
            return json.loads(done.stdout)

    def test_each_value_by_name_and_no_false_one(self):
        for name, (function, arguments) in PROGRAMS.items():
            small, large = (texts_of(function, arguments(n)) for n in (6, 12))
            for stage, a, b in zip(("written", "optimised"), small, large):
                with self.subTest(program=name, stage=stage):
                    found = self.diff(a, b)
                    self.assertEqual((found["new"], found["gone"]), ([], []))
                    whats = {c["what"] for one in found["changed"] for c in one["changes"]}
                    self.assertLessEqual(whats, SIZES)
                    wrong = [one for one in found["changed"]
                             if one["a"]["name"] != one["b"]["name"]]
                    self.assertEqual(wrong, [])
                    for one in found["changed"]:
                        self.assertNotEqual([c["from"] for c in one["changes"]],
                                            [c["to"] for c in one["changes"]])

    def test_under_other_names(self):
        for name, (function, arguments) in PROGRAMS.items():
            small, large = (texts_of(function, arguments(n))[0] for n in (6, 12))
            with self.subTest(program=name):
                plain, other = self.diff(small, large), self.diff(small, renamed(large))
                self.assertEqual((other["new"], other["gone"]), ([], []))
                self.assertEqual([one["a"]["name"] for one in plain["changed"]],
                                 [one["a"]["name"] for one in other["changed"]])
                self.assertGreater(other["renamed"], other["matched"] // 2)


if __name__ == "__main__":
    unittest.main()
