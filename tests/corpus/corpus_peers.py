"""Every module of ../shared parses, verifies, prints stably and keeps its meaning when optimised;
.ci/run compares the stored values too."""

import os
import subprocess
import sys
from pathlib import Path

shared = os.environ.get("HILO_SHARED", "")
if not Path(shared, "corpus").is_dir():
    print("skipped: HILO_SHARED names no folder with a corpus")
    sys.exit(77)
script = Path(os.environ["HILO_SOURCE"], "tests/corpus/corpus.py")
sys.exit(subprocess.run([sys.executable, script, "--hilo", os.environ["HILO_COMMAND"],
                         "--shared", shared, "--what", "check,ideal"]).returncode)
