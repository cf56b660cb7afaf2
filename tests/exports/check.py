#!/usr/bin/env python3
"""What a shared library exports is what the public headers declare, and nothing else.

usage: check.py NM SOURCE_DIRECTORY LIBRARY... -- PUBLIC_HEADER...

Every exported name must be one of heed, and its last part a word of some public header: what only a private header
declares is none, but for the members of a class that a public header names without defining it (`class X;`), which have
the visibility of that first declaration. And a few of each layer must be there, so that a library that exports nothing does not pass.
"""
import pathlib
import re
import subprocess
import sys

# One class, one function and one constant of each kind are enough to see that a layer's headers were found; that all is
# there that programs need, tests/docs and tests/install show by linking them.
MUST_EXPORT = [
    "heed::version()",
    "heed::kernels::isa[abi:cxx11]()",
    "heed::Tape::Tape(heed::TapeOptions)",
    "heed::attend::make(heed::Scope const&, heed::attend::Options const&)",
    "heed::attend::additive_entry",
    "typeinfo for heed::Error",
    "vtable for heed::attend::Attention",
]

# What a list of entries declares by its words: X(recurrent) is recurrent_encoder.
ENTRY = re.compile(r"_(entry|encoder|decoder)$")


def exported(nm: str, library: str):
    """Demangled names of what others can link to."""
    out = subprocess.run([nm, "-D", "-C", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return [line.split(" ", 2)[2] for line in out.splitlines()]


def path_of(name: str) -> str:
    """Without arguments, template arguments and what kind of thing it is: void heed::expect<int>(bool) -> heed::expect"""
    name = re.sub(r"\[abi:\w+\]", "", name).replace("operator()", "operator")
    depth, kept = 0, ""
    for letter in name:
        depth += letter in "<("
        kept += letter if depth == 0 else ""
        depth -= letter in ">)"
    words = [word for word in kept.split(" ") if word.startswith("heed::")]
    return words[-1] if words else kept


def main() -> int:
    nm, source = sys.argv[1], pathlib.Path(sys.argv[2])
    split = sys.argv.index("--")
    libraries, headers = sys.argv[3:split], sys.argv[split + 1 :]
    words, only_named = set(), set()
    for header in headers:
        text = (source / header).read_text(encoding="utf-8")
        words |= set(re.findall(r"\w+", text))
        only_named |= set(re.findall(r"^\s*(?:class|struct) (\w+);", text, re.MULTILINE))
    found = set()
    wrong = []
    for library in libraries:
        names = exported(nm, library)
        found |= set(names)
        for name in names:
            path = path_of(name).split("::")
            last = path[-1].lstrip("~")
            if path[0] != "heed":
                wrong.append(f"{library} exports a name that is not heed's: {name}")
            elif last.startswith("operator") or ENTRY.sub("", last) in words:  # X(additive) declares one
                pass
            elif not only_named.intersection(path[:-1]):
                wrong.append(f"{library} exports what no public header declares: {name}")
    wrong += [f"not exported: {name}" for name in MUST_EXPORT if name not in found]
    print("\n".join(wrong))
    print(f"{len(found)} names are exported")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
