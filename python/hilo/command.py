"""The command `hilo` of this package."""

import os
import sys
from pathlib import Path

PATH = Path(os.environ.get("HILO_COMMAND") or Path(__file__).parent / "lib" / "hilo")


def main():
    """Becomes the command."""
    os.execv(PATH, ["hilo", *sys.argv[1:]])
