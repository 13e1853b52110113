"""A short draw of the conformance run against jaxlib; .ci/run does the whole of it."""

import os
import subprocess
import sys
from pathlib import Path

script = Path(os.environ["HILO_SOURCE"], "tests/conformance/ops_conformance.py")
sys.exit(subprocess.run([sys.executable, script, "--hilo", os.environ["HILO_COMMAND"],
                         "--cases", "400", "--seed", "1"]).returncode)
