#!/usr/bin/env python3
"""Every class of the public headers says in a line what several threads may do with one: "/// Threads: ...".

usage: check_threads.py SOURCE_DIRECTORY PUBLIC_HEADER...

Exceptions are left out: they are values. So are structs, which are plain data or say the same as the class they serve.
"""
import pathlib
import re
import sys

CLASS = re.compile(r"^class (\w+)[^;]*\{")
EXCEPTION = re.compile(r": public (std::\w+|Error)\b")


def silent_classes(text: str):
    """Names of the classes whose comment has no such line."""
    comment = ""
    for line in text.splitlines():
        found = CLASS.match(line)
        if found and not EXCEPTION.search(line) and "/// Threads: " not in comment:
            yield found[1]
        comment = comment + line + "\n" if line.startswith(("///", "template <")) else ""


def main() -> int:
    source = pathlib.Path(sys.argv[1])
    silent = []
    for header in sys.argv[2:]:
        text = (source / header).read_text(encoding="utf-8")
        silent += [f"{header}: class {name}: '/// Threads: ...' is missing above it" for name in silent_classes(text)]
    print("\n".join(silent))
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
