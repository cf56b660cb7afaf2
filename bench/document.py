"""Where a table of the benchmarks stands in a document: between two marks, of which the first names the table."""

import pathlib
import sys

END = "<!-- end -->"


def write(document, name, text):
    """Puts the text between the marks of that table."""
    path, begin = pathlib.Path(document), f"<!-- table of {name}: begin -->"
    old = path.read_text(encoding="utf-8")
    if begin not in old or END not in old.partition(begin)[2]:
        sys.exit(f"{document}: the marks of the table are missing: {begin} and {END}")
    before, _, rest = old.partition(begin)
    path.write_text(f"{before}{begin}\n\n{text}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
