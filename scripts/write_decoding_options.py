#!/usr/bin/env python3
"""Writes what follows from the list of the options of decoding (heed/task/decoding_table.h), with the built Python module:
python/heed/_decoding_options.py, the keywords with their types, and the table in docs/decoding.md.

usage: PYTHONPATH=build/python write_decoding_options.py SOURCE_DIRECTORY [--check]

With --check nothing is written; it fails if a file is not as it would write it.
"""
import pathlib
import re
import sys

import heed._decoding

TYPES = {bool: "bool", int: "int", float: "float", str: "str"}
BY_LINE = {"must": "Union[str, Sequence[str], Sequence[Sequence[str]]]", "prefix": "Union[str, Sequence[str]]"}
BY_LINE["must_not"] = BY_LINE["must"]
MODELS = {1: "step by step", 2: "all positions at once", 3: "all that write", 15: "all"}


def keyword(option, name):
    kind = BY_LINE.get(option["name"]) or TYPES[type(option["default"])]
    return f"    {name}: Optional[{kind}]" if option["none_is_default"] or option["name"] == "mbr" else f"    {name}: {kind}"


def typed_dict():
    lines = ['"""The keywords of predict(), for type checkers. Written by `make docs` from heed/task/decoding_table.h."""', "",
             "from __future__ import annotations", "",
             "from typing import TYPE_CHECKING, Optional, Sequence, TypedDict, Union", "",
             "if TYPE_CHECKING:", "    from ._trained import TrainedModel", "", "",
             "class DecodingOptions(TypedDict, total=False):"]
    for option in heed._decoding.OPTIONS:
        lines += [keyword(option, name) for name in [option["name"], *option["other_names"]]]
    return "\n".join([*lines, '    rerank_reverse: Optional["TrainedModel"]', "    first_line: int", "    alignments: bool"]) + "\n"


def number(value):
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def table():
    rows = ["| option | in C++, Python, HTTP | meaning | range | models | also called |", "|---|---|---|---|---|---|"]
    for option in heed._decoding.OPTIONS:
        reach = option["range"]
        meaning = " ".join(filter(None, [option["meaning"], option["default_text"]])).replace("|", "\\|")
        rows.append("| " + " | ".join([f"`{option['flag']}`", f"`{option['name']}`", meaning,
                                       f"{number(reach[0])} to {number(reach[1])}" if reach else "",
                                       MODELS[option["models"]],
                                       ", ".join(f"`{other}`" for other in option["other_names"])]) + " |")
    return "\n".join(rows)


def main():
    root, check = pathlib.Path(sys.argv[1]), "--check" in sys.argv
    page = root / "docs" / "decoding.md"
    before = page.read_text(encoding="utf-8")
    marked = re.compile(r"(<!-- options: make docs -->\n).*?(\n<!-- end -->)", re.S)
    assert marked.search(before), f"{page} has no place for the table"
    made = {page: marked.sub(lambda m: m[1] + table() + m[2], before),
            root / "python" / "heed" / "_decoding_options.py": typed_dict()}
    stale = [path for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if not check:
            path.write_text(made[path], encoding="utf-8")
        print(f"{path.relative_to(root)}: {'not as heed/task/decoding_table.h has it: make docs' if check else 'written'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
