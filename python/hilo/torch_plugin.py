"""What PyTorch/XLA asks when it is imported: entry point `HILO` of the group `torch_xla.plugins`.

PJRT_DEVICE=HILO chooses it. The plugin itself reads HILO_DEVICES, HILO_THREADS, HILO_CACHE and
HILO_CACHE_SIZE of the environment.
"""

import os

from torch_xla.experimental.plugins import DevicePlugin

from hilo.client import PLUGIN, open_plugin


def processes():
    """How many processes torchrun has started; one where it has not."""
    return int(os.environ.get("WORLD_SIZE", "1"))


class HiloPlugin(DevicePlugin):
    """This machine, as HILO_DEVICES devices in each process."""

    def __init__(self):
        super().__init__()
        self.options = {}

    def library_path(self):
        open_plugin()
        return str(PLUGIN)

    def client_create_options(self):
        if processes() == 1:
            return self.options
        return {**self.options, "num_nodes": processes(), "node_id": int(os.environ["RANK"])}

    def configure_single_process(self):
        self.options["devices"] = 1

    def requires_xla_coordinator(self):
        return processes() > 1
