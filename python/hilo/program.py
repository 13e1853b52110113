"""A program that is looked at through the command and run through the plugin."""

import json
import os
import subprocess
import tempfile
from functools import cached_property

from hilo import command, client


class Error(ValueError):
    """What is wrong with a program or its arguments, with the place where it is known."""


def load(source):
    """The program in `source`: the path of a file, its bytes, or its text.

    HLO text, HLO protos, StableHLO text and bytecode are told apart by their content.
    Raises Error where it is none of them, with the place.
    """
    if isinstance(source, str) and ("\n" in source or "{" in source):
        source = source.encode()
    if not isinstance(source, (bytes, bytearray, memoryview)):
        with open(os.fspath(source), "rb") as file:
            source = file.read()
    program = Program(bytes(source))
    program.text  # reads it, so that errors come here
    return program


class Program:
    """A module that load() has read."""

    def __init__(self, code):
        self.code = code

    @cached_property
    def text(self):
        """The module as HLO text."""
        done = self._command("print")
        if done.returncode:
            raise Error(done.stderr.strip())
        return done.stdout

    def check(self):
        """What is wrong with the module: a list of dicts, empty where it is sound."""
        return self._json("check")["errors"]

    def explain(self, target=""):
        """Memory and cost as `hilo explain --json` has them; `target` names a chip."""
        return self._json("explain", *([f"--target={target}"] if target else []))

    def __call__(self, *arguments):
        """Runs the program on arrays: one result, or a list of them.

        Raises Error where an argument is not what its parameter takes.
        """
        try:
            results = self._executable(arguments)
        except client.PjrtError as error:
            raise Error(str(error)) from None
        return results[0] if len(results) == 1 else results

    @cached_property
    def _executable(self):
        with tempfile.TemporaryDirectory(prefix="hilo-") as folder:
            proto = os.path.join(folder, "program.pb")
            done = self._command("convert", "-o", proto)
            if done.returncode:
                raise Error(done.stderr.strip())
            with open(proto, "rb") as file:
                code = file.read()
        try:
            return client.shared().compile(code)
        except client.PjrtError as error:
            raise Error(str(error)) from None

    def _json(self, *words):
        done = self._command(*words, "--json")
        if not done.stdout:
            raise Error(done.stderr.strip())
        return json.loads(done.stdout)

    def _command(self, word, *options):
        with tempfile.NamedTemporaryFile(prefix="hilo-") as file:
            file.write(self.code)
            file.flush()
            return subprocess.run([command.PATH, word, file.name, *options], capture_output=True,
                                  text=True, check=False)
