"""PyTorch/XLA on Hilo against PyTorch on the CPU. Skipped where torch_xla is not installed: nothing
installs it for this; HILO_PEERS_PYTHON names a Python that has it."""
import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HILO_BUILD", SOURCE / "build" / "release"))
os.environ.setdefault("HILO_PLUGIN", str(BUILD / "libhilo_pjrt.so"))
if not importlib.util.find_spec("torch_xla") or not Path(os.environ["HILO_PLUGIN"]).exists() or \
        os.environ.get("HILO_SANITIZE"):
    sys.exit(77)
os.environ["PJRT_DEVICE"] = "HILO"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(SOURCE / "python"))

import torch
from torch import nn
from torch.nn import functional as F
import torch_xla
from torch_xla.experimental import plugins
import torch_xla.core.xla_model as xm

from hilo.torch_plugin import HiloPlugin

if "HILO" not in {entry.name for entry in importlib.metadata.entry_points(group="torch_xla.plugins")}:
    plugins.use_dynamic_plugins()  # what the wheel's entry point does
    plugins.register_plugin("HILO", HiloPlugin())
XLA = torch_xla.device()

START = """
import sys; sys.path.insert(0, {python!r})
import torch, torch_xla, numpy as np
from torch_xla.experimental import plugins
from hilo.torch_plugin import HiloPlugin
plugins.use_dynamic_plugins(); plugins.register_plugin("HILO", HiloPlugin())
import torch_xla.distributed.spmd as xs, torch_xla.runtime as xr
"""


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class Block(nn.Module):
    """A small language model: embedding, attention, feed-forward."""

    def __init__(self):
        super().__init__()
        self.embedding, self.norm = nn.Embedding(20, 16), nn.LayerNorm(16)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.forward_layers = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 20))

    def forward(self, tokens):
        x = self.embedding(tokens)
        h = self.norm(x)
        mask = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool, device=x.device).triu(1)
        return self.forward_layers(x + self.attention(h, h, h, attn_mask=mask, need_weights=False)[0])


class Programs(unittest.TestCase):
    def compare(self, function, *arguments):
        """A function of a device and tensors gives tensors: on Hilo and on PyTorch's CPU."""
        expected = function(torch.device("cpu"), *[one.clone() for one in arguments])
        got = function(XLA, *[one.to(XLA) for one in arguments])
        for mine, other in zip(got, expected, strict=True):
            torch.testing.assert_close(mine.detach().cpu(), other.detach(), rtol=1e-3, atol=1e-4)

    def train(self, make, optimizer, loss, *arguments):
        def steps(device, *arguments):
            torch.manual_seed(0)
            model = make().to(device)
            update = optimizer(model.parameters())
            losses = []
            for _ in range(4):
                update.zero_grad()
                value = loss(model, *arguments)
                value.backward()
                update.step()
                if device == XLA:
                    torch_xla.sync()
                losses.append(value.detach())
            return [*losses, *model.state_dict().values()]
        self.compare(steps, *arguments)

    def test_platform(self):
        self.assertEqual(torch_xla._XLAC._xla_device_kind(str(XLA)), "Hilo CPU")
        held = torch.ones(1 << 16).to(XLA)
        self.assertGreaterEqual(xm.get_memory_info(XLA)["bytes_used"], held.numel() * 4)

    def test_mlp_with_adam(self):
        self.train(lambda: nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 5)),
                   lambda parameters: torch.optim.Adam(parameters, lr=1e-2),
                   lambda model, x, y: F.cross_entropy(model(x), y), random(16, 8), torch.arange(16) % 5)

    def test_convolutions(self):
        self.train(lambda: nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(),
                                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 3)),
                   lambda parameters: torch.optim.SGD(parameters, lr=0.05),
                   lambda model, x: model(x).pow(2).mean(), random(4, 2, 8, 8))

    def test_transformer(self):
        self.train(Block, lambda parameters: torch.optim.SGD(parameters, lr=0.1),
                   lambda model, tokens: F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten()),
                   torch.arange(24).reshape(3, 8) % 20)

    def test_indices(self):
        def work(device, x):
            i = torch.tensor([2, 0, 2], device=device)
            y = x.clone()
            y[i[:2], 1] = 5
            return [x[i], y, *x.sort(1), *x.topk(2), x.gather(1, x.argsort(1)), x.index_add(0, i, x[:3]),
                    x.nonzero(), x[x > 0], x.cumsum(1)]
        self.compare(work, random(4, 6))

    def test_linear_algebra(self):
        def work(device, x):
            s = x @ x.T + 6 * torch.eye(6, device=device)
            q, r = torch.linalg.qr(x)
            return [torch.linalg.cholesky(s), torch.linalg.eigvalsh(s), torch.linalg.svdvals(x), q @ r,
                    torch.linalg.inv(s), torch.linalg.solve(s, x)]
        self.compare(work, random(6, 6))

    def test_types(self):
        def work(_, x):
            return [(x.to(kind) @ x.to(kind).T).float() for kind in (torch.float64, torch.float32)] + \
                [x.bfloat16().exp().float(), (x * 10).int() // 3]
        self.compare(work, random(4, 6))

    def test_compiled(self):
        model = nn.Sequential(nn.Linear(6, 6), nn.Tanh()).eval()
        expected = model(random(3, 6))
        with torch.no_grad():
            got = torch.compile(model.to(XLA), backend="openxla")(random(3, 6).to(XLA))
        torch.testing.assert_close(got.cpu(), expected.detach(), rtol=1e-4, atol=1e-5)

    def test_random_numbers(self):
        xm.set_rng_state(7)
        first = F.dropout(torch.ones(1000, device=XLA), 0.25).cpu()
        xm.set_rng_state(7)
        again = F.dropout(torch.ones(1000, device=XLA), 0.25).cpu()
        self.assertTrue(torch.equal(first, again))
        self.assertTrue(150 < int((first == 0).sum()) < 350)

    def test_too_large(self):
        with self.assertRaisesRegex(RuntimeError, "needs .* bytes"):
            too_large = torch.ones(1 << 21, 1 << 20, device=XLA)
            torch_xla.sync(wait=True)
            too_large.sum().item()


class Devices(unittest.TestCase):
    """Four devices, in a process of their own."""

    def run_there(self, code):
        code = START.format(python=str(SOURCE / "python")) + code
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "HILO_DEVICES": "4"},
                              text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return done.stdout.split()

    def test_one_of_four(self):
        self.assertEqual(self.run_there(
            'x = torch.arange(4.).to("xla:2"); print(xr.global_runtime_device_count(), (x * x).sum().item())'),
            ["4", "14.0"])

    def test_sharded(self):
        code = """
xr.use_spmd(); mesh = xs.Mesh(np.arange(4), (2, 2), ("data", "model")); d = torch_xla.device()
a, b = torch.arange(35.).reshape(7, 5), torch.arange(15.).reshape(5, 3)
x, y = a.to(d), b.to(d)
xs.mark_sharding(x, mesh, ("data", "model")); xs.mark_sharding(y, mesh, ("model", None))
z = x @ y; torch_xla.sync()
print(torch.equal(z.cpu(), a @ b), torch.equal((x + 1).cpu(), a + 1))
s = torch.ones(8, 8).to(d); xs.mark_sharding(s, mesh, ("data", None)); torch_xla.sync()
t = s + 1; xs.mark_sharding(t, mesh, (None, "model")); torch_xla.sync()
print(t.sum().item(), torch_xla._XLAC._get_xla_sharding_spec(t))
"""
        self.assertEqual(self.run_there(code)[:3], ["True", "True", "128.0"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
