"""bench/log.jsonl has the form that bench/history.py describes, and docs/performance.md is its page."""

import os
import re
import sys
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("HILO_SOURCE", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SOURCE / "bench"))

import history

KEYS = {"date", "commit", "machine", "threads", "program", "measure", "unit", "before", "after",
        "least", "most", "xla", "by", "note", "table"}
OF_TABLE = {"programs": {"run_ms", "xla_run_ms", "compile_ms", "xla_compile_ms", "temp_mb",
                         "xla_temp_mb"},
            "suites": {"programs", "run", "compile", "slower"}}


class Log(unittest.TestCase):
    def setUp(self):
        self.records = history.read(SOURCE / "bench/log.jsonl")

    def test_records_have_known_fields(self):
        for number, record in enumerate(self.records, 1):
            with self.subTest(line=number):
                own = OF_TABLE.get(record.get("table"), set())
                self.assertEqual(set(record) - KEYS - own, set())
                self.assertTrue(record["program"])
                if own:
                    self.assertLessEqual(own - {"programs", "slower"}, set(record))
                else:
                    self.assertTrue({"after"} <= set(record) or {"least", "most"} <= set(record))
                    self.assertTrue(record["measure"] and record["unit"])
                self.assertRegex(record.get("date") or "2026-01-01", r"^\d{4}-\d\d-\d\d$")

    def test_each_record_is_a_line_of_the_history(self):
        for record in self.records:
            line = " ".join(history.shown(record))
            self.assertIn(record["program"], line)
            self.assertTrue(re.search(r"\d", line))

    def test_texts_choose_records(self):
        chosen = history.found(self.records, ["softmax", "xla"])
        self.assertTrue(chosen)
        self.assertTrue(all("softmax" in str(record).lower() for record in chosen))
        self.assertEqual(history.found(self.records, ["no program is called so"]), [])


class Page(unittest.TestCase):
    def test_page_is_what_the_script_writes(self):
        records = history.read(SOURCE / "bench/log.jsonl")
        for path, text in ((history.PAGE, history.page(records)),
                           (history.PICTURE, history.picture(records))):
            self.assertEqual(path.read_text(encoding="utf-8"), text,
                             f"{path.name}: run bench/history.py --page")

    def test_page_takes_the_programs_measured_last(self):
        old = {"table": "programs", "date": "2026-01-01", "commit": "a", "machine": "m", "threads": 1,
               "program": "axpy", "run_ms": 1, "xla_run_ms": 2, "compile_ms": 1,
               "xla_compile_ms": 3, "temp_mb": 0, "xla_temp_mb": 0}
        new = {**old, "date": "2026-01-02", "xla_run_ms": 4}
        text = history.programs_chapter([old, new])
        self.assertIn("running: geometric mean 4.00 x XLA:CPU over 1 programs; 0 slower", text)
        self.assertNotIn("| 2 | 2 |", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
