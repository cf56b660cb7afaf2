#!/usr/bin/env python3
"""Writes every complete program of the documents into a file of its own, so that the build compiles and runs it.

A complete program is a fenced block that begins with ```cpp and contains `int main(`. Prints one path per line.

usage: extract.py OUTPUT_DIRECTORY DOCUMENT.md...
"""
import pathlib
import re
import sys

BLOCK = re.compile(r"^```cpp[^\n]*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)


def main() -> int:
    output = pathlib.Path(sys.argv[1])
    output.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:]:
        document = pathlib.Path(name)
        text = document.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            if "int main(" not in block[1]:
                continue
            # The line in the document: compiler messages then point there, not at the copy.
            line = text.count("\n", 0, block.start(1)) + 1
            path = output / f"{document.stem.lower()}_{line}.cc"
            program = f'#line {line} "{document}"\n{block[1]}'
            if not path.exists() or path.read_text(encoding="utf-8") != program:
                path.write_text(program, encoding="utf-8")
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
