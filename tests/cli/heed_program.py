"""Runs the program heed as a user does."""
import json
import os
import pathlib
import subprocess

PROGRAM = os.environ["HEED"]
SOURCE = pathlib.Path(os.environ["HEED_SOURCE"])

USAGE, DATA, NO_INPUT, CANNOT_CREATE, OUTPUT, CONFIG = 64, 65, 66, 73, 74, 78  # docs/cli.md


def heed(*arguments, **environment):
    """The finished process. Standard output is no terminal here, so the width is said."""
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, check=False,
                          env={**clean, "COLUMNS": "80", **environment})


def text(*arguments, **environment):
    """Standard output of a run that must go well."""
    done = heed(*arguments, **environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def from_json(*arguments):
    return json.loads(text(*arguments))
