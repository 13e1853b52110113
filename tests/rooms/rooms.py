"""The rule of rooms: src/ has one folder a room, and a room includes only rooms above it, of
another room only its front door `room/room.h` or a .def table."""

import re
from pathlib import Path

import source_scan

ROOMS = ("base", "shape", "ir", "text", "wire", "verify", "machine", "kernels", "device", "eval",
         "analysis", "rewrite", "pass", "plan", "emit", "target", "compile", "report", "simulate", "pjrt",
         "tools")
# Rooms that include fewer than all above them, and words that their code does without.
ONLY = {"kernels": ("base", "shape", "machine")}
WITHOUT = {"kernels": ("Literal",)}
NAMELESS = ("util", "utils", "common", "misc", "helper", "helpers", "service", "services")
OPCODE_SWITCH = re.compile(r"\bcase\s+(hilo::)?Op::\w+")


def include_error(room, name):
    """What is wrong with a file of `room` including "name", or None."""
    parts = Path(name).parts
    if ".." in parts or len(parts) < 2:
        return f'"{name}" must be written from src/, as in "{room}/…"'
    other = parts[0]
    if other not in ROOMS:
        return f'"{name}": no room is called {other}'
    if other == room:
        return None
    if ROOMS.index(other) > ROOMS.index(room):
        return f'"{name}" goes up: {room} stands above {other}'
    if other not in ONLY.get(room, ROOMS):
        return f'"{name}" is not for {room}, which includes {", ".join(ONLY[room])}'
    if name != f"{other}/{other}.h" and not name.endswith(".def"):
        return f'"{name}" is private to {other}; include "{other}/{other}.h"'
    return None


def file_errors(source, path):
    inside = path.relative_to(source / "src")
    if len(inside.parts) < 2:
        return [f"{path.relative_to(source)}: stands in no room"]
    room, errors = inside.parts[0], []
    for include in source_scan.includes(path):
        where = f"{path.relative_to(source)}:{include.line}"
        if include.system and include.name.split("/")[0] in ROOMS and "/" in include.name:
            errors.append(f"{where}: <{include.name}> is ours: write it in quotes")
        elif not include.system and (error := include_error(room, include.name)):
            errors.append(f"{where}: {error}")
    text = source_scan.blank(path.read_text(encoding="utf-8"))
    for match in OPCODE_SWITCH.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        errors.append(f"{path.relative_to(source)}:{line}: a switch over opcodes: use a .def table")
    for word in WITHOUT.get(room, ()):
        for match in re.finditer(rf"\b{word}\b", text):
            line = text.count("\n", 0, match.start()) + 1
            errors.append(f"{path.relative_to(source)}:{line}: {room} knows no {word}")
    return errors


def name_errors(source):
    errors = []
    for folder in ("src", "tests", "examples", "bench", "docs", "scripts", "python"):
        for path in [source / folder, *(source / folder).rglob("*")]:
            if path.stem.lower() in NAMELESS:
                errors.append(f"{path.relative_to(source)}: a thing without a room has no name yet")
    for path in sorted((source / "src").iterdir()):
        if path.is_dir() and path.name not in ROOMS and path.stem.lower() not in NAMELESS:
            errors.append(f"src/{path.name}: not in the list of rooms")
    return errors


def check(source):
    """Every breach of the rule below `source`, one line each."""
    errors = name_errors(source)
    for path in source_scan.sources(source / "src"):
        errors += file_errors(source, path)
    return errors
