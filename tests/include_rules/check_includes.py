#!/usr/bin/env python3
"""Checks that the arrows between the folders of heed/ point one way, and that no raw intrinsics are used.

usage: check_includes.py SOURCE_DIRECTORY
"""
import pathlib
import re
import sys

# The ladder, from the bottom up: a folder, and the folders that it may include. It may only name folders above its line,
# so that there is no way around. A folder inside another has a line of its own if its files may include something else
# than those beside it; to name a folder is to name all that is inside it. A folder without a line is part of the one that
# it is in; one of heed/ that is not here is an error: say first where it stands.
LADDER = """
kernels:
base:             kernels
tensor:           base kernels
layer:            tensor base kernels
attend:           layer tensor base kernels
text:             base kernels
text/metric:      text base
data:             text base
sound:            data text base kernels
model/embed:      layer tensor base kernels
model/encode:     attend layer tensor base
model/decode:     model/encode attend layer tensor data base
model:            model/decode model/encode model/embed attend layer tensor data text base kernels
model/search:     model data text tensor base kernels
task:             model sound data text attend layer tensor base kernels
checkpoint:       task model data text layer tensor base
imports:          checkpoint task model text layer tensor base kernels
predict:          checkpoint task model text tensor base
view:             predict checkpoint task model sound data text attend tensor base
train/optimise:   layer tensor base kernels
train/objective:  task model data text attend tensor base kernels
train/recipe:     train/objective train/optimise checkpoint task model data text tensor base
train:            predict train/recipe train/objective train/optimise checkpoint task model data text attend layer tensor base kernels
compare:          train view checkpoint task model data text attend tensor base kernels
serve:            view predict checkpoint task data text tensor base kernels
distill:          train/recipe predict checkpoint task data text layer tensor base
"""

# What runs a model must do without what trains it, also by way of others.
TRAINING = "train"
RUNS_A_MODEL = ("checkpoint", "predict", "view", "serve")

# What is not yet as it should be: a file, and what it includes against the rules. A line that is not needed any more is an
# error too.
EXCEPTIONS: dict[str, set[str]] = {}

# Highway is the only way to SIMD, so that every CPU it knows is served by the same source.
RAW_INTRINSICS = re.compile(r"^(\w*intrin|arm_(neon|sve|acle)|cpuid|altivec|wasm_simd128|riscv_vector)\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def read_ladder(text: str) -> dict[str, set[str]]:
    """The folders that each may include."""
    rows = {}
    for line in text.split("\n"):
        if line:
            folder, _, others = line.partition(":")
            unknown = [other for other in others.split() if other not in rows]
            if unknown:
                sys.exit(f"{folder}: the ladder has no {' '.join(unknown)} above it")
            rows[folder] = set(others.split())
    return rows


def row_of(path: str, rows: dict[str, set[str]]) -> str | None:
    """The row of the ladder that a file of heed/ belongs to: model/search/beam.cc is in model/search, text/x/y.cc in text."""
    folders = path.split("/")[:-1]
    while folders and "/".join(folders) not in rows:
        folders.pop()
    return "/".join(folders) or None


def may_include(row: str, other: str, rows: dict[str, set[str]]) -> bool:
    return other == row or any(other == allowed or other.startswith(allowed + "/") for allowed in rows[row])


def below(row: str, rows: dict[str, set[str]]) -> set[str]:
    """What a row may include, also by way of others."""
    reached: set[str] = set()
    left = [row]
    while left:
        row = left.pop()
        for other in rows:
            if other != row and other not in reached and may_include(row, other, rows):
                reached.add(other)
                left.append(other)
    return reached


def complaints(root: pathlib.Path):
    rows = read_ladder(LADDER)
    for row in RUNS_A_MODEL:
        if any(other.split("/")[0] == TRAINING for other in below(row, rows)):
            yield f"{row} stands on {TRAINING}: a model must run without what trained it"
    needed = set()
    for path in sorted((root / "heed").rglob("*")):
        if path.suffix not in {".h", ".cc", ".cpp", ".hpp", ".inc"}:
            continue
        where = path.relative_to(root)
        row = row_of("/".join(where.parts[1:]), rows)
        if row is None and len(where.parts) > 2:
            yield f"{where}: the folder '{where.parts[1]}' is not in tests/include_rules/check_includes.py"
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            name = match[1]
            if RAW_INTRINSICS.match(pathlib.PurePosixPath(name).name):
                yield f"{where}:{number}: includes {name}; SIMD goes through Highway"
            if name.startswith("."):
                yield f"{where}:{number}: includes {name}; write the path from the root, heed/..."
            if name.startswith("heed/"):
                other = row_of(name.removeprefix("heed/"), rows)
                if row is not None and other is not None and not may_include(row, other, rows):
                    if name in EXCEPTIONS.get(str(where), ()):
                        needed.add((str(where), name))
                    else:
                        yield f"{where}:{number}: heed/{row} may not include {name}"
                if not (root / name).exists():
                    yield f"{where}:{number}: {name} does not exist"
    for where, names in EXCEPTIONS.items():
        for name in sorted(names):
            if (where, name) not in needed:
                yield f"tests/include_rules/check_includes.py: {where} no longer needs its exception for {name}"


def main() -> int:
    found = list(complaints(pathlib.Path(sys.argv[1])))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
