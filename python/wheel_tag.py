"""The wheel's tag: any Python 3, and the oldest C library that its binaries run with."""

import platform
import re
import subprocess
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def oldest_c_library(folder):
    """The largest version of a symbol of glibc that a binary below `folder` asks for."""
    versions = set()
    for path in Path(folder).iterdir():
        symbols = subprocess.run(["objdump", "-T", path], capture_output=True, text=True, check=True)
        versions |= {tuple(map(int, found)) for found in re.findall(r"GLIBC_(\d+)\.(\d+)", symbols.stdout)}
    return max(versions)


class WheelTag(BuildHookInterface):
    """PEP 600: manylinux_X_Y says glibc X.Y or newer."""

    def initialize(self, version, build_data):
        major, minor = oldest_c_library(Path(self.root, "hilo", "lib"))
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-manylinux_{major}_{minor}_{platform.machine()}"
