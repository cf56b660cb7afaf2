"""The program heed: `python -m heed train pairs.tsv`, or `heed ...` where pip installed it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import NoReturn


def program() -> str:
    """The path of the compiled program that belongs to this module."""
    path = pathlib.Path(__file__).resolve().parent / "bin" / "heed"
    if not path.exists():
        sys.exit(
            f"heed: the program is not beside this module ({path}): it was built without it. "
            "pip install heed brings it; in a folder of the sources, make demo builds build/cli/heed."
        )
    return str(path)


def main() -> NoReturn:
    """Becomes the program, with the same arguments."""
    arguments = [program(), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(arguments[0], arguments)
    sys.exit(subprocess.call(arguments))


if __name__ == "__main__":
    main()
