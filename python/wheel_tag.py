"""The wheel's tag: any Python 3 on this processor. auditwheel says later on which Linux."""

import platform

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelTag(BuildHookInterface):
    """A wheel with binaries that no Python's interface binds."""

    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-linux_{platform.machine()}"
