"""The command line that scripts of random programs share: FOLDER [--first N] [--count N]."""

import argparse
from pathlib import Path

import jax


def text_of(function, arguments):
    """The HLO of a function before it is optimised, as text."""
    return jax.jit(function).lower(*arguments).compiler_ir("hlo").as_hlo_text(print_large_constants=True)


def write_programs(description, program, count):
    """Writes FOLDER/NAME.hlo of (name, text) = program(number), where there is a text, for `count` numbers unless told otherwise."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=count)
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    options.folder.mkdir(parents=True, exist_ok=True)
    for number in range(options.first, options.first + options.count):
        name, text = program(number)
        if text:
            (options.folder / f"{name}.hlo").write_text(text)
