"""A share of the modules of special values on both devices and by jaxlib; .ci/run does more."""

import os
import subprocess
import sys
from pathlib import Path

script = Path(os.environ["HILO_SOURCE"], "tests/conformance/special_values.py")
sys.exit(subprocess.run([sys.executable, script, "--hilo", os.environ["HILO_COMMAND"], "--share", "60"]).returncode)
