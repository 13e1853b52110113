"""What keeps dimensions side by side has long loops: over runs of them."""
import unittest

from dumped import dumped

SUM = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n\n"


def last_text(body):
    """Of the module, before copies are inserted."""
    return dumped(f"HloModule m\n\n{SUM}ENTRY e {{\n{body}}}\n", "after_*.txt", "bench", "--runs=1")[-1]


def last_line(body, op):
    """Of the op."""
    return [line for line in last_text(body).splitlines() if f" {op}(" in line][-1]


class CollapseDims(unittest.TestCase):
    def merged(self, from_dims, order):
        sizes = from_dims.split(",")
        to_dims = ",".join(sizes[int(d)] for d in order.split(","))
        line = last_line(f"  x = f32[{from_dims}] parameter(0)\n"
                         f"  ROOT t = f32[{to_dims}] transpose(x), dimensions={{{order}}}\n", "transpose")
        return line.split("= f32[")[1].split("]")[0], line.split("dimensions={")[1].split("}")[0]

    def test_runs_are_one_dimension(self):
        self.assertEqual(self.merged("32,30,20,8", "3,0,1,2"), ("8,19200", "1,0"))
        self.assertEqual(self.merged("4,8,6,7", "0,2,3,1"), ("4,42,8", "0,2,1"))
        self.assertEqual(self.merged("8,1,9,10,12", "4,0,2,1,3"), ("12,720", "1,0"))

    def test_tiny_rows_lie_in_one_line(self):
        repeated = last_line("  x = f32[30,20,8,7] parameter(0)\n"
                             "  ROOT b = f32[30,20,8,7,2] broadcast(x), dimensions={0,1,2,3}\n", "broadcast")
        self.assertIn("f32[33600,2]", repeated)
        last = "  x = f32[30,20,3] parameter(0)\n  v = f32[3] parameter(1)\n" \
            "  b = f32[30,20,3] broadcast(v), dimensions={2}\n  ROOT m = f32[30,20,3] multiply(x, b)\n"
        self.assertIn("f32[600,3]", last_line(last, "fusion").split("{")[0])

    def test_others_stay(self):
        self.assertEqual(self.merged("4,5,6", "2,1,0"), ("6,5,4", "2,1,0"))

    def loop(self, body):
        return last_line("  x = f32[300,40,3] parameter(0)\n  z = f32[] constant(0)\n" + body, "fusion").split("{")[0].split()[-1]

    def test_rows_of_loops_are_long(self):
        padded = "  p = f32[300,44,3] pad(x, z), padding=0_0x1_3x0_0\n"
        self.assertEqual(self.loop(padded + "  ROOT n = f32[300,44,3] exponential(p)\n"), "f32[300,132]")
        reversed_joined = padded + "  r = f32[300,44,3] reverse(p), dimensions={0}\n" \
            "  ROOT j = f32[300,84,3] concatenate(r, x), dimensions={1}\n"
        self.assertEqual(self.loop(reversed_joined), "f32[300,252]")
        first = "  s = f32[1,40,3] slice(x), slice={[0:1], [0:40], [0:3]}\n  f = f32[40,3] reshape(s)\n" \
            "  b = f32[300,40,3] broadcast(f), dimensions={1,2}\n  ROOT m = f32[300,40,3] multiply(x, b)\n"
        self.assertEqual(self.loop(first), "f32[300,120]")

    def test_what_tells_dimensions_apart(self):
        row = "  e = f32[300,40,3] exponential(x)\n  r = f32[300,40,3] reverse(e), dimensions={2}\n"
        self.assertEqual(self.loop(row + "  ROOT n = f32[300,40,3] negate(r)\n"), "f32[12000,3]")
        colour = "  c = f32[3] parameter(1)\n  b = f32[300,40,3] broadcast(c), dimensions={2}\n" \
            "  m = f32[300,40,3] multiply(x, b)\n  ROOT r = f32[300,40,3] reverse(m), dimensions={1}\n"
        self.assertEqual(self.loop(colour), "f32[300,40,3]")

    def test_rows_of_reductions_are_long(self):
        spread = "  x = f32[300,40,3] parameter(0)\n  z = f32[] constant(0)\n  w = f32[40,3] parameter(1)\n" \
            "  b = f32[300,40,3] broadcast(w), dimensions={1,2}\n  m = f32[300,40,3] maximum(x, b)\n" \
            "  e = f32[300,40,3] exponential(m)\n"
        rows = "  ROOT r = f32[300] reduce(e, z), dimensions={1,2}, to_apply=sum\n"
        self.assertRegex(last_text(spread + rows), r"f32\[300,120\]\S* exponential")
        lines = "  ROOT r = f32[300,40] reduce(e, z), dimensions={2}, to_apply=sum\n"
        self.assertNotIn("f32[300,120]", last_text(spread + lines))

    def window(self, dims, window):
        body = f"  x = f32[{dims}] parameter(0)\n  z = f32[] constant(0)\n" \
            f"  ROOT r = f32[{dims}] reduce-window(x, z), window={{{window}}}, to_apply=sum\n"
        line = last_line(body, "reduce-window")
        return line.split("= f32[")[1].split("]")[0], line.split("window={")[1].split("}")[0]

    def test_windows_over_rows(self):
        self.assertEqual(self.window("6,300,7", "size=1x5x1 pad=0_0x2_2x0_0"),
                         ("6,2100", "size=1x5 pad=0_0x14_14 rhs_dilate=1x7"))
        for dims, window in (("300,7", "size=5x3 pad=2_2x1_1"), ("300,7", "size=300x1 pad=299_0x0_0"),
                             ("300,512", "size=5x1 pad=2_2x0_0")):
            self.assertEqual(self.window(dims, window), (dims, window))


if __name__ == "__main__":
    unittest.main()
