"""The sizes to keep: medians and 90th percentiles are reported, limits are enforced."""

import re
from dataclasses import dataclass, field

import source_scan

COLUMNS = 100


@dataclass
class Size:
    what: str
    median: int
    ninety: int
    limit: int
    found: list = field(default_factory=list)  # (number, where)

    def percentile(self, share):
        numbers = sorted(number for number, _ in self.found)
        return numbers[min(len(numbers) - 1, int(share * len(numbers)))] if numbers else 0

    def breaches(self):
        return [f"{where}: {self.what} of {number}, the limit is {self.limit}"
                for number, where in self.found if number > self.limit]

    def row(self):
        largest, where = max(self.found, default=(0, ""))
        return (f"{self.what:<20} {len(self.found):>6} {self.percentile(0.5):>5} ({self.median:>3})"
                f" {self.percentile(0.9):>5} ({self.ninety:>3}) {largest:>5} ({self.limit:>3})"
                f"  {where}")

    def above_target(self):
        return self.percentile(0.5) > self.median or self.percentile(0.9) > self.ninety


def measure(source):
    """The table of sizes of src/, and the breaches below src/, tests/ and examples/."""
    files = Size("source file", 150, 350, 600)
    lengths = Size("function", 8, 35, 80)
    doors = Size("room header", 120, 200, 300)
    operations = Size("evaluator function", 8, 15, 40)
    counts = Size("includes in a file", 8, 14, 25)
    references = Size("reference file", 80, 150, 200)
    table, errors = [files, lengths, doors, operations, references, counts], []
    outside = [Size("source file", 150, 350, 600), Size("function", 8, 35, 80)]
    for path in source_scan.sources(*(source / name for name in ("src", "tests", "examples"))):
        text = path.read_text(encoding="utf-8")
        where = str(path.relative_to(source))
        lines = text.splitlines()
        raw = source_scan.raw_lines(text)
        errors += [f"{where}:{i}: {len(line)} columns, the limit is {COLUMNS}"
                   for i, line in enumerate(lines, 1) if len(line) > COLUMNS and i not in raw]
        in_source = path.is_relative_to(source / "src")
        (files if in_source else outside[0]).found.append((len(lines), where))
        if where.startswith("src/eval/reference/"):
            references.found.append((len(lines), where))
        counts.found.append((len(source_scan.includes(path)), where))
        if in_source and path.name == path.parent.name + ".h" and path.parent.parent.name == "src":
            doors.found.append((len(lines), where))
        if path.suffix == ".def":
            continue
        try:
            found = source_scan.functions(path)
        except source_scan.ScanError as error:
            errors.append(f"{where}: {error}")
            continue
        for function in found:
            entry = (function.lines, f"{where}:{function.line} {function.name}")
            (lengths if in_source else outside[1]).found.append(entry)
            is_reference = where.startswith("src/eval/reference/")
            if is_reference or (where.startswith("src/eval/") and
                                re.match(r"evaluate_[A-Z]", function.name)):
                operations.found.append(entry)
    for size in table + outside:
        errors += size.breaches()
    return table, errors


def report(table):
    print(f"{'src/, (goal)':<20} {'number':>6} {'median':>11} {'90 in 100':>11} {'largest':>11}")
    for size in table:
        print(size.row() + ("   ABOVE THE GOAL" if size.above_target() else ""))
