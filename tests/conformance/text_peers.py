"""HLO text against XLA's own parser and printer (jaxlib): for each module,
  1. jaxlib reads what Hilo prints;
  2. jaxlib's print of that equals jaxlib's print of the original;
  3. Hilo's print of its own print has the same bytes.
Modules: those named on the command line, else the generated ones of odd_modules.py and those of
$HILO_SHARED. $HILO_COMMAND is the command. Exit status: 0, 1 (something differs), 77 (cannot run).
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
# What jaxlib 0.10.2 does not know is taken out of the text before it reads it.
UNKNOWN_TO_JAXLIB = [
    (re.compile(r"(= [^\n]* topk\([^\n]*?), is_stable=(?:true|false)"), r"\1"),
    (re.compile(r"(= [^\n]* compare\([^\n]*?), order=TOTAL"), r"\1"),
]
HEADER = re.compile(r"^\s*(?://[^\n]*\n\s*)*HloModule")


class JaxlibRefuses(Exception):
    pass


def jaxlib_print(text):
    from jaxlib import _hlo

    for pattern, replacement in UNKNOWN_TO_JAXLIB:
        text = pattern.sub(replacement, text)
    options = _hlo.HloPrintOptions()
    # jaxlib makes up the values of elided constants, other ones each time.
    options.print_large_constants = "{...}" not in text
    try:
        return _hlo.hlo_module_from_text(text).to_string(options)
    except Exception as error:  # jaxlib's own error types are not public
        raise JaxlibRefuses(" | ".join(str(error).split("\n")[1:3])) from None


def hilo_print(command, text):
    with tempfile.NamedTemporaryFile("w", suffix=".hlo") as file:
        file.write(text)
        file.flush()
        run = subprocess.run([command, "print", file.name], capture_output=True, timeout=120)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.decode(errors="replace").strip()[:400] or "no message")
    return run.stdout.decode()


def stable_print(text):
    """jaxlib's print, printed again until it stays: some prints reorder computations or frames."""
    last = jaxlib_print(text)
    for _ in range(4):
        again = jaxlib_print(last)
        if again == last:
            break
        last = again
    return last


def first_difference(a, b):
    for x, y in zip(a.split("\n"), b.split("\n")):
        if x != y:
            start = next((i for i, (c, d) in enumerate(zip(x, y)) if c != d), min(len(x), len(y)))
            start = max(0, start - 60)
            return f"\n    original {x[start:start + 160]}\n    Hilo's   {y[start:start + 160]}"
    return " the number of lines"


def comparable(text):
    """Without what jaxlib's print does not keep in one order: frame tables and whole blocks."""
    text = re.sub(r" ?stack_frame_id=\d+", "", text).replace(", metadata={}", "")
    header, _, body = text.partition("\n\n")
    blocks = [block for block in body.split("\n\n") if "{\n" in block]
    return header + "\n" + "\n".join(sorted(block.strip() for block in blocks))


def check(command, text):
    """What is wrong, or None."""
    try:
        printed = hilo_print(command, text)
    except RuntimeError as error:
        return f"hilo print: {error}"
    if hilo_print(command, printed) != printed:
        return "3: Hilo prints its own print differently"
    try:
        wanted = jaxlib_print(text)
    except JaxlibRefuses as error:
        print(f"  jaxlib cannot read the original: {error}")
        return None
    try:
        got = jaxlib_print(printed)
    except JaxlibRefuses as error:
        return f"1: jaxlib cannot read Hilo's print: {error}"
    if got == wanted or comparable(got) == comparable(wanted):
        return None
    if comparable(stable_print(wanted)) == comparable(stable_print(got)):
        return None
    return "2:" + first_difference(comparable(wanted), comparable(got))


def shared_modules():
    root = pathlib.Path(os.environ.get("HILO_SHARED") or "/nowhere")
    for path in sorted([*root.glob("corpus/**/*.hlo"), *root.glob("seeds/*.txt")]):
        text = path.read_text()
        if HEADER.match(text):
            yield str(path.relative_to(root)), text


def modules(arguments):
    if arguments:
        return [(path, pathlib.Path(path).read_text()) for path in arguments]
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    import odd_modules

    return [*odd_modules.modules(), *odd_modules.jax_modules(), *shared_modules()]


def main(arguments):
    command = os.environ.get("HILO_COMMAND", "build/release/hilo")
    try:
        import jaxlib._hlo  # noqa: F401

        hilo_print(command, "HloModule m\nENTRY e { ROOT %p = f32[] parameter(0) }\n")
    except (ImportError, OSError, RuntimeError) as error:
        print(f"cannot run here: {error}")
        return SKIPPED
    wrong = 0
    count = 0
    for name, text in modules(arguments):
        count += 1
        problem = check(command, text)
        if problem:
            wrong += 1
            print(f"{name}: {problem}")
    print(f"{count} modules, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
