"""What the command writes of a module's way to machine code."""
import glob
import os
import subprocess
import tempfile

HILO = os.environ.get("HILO_COMMAND", "build/hilo")


def dumped(text, stage, *command, **environment):
    """Of `hilo COMMAND` on a module in text form: the files whose names end so, in the order of their names."""
    with tempfile.TemporaryDirectory() as folder:
        path, dump = os.path.join(folder, "m.hlo"), os.path.join(folder, "dump")
        with open(path, "w") as file:
            file.write(text)
        result = ["-o", os.path.join(folder, "m.o")] if command[0] == "compile" else []
        subprocess.run([HILO, *command, path, *result, f"--dump-to={dump}"], check=True, capture_output=True,
                       env=os.environ | environment)
        out = []
        for name in sorted(glob.glob(os.path.join(dump, f"*{stage}"))):
            with open(name) as file:
                out.append(file.read())
        return out
