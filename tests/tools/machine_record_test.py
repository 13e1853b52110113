"""Records of machines: `hilo bench --machine` measures one, `hilo explain --commands --machine` takes one."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("HILO_SOURCE", Path(__file__).resolve().parents[2]))
COMMAND = os.environ.get("HILO_COMMAND", SOURCE / "build/hilo")

PROGRAM = """HloModule program
ENTRY main {
  x = f32[1024,1024] parameter(0)
  ROOT y = f32[1024,1024] divide(x, x)
}
"""


def hilo(*arguments, **environment):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True,
                          env={**os.environ, "HILO_CACHE": "", **environment})


def field_names(record, before=""):
    """As docs/cost.md names them: cores.caches[i].bytes."""
    if isinstance(record, list):
        return {name for one in record for name in field_names(one, f"{before}[i]")}
    if isinstance(record, dict):
        return {name for key, one in record.items()
                for name in field_names(one, f"{before}.{key}" if before else key)}
    return {before}


class MachineRecord(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.program = self.write("program.hlo", PROGRAM)

    def write(self, name, text):
        path = Path(self.folder.name) / name
        path.write_text(text)
        return path

    def explain(self, record):
        path = self.write("machine.json", record if isinstance(record, str) else json.dumps(record))
        return hilo("explain", self.program, "--commands", "--json", f"--machine={path}")

    def estimate(self, record):
        done = self.explain(record)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["commands"][0]

    def refused(self, record, *words):
        done = self.explain(record)
        self.assertEqual(done.returncode, 1, done.stdout)
        for word in ("machine.json", *words):
            self.assertIn(word, done.stderr)

    def test_the_record_decides(self):
        fast = self.estimate({"name": "znver3"})
        slow = self.estimate({"name": "znver3", "cores": {"divisions": {"f32": 1e6}, "count": 1}})
        self.assertGreater(slow["seconds"], 0.9 * 1024 * 1024 / 1e6)
        self.assertGreater(slow["seconds"], 100 * fast["seconds"])
        self.assertEqual((slow["bound"], slow["threads"]), ("divisions", 1))

    def test_each_figure_is_checked(self):
        for value in (0, -1, 0.0, "fast", None, [1], {"a": 1}, True):
            self.refused({"cores": {"divisions": {"f32": value}}}, "cores.divisions.f32")
            self.refused({"bytes_per_second": value}, "bytes_per_second")
        for value in (0, -64, 64.5, 1e30):
            self.refused({"cores": {"caches": [{"bytes": value}]}}, "cores.caches[0].bytes")
        self.refused({"cores": {"cache_line": 48}}, "cores.cache_line: 48; expected a power of two")
        self.refused({"cores": {"caches": [{}, {"bytes_per_second": -5}]}}, "caches[")
        self.refused({"cores": {"colour": 3}}, "cores.colour: no such figure")
        self.refused({"schema": "hilo.machine.9"}, "schema")
        self.refused({"name": 3}, "name")

    def test_what_is_no_record(self):
        for text in ("[]", "3", "{}"):
            self.refused(text, "expected a JSON object with figures")
        for text, place in (("", "line 1, column 1"), ('{\n"a" 3}', "line 2, column 5"), ("\xff" * 9, "line 1"),
                            ('{"cores": {"gathers": 1e999}}', "1e999"), ('{"name": "\\ud800"}', "surrogate")):
            self.refused(text, "no record of a machine", place)
        deep = '{"a":' * 200000 + "1" + "}" * 200000
        self.assertEqual(self.explain(deep).returncode, 1)
        self.assertEqual(self.explain('{"a":' * 10000 + "1" + "}" * 10000).returncode, 1)
        self.refused({"cores": {"caches": [{"bytes": 1024}] * 20000}}, "bytes; expected at most 65536")
        absent = hilo("explain", self.program, "--commands", "--machine=/no/such.json")
        self.assertEqual(absent.returncode, 1)
        self.assertIn("/no/such.json", absent.stderr)

    def test_an_unknown_processor_has_all_its_figures_from_the_record(self):
        self.refused({"name": "znver9", "bytes_per_second": 1e9}, "cores.count: missing", "'znver9'")
        whole = json.loads(self.explain({"name": "znver3"}).stdout)
        self.assertGreater(whole["commands"][0]["seconds"], 0)

    def test_only_commands_have_estimates(self):
        done = hilo("explain", self.program, f"--machine={self.write('machine.json', '{}')}")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--commands", done.stderr)

    def test_this_machine_is_measured_and_kept(self):
        done = hilo("bench", "--machine", "--json", HILO_CACHE=f"{self.folder.name}/cache")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        record = json.loads(done.stdout)
        self.assertEqual(record["schema"], "hilo.machine.1")
        self.assertEqual(len(record["cores"]["caches"]), 3)
        self.assertGreater(record["cores"]["multiply_adds"]["f32"], record["cores"]["divisions"]["f32"])
        page = (SOURCE / "docs/cost.md").read_text()
        missing = [name for name in field_names(record) if f"`{name}`" not in page]
        self.assertEqual(missing, [])
        kept = list(Path(self.folder.name, "cache").glob("machine.*.json"))
        self.assertEqual([json.loads(path.read_text()) for path in kept], [record])
        self.assertEqual(kept[0].stat().st_mode & 0o777, 0o600)
        self.assertEqual(kept[0].parent.stat().st_mode & 0o777, 0o700)
        # What is kept is what estimates take; one that is damaged, or that others may have written, is not.
        here = hilo("explain", self.program, "--commands", "--json", HILO_CACHE=f"{self.folder.name}/cache")
        self.assertEqual(json.loads(here.stdout)["commands"], json.loads(self.explain(record).stdout)["commands"])
        row = hilo("explain", self.program, "--commands", "--json").stdout

        def warned(word):
            here = hilo("explain", self.program, "--commands", "--json", HILO_CACHE=f"{self.folder.name}/cache")
            self.assertEqual((here.returncode, here.stdout), (0, row))
            self.assertRegex(here.stderr, f"warning: .*{word}.*; the figures of the processor's row are taken")

        kept[0].write_text('{"cores": {"count": 0}}')
        warned("cores.count")
        kept[0].chmod(0o666)
        warned("others may have written it")
        kept[0].unlink()
        kept[0].mkdir()
        warned("not a regular file")
        done = hilo("bench", "--machine", "--json", HILO_CACHE=f"{self.folder.name}/cache")
        self.assertEqual(done.returncode, 0)
        self.assertIn("cannot be written", done.stderr)
        self.assertEqual(list(kept[0].parent.iterdir()), kept)

    def test_bench_wants_one_of_both(self):
        self.assertEqual(hilo("bench").returncode, 2)
        self.assertEqual(hilo("bench", self.program, "--machine").returncode, 2)

    def test_measuring_takes_no_options_of_modules(self):
        for option in ("--timeout=9", "--runs=3", "--device=cpu", "--threads=1", "--seed=1", "--parse-only",
                       "--target-cpu=native", "--time-passes", "--stage=last"):
            done = hilo("bench", "--machine", option)
            self.assertEqual((done.returncode, done.stdout), (2, ""), option)
            self.assertIn(option.split("=")[0], done.stderr)

    def test_absurd_figures_fit_their_columns(self):
        path = self.write("machine.json", '{"name": "znver3", "cores": {"divisions": {"f32": 1e-320}, "count": 1}}')
        done = hilo("explain", self.program, "--commands", f"--machine={path}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r" 1\.000e\+206 +divisions")
        self.assertLess(max(map(len, done.stdout.split())), 40)


if __name__ == "__main__":
    unittest.main(verbosity=2)
