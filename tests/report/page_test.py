"""The HTML page in a real browser: what it draws, what clicks, keys and searches do. Skipped without
Chromium and its driver."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser, is_there  # noqa: E402

HILO = os.environ.get("HILO_COMMAND", "build/hilo")
ENTER, ESCAPE, RIGHT, UP = "\ue007", "\ue00c", "\ue014", "\ue013"
EVIL = "</script><script>document.title='taken'</script>"
MODULE = """HloModule layers, is_scheduled=true

ENTRY main {
  x = f32[256,1024]{1,0} parameter(0), metadata={op_name="x"}
  w = f32[1024,1024]{1,0} parameter(1), metadata={op_name="w"}
  first = f32[256,1024]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/layer_0/dot" source_file="model.py" source_line=11}
  bent = f32[256,1024]{1,0} tanh(first), metadata={op_name="jit(f)/layer_0/tanh" source_file="model.py" source_line=12}
  wide = f32[4096,1024]{1,0} concatenate(bent, bent, first, first, bent, bent, first, first, bent, bent, first, first, bent, bent, first, first), dimensions={0}, metadata={op_name="jit(f)/wide/EVIL" source_file="EVIL" source_line=20}
  narrow = f32[256,1024]{1,0} slice(wide), slice={[0:256], [0:1024]}, metadata={op_name="jit(f)/narrow" source_file="model.py" source_line=21}
  ROOT last = f32[256,1024]{1,0} dot(narrow, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/layer_1/dot" source_file="model.py" source_line=30}
}
""".replace("EVIL", EVIL)


def pixels(png):
    """Width, height and the rows of an 8-bit RGB or RGBA image without interlacing."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert depth == 8 and kind in (2, 6), (depth, kind)
    size, at, packed = {2: 3, 6: 4}[kind], 8, b""
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at:at + 8])
        if name == b"IDAT":
            packed += png[at + 8:at + 8 + length]
        at += 12 + length
    return width, height, size, unfilter(zlib.decompress(packed), width * size, height, size)


def unfilter(raw, stride, height, size):
    rows, before = [], bytearray(stride)
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            left = row[i - size] if i >= size else 0
            up, corner = before[i], before[i - size] if i >= size else 0
            if kind == 1:
                row[i] = (row[i] + left) & 255
            elif kind == 2:
                row[i] = (row[i] + up) & 255
            elif kind == 3:
                row[i] = (row[i] + (left + up) // 2) & 255
            elif kind == 4:
                guess = left + up - corner
                near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up),
                           (abs(guess - corner), 2, corner))[2]
                row[i] = (row[i] + near) & 255
        rows.append(row)
        before = row
    return rows


