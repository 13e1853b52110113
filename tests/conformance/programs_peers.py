"""A few of the random programs compared with jaxlib; .ci/run does more."""

import os
import subprocess
import sys
from pathlib import Path

script = Path(os.environ["HILO_SOURCE"], "tests/conformance/programs_conformance.py")
sys.exit(subprocess.run([sys.executable, script, "--hilo", os.environ["HILO_COMMAND"], "--programs", "40"]).returncode)
