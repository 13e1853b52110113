"""The plugin is closed and opened again, as clients do that look for plugins."""

import _ctypes
import os
import sys
import unittest
from pathlib import Path

PLUGIN = Path(os.environ["HILO_BUILD"], "libhilo_pjrt.so")
if not PLUGIN.exists() or os.environ.get("HILO_SANITIZE"):
    sys.exit(77)


class Reopened(unittest.TestCase):
    def test_table_stays(self):
        tables = []
        for _ in range(3):
            library = _ctypes.dlopen(str(PLUGIN), os.RTLD_NOW)
            tables.append(_ctypes.dlsym(library, "GetPjrtApi"))
            _ctypes.dlclose(library)
        self.assertEqual(len(set(tables)), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