def big_page(page, folder, count):
    """The same page with other data: many values of random sizes."""
    start = '<script id="data" type="application/json">'
    text = page.read_text()
    at = text.index(start) + len(start)
    end = text.index("</script>", at)
    data, seed = json.loads(text[at:end]), 1
    columns = {key: [] for key in data["values"]}
    for v in range(count):
        seed = (seed * 1103515245 + 12345) % 2**31
        row = {"instruction": v % len(data["instructions"]["name"]), "bytes": 64 + seed % 65536,
               "allocation": 0, "offset": seed * 17 % 2**30, "start": v, "end": v + seed % 999,
               "buffer": v, "number": v, "unpadded": 64}
        for key in columns:
            columns[key].append(row.get(key, 0))
    data["values"] = columns
    data["use_instructions"] = data["use_operands"] = []
    data["sequence"] = [v % len(data["instructions"]["name"]) for v in range(count)]
    data["allocations"] = {"number": [0], "bytes": [2**31], "space": [0], "kind": [3], "label": [0]}
    space = {**data["spaces"][0], "space": 0, "in_use": [v % 999 for v in range(count)],
             "peak_moment": 998, "peak_bytes": 998}
    data["spaces"] = [space]
    out = folder / "big.html"
    out.write_text(text[:at] + json.dumps(data).replace("<", "\\u003c") + text[end:])
    return out


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.folder = pathlib.Path(cls.holder.name)
        module = cls.folder / "module.hlo"
        module.write_text(MODULE)
        cls.page = cls.folder / "page.html"
        subprocess.run([HILO, "explain", str(module), "--html", str(cls.page)], check=True,
                       capture_output=True, timeout=60)
        cls.browser = Browser(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.holder.cleanup()

    def setUp(self):
        self.browser.open("about:blank")
        self.browser.open(self.page.as_uri())
        self.browser.wait("return !!window.hilo")

    def tearDown(self):
        self.assertEqual(self.browser.messages(), [])

    def state(self):
        return self.browser.run("return hilo.state()")

    def middle_of(self, name):
        """In coordinates of the window."""
        r = self.browser.run("return hilo.rectangle(arguments[0])", name)
        self.assertIsNotNone(r, name)
        left, top = self.browser.run(
            "const r = document.querySelector('#plot').getBoundingClientRect();"
            "return [r.left + 1, r.top + 1]")
        return left + r["x"] + r["width"] / 2, top + r["y"] + r["height"] / 2

    def color_at(self, x, y):
        _, _, size, rows = pixels(self.browser.screenshot())
        return tuple(rows[int(y)][int(x) * size:int(x) * size + 3])

    def test_rectangles_are_drawn_in_the_colour_of_their_op(self):
        x, y = self.middle_of("wide")
        legend = self.browser.run(
            "return [...document.querySelectorAll('.class')].filter(c => "
            "c.innerText.startsWith('concatenate')).map(c => "
            "getComputedStyle(c.querySelector('i')).backgroundColor)[0]")
        want = tuple(int(n) for n in legend[4:-1].split(","))
        got = self.color_at(x + 20, y + 20)  # beside the name and the mark of the moment
        self.assertLess(max(abs(a - b) for a, b in zip(got, want)), 6, (got, want))

    def test_larger_values_are_larger_and_earlier_ones_left(self):
        boxes = {n: self.browser.run("return hilo.rectangle(arguments[0])", n)
                 for n in ("first", "wide", "narrow", "last")}
        self.assertAlmostEqual(boxes["wide"]["height"], 16 * boxes["narrow"]["height"], delta=1)
        self.assertLess(boxes["first"]["x"], boxes["wide"]["x"])
        self.assertLess(boxes["wide"]["x"], boxes["last"]["x"])

    def test_hover_shows_a_tooltip(self):
        self.browser.pointer(("move", *self.middle_of("wide")))
        tooltip = self.browser.text("#tooltip")
        for part in ("wide", "f32[4096,1024]", "16.0 MiB", "jit(f)/wide/</script>"):
            self.assertIn(part, tooltip)

    def test_a_click_fills_the_panel(self):
        self.browser.click(*self.middle_of("wide"))
        detail = self.browser.text("#detail")
        for part in ("wide", "concatenate", "f32[4096,1024]", "16,777,216 B", "narrow", EVIL + ":20",
                     "temporary"):
            self.assertIn(part, detail)
        self.assertEqual(self.state()["selected"], "wide")
        self.assertIn("wide", self.browser.text("#live"))
        self.assertEqual(self.browser.run("return document.title"), "Memory of layers")

    def test_links_lead_to_users(self):
        self.browser.click(*self.middle_of("wide"))
        self.browser.run("[...document.querySelectorAll('#detail .list .link')].find(b => "
                         "b.innerText === 'narrow').click()")
        self.assertEqual(self.state()["selected"], "narrow")

    def test_search_by_name_op_and_source(self):
        for text, count in (("tanh", 1), ("layer_", 3), ("model.py:11", 1), ("parameter", 2),
                            ("nothing like it", 0)):
            self.browser.write("#search", text)
            self.assertEqual(self.state()["matches"], count, text)
        self.browser.write("#search", "model.py:21")
        self.browser.keys(ENTER)
        self.assertEqual(self.state()["selected"], "narrow")
        self.browser.keys(ESCAPE)
        self.assertEqual(self.state()["selected"], "")

    def test_what_is_not_found_loses_its_colour(self):
        x, y = self.middle_of("wide")
        before = self.color_at(x + 20, y + 20)
        self.browser.write("#search", "tanh")
        self.browser.wait("return hilo.state().matches === 1")
        after = self.color_at(x + 20, y + 20)
        self.assertNotEqual(before, after)
        self.assertLess(max(after) - min(after), 30, after)  # grey

    def test_other_colours(self):
        for key, some in (("source", "model.py:30"), ("scope", "layer_1"), ("kind", "temporary"),
                          ("padding", "no padding")):
            self.browser.run("const s = document.querySelector('#coloring'); s.value = arguments[0];"
                             "s.dispatchEvent(new Event('change'))", key)
            self.assertEqual(self.state()["coloring"], key)
            self.assertIn(some, self.browser.text("#legend"))

    def test_wheel_drag_and_keys_move_the_view(self):
        whole = self.state()["view"]
        x, y = self.middle_of("wide")
        self.browser.wheel(x, y, -300)
        near = self.state()["view"]
        self.assertLess(near["t1"] - near["t0"], whole["t1"] - whole["t0"])
        self.assertLess(near["y1"] - near["y0"], whole["y1"] - whole["y0"])
        self.browser.pointer(("move", x, y), "down", ("move", x - 30, y - 30), ("move", x - 60, y),
                             "up")
        moved = self.state()["view"]
        self.assertGreater(moved["t0"], near["t0"])
        self.assertEqual(self.state()["selected"], "")  # a drag is no click
        self.browser.keys("w")
        self.assertLess(self.state()["view"]["t1"] - self.state()["view"]["t0"],
                        moved["t1"] - moved["t0"])
        self.browser.keys("0")
        self.assertEqual(self.state()["view"], whole)

    def test_the_keyboard_alone_reaches_values(self):
        self.browser.run("document.querySelector('#plot').focus()")
        self.browser.keys("p")
        peak = self.state()["moment"]
        self.browser.keys(UP)
        self.assertNotEqual(self.state()["selected"], "")
        self.assertIn(self.state()["selected"], self.browser.run(
            "return document.querySelector('#announcement').textContent"))
        self.browser.keys(RIGHT)
        self.assertEqual(self.state()["moment"], peak + 1)

    def test_both_themes(self):
        light = self.color_at(3, 3)
        self.browser.run("document.querySelector('#theme').click()")
        dark = self.color_at(3, 3)
        self.assertGreater(min(light), 200)
        self.assertLess(max(dark), 60)

    def test_the_limit_is_drawn(self):
        self.assertIsNone(self.browser.run("return hilo.limit()"))
        page = self.folder / "limit.html"
        subprocess.run([HILO, "explain", str(self.folder / "module.hlo"), "--limit=12MiB", "--html", str(page)],
                       capture_output=True, timeout=60)
        self.browser.open(page.as_uri())
        self.browser.wait("return !!window.hilo")
        wide = self.browser.run("return hilo.rectangle('wide')")
        y = self.browser.run("return hilo.limit()")
        self.assertGreater(y, wide["y"])
        self.assertLess(y, wide["y"] + wide["height"])
        left, top = self.browser.run("const r = document.querySelector('#plot').getBoundingClientRect();"
                                     "return [r.left + 1, r.top + 1]")
        x = left + wide["x"] + wide["width"] / 3
        on, beside = self.color_at(x, top + round(y)), self.color_at(x, top + y + 30)
        self.assertGreater(max(abs(a - b) for a, b in zip(on, beside)), 40, (on, beside))
        self.assertIn("limit 12.0 MiB", self.browser.text("#spaces"))
        self.assertIn("too much", self.browser.text("#spaces"))

    def test_a_hundred_thousand_values(self):
        self.browser.open(big_page(self.page, self.folder, 100_000).as_uri())
        self.browser.wait("return !!window.hilo", seconds=60)
        self.assertEqual(self.state()["values"], 100_000)
        hover = self.browser.run(
            "const plot = document.querySelector('#plot'), box = plot.getBoundingClientRect();"
            "const begin = performance.now(); for (let i = 0; i < 20; ++i) plot.dispatchEvent("
            "new PointerEvent('pointermove', {clientX: box.left + 100 + 30 * i, clientY: box.top"
            " + 300})); return (performance.now() - begin) / 20")
        self.assertLess(hover, 500)  # milliseconds; against what grows with the square

    def test_a_name_in_the_address_selects(self):
        self.browser.open("about:blank")
        self.browser.open(self.page.as_uri() + "#bent")
        self.browser.wait("return !!window.hilo")
        self.assertEqual(self.state()["selected"], "bent")


if __name__ == "__main__":
    if "explain" not in subprocess.run([HILO, "--help"], capture_output=True, text=True).stdout:
        print("skipped: this hilo has no command explain, which writes the page")
        sys.exit(77)
    if not is_there():
        print("skipped: no chromium with chromedriver")
        sys.exit(77)
    unittest.main()
