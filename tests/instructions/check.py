#!/usr/bin/env python3
"""The same bits on every machine: looks for what another machine may compute otherwise, in what was built.

usage: check.py OBJDUMP NM OBJECTS

OBJECTS is a file with the name of an object file of the library on each line. Two things are not allowed in them:

- instructions whose result the maker of the CPU may choose: approximate reciprocals and square roots, and the
  transcendental functions of the x87;
- calls to functions of libm that are not exact. glibc chooses between several versions of them by the CPU, and they
  change from one release to the next. heed/kernels/exact_math.h has what can be used instead.
"""
import collections
import posixpath
import re
import subprocess
import sys

INSTRUCTIONS = re.compile(
    r"v?(rcp|rsqrt)(ps|ss|ph|sh|14\w+|28\w+)|vexp2p[sd]|f(sin|cos|sincos|ptan|patan|2xm1|yl2x|yl2xp1)|"
    r"f(recpe|rsqrte|recpx)")  # the last ones: AArch64

# Exact, or no arithmetic at all: fma, sqrt, floor, ceil, round, trunc, rint, fmod, frexp, ldexp, nextafter, fmin, ...
FUNCTIONS = re.compile(
    r"(exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|sin|cos|sincos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|"
    r"atanh|erf|erfc|cbrt|hypot|tgamma|lgamma|j0|j1|y0|y1)[fl]?")

# Calls that change no number of a training or of an output. A line that is not needed any more is an error too.
ALLOWED = {
    "text/metric/bleu.cc": {"exp", "log"},  # sacreBLEU's digits, from Python's math.exp and math.log
    "text/metric/perplexity.cc": {"exp"},  # shown
    "train/evaluate.cc": {"exp"},  # the perplexity that is shown
    "train/training_run.cc": {"exp"},  # how fast a training runs
}


def source_of(path):
    """heed/CMakeFiles/heed.dir/train/adam.cc.o -> train/adam.cc; of the kernels: kernels/merge.cc"""
    match = re.search(r"/(heed|heed-kernels)\.dir/(.*)\.o(bj)?$", path)
    if not match:
        return path
    return ("kernels/" if match[1] == "heed-kernels" else "") + posixpath.normpath(match[2])


def in_pieces(items, size=64):
    return (items[i : i + size] for i in range(0, len(items), size))


def instruction_complaints(objdump, objects):
    found = collections.Counter()
    for piece in in_pieces(objects):
        command = [objdump, "-d", "-C", "--no-show-raw-insn", *piece]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
            source = symbol = "?"
            for line in process.stdout:
                if line.startswith(" "):
                    words = line.split(None, 2)
                    if len(words) > 1 and INSTRUCTIONS.fullmatch(words[1]):
                        found[source, words[1], symbol] += 1
                elif line.endswith(">:\n"):
                    symbol = line[line.index("<") + 1 : -3]
                elif ":     file format" in line:
                    source = source_of(line.split(":     file format")[0])
        if process.returncode != 0:
            sys.exit(f"check.py: {objdump} failed")
    for (source, instruction, symbol), count in sorted(found.items()):
        yield f"heed/{source}: {instruction} ({count} times) in {symbol}"


def function_complaints(nm, objects):
    used = collections.defaultdict(set)
    for piece in in_pieces(objects):
        names = subprocess.run([nm, "-A", "-u", *piece], check=True, capture_output=True, text=True).stdout
        for line in names.splitlines():
            path, _, symbol = line.rpartition(" ")
            name = symbol.split("@")[0]
            name = re.sub(r"^__(\w+)_finite$", r"\1", name)
            if FUNCTIONS.fullmatch(name):
                used[source_of(path.split(":")[0])].add(name)
    for source, names in sorted(used.items()):
        for name in sorted(names - ALLOWED.get(source, set())):
            yield f"heed/{source}: calls {name}() of libm"
    built = {source_of(path) for path in objects}
    for source, names in ALLOWED.items():
        for name in sorted(names - used[source]):
            what = "does not call" if source in built else "is gone, and does not call"
            yield f"heed/{source}: {what} {name}() any more; take it from the list in tests/instructions/check.py"


def main():
    objdump, nm, listed = sys.argv[1:]
    with open(listed) as file:
        objects = [path for path in file.read().split() if not path.endswith(".gch")]  # precompiled headers
    complaints = [*instruction_complaints(objdump, objects), *function_complaints(nm, objects)]
    for complaint in complaints:
        print(complaint)
    print(f"{len(objects)} object files, {len(complaints)} complaints")
    if complaints:
        print("Another CPU or another version of a library may compute other bits there (docs/numerics.md, Determinism).")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
