"""Runs the program heed as a user does."""
import json
import os
import pathlib
import pty
import struct
import subprocess

PROGRAM = os.environ["HEED"]
SOURCE = pathlib.Path(os.environ["HEED_SOURCE"])

USAGE, DATA, NO_INPUT, MEMORY, CANNOT_CREATE, OUTPUT, CONFIG = 64, 65, 66, 71, 73, 74, 78  # docs/cli.md


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


def run(*arguments, given=b"", **environment):
    """The finished process with bytes as its standard input and output."""
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
    return subprocess.run([PROGRAM, *map(str, arguments)], input=given, capture_output=True, timeout=120, check=False,
                          env={**clean, "COLUMNS": "80", **environment})


def answers(*arguments, given):
    """The lines of the output of a run that must go well, of which nothing is said."""
    done = run(*arguments, given=given.encode())
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    assert done.stdout == b"" or done.stdout.endswith(b"\n")
    return done.stdout.decode().splitlines()


SMALL = {
    "data": {"task": "reverse", "examples": 400, "valid_examples": 20},
    "model": {"width": 16},
    "attention": {"score": "additive"},
    "train": {"batch_tokens": 256, "learning_rate": 0.01, "schedule": "inverse_sqrt", "warmup": 5},
    "stop": {"steps": 60},
    "validate": {"every": 20, "metric": "loss", "decode": 5, "longest": 25},
}


def small_recipe(**sections):
    """A training that takes a second, as TOML, with other values or more keys in some sections."""
    lines = []
    for name in {**SMALL, **sections}:
        lines.append(f"[{name}]")
        values = {**SMALL.get(name, {}), **sections.get(name, {})}
        lines += [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    return "\n".join(lines) + "\n"


def train_small(folder, *settings):
    """A model that knows little, in a second: what it says is its own, and always the same."""
    recipe = folder.parent / f"{folder.name}.toml"
    recipe.write_text(small_recipe())
    done = heed("train", str(recipe), "--output", str(folder), "--threads", "1",
                *[word for setting in settings for word in ("--set", setting)])
    assert done.returncode == 0, done.stderr
    return folder


def weights(folder):
    """name -> numbers, of a file in the safetensors format."""
    data = (folder / "weights.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    tensors = {}
    for name, tensor in header.items():
        if name != "__metadata__":
            begin, end = (8 + size + offset for offset in tensor["data_offsets"])
            tensors[name] = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    return tensors


def on_terminal(*arguments, **environment):
    """What a run that must go well writes to a terminal."""
    master, slave = pty.openpty()
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
    with subprocess.Popen([PROGRAM, *arguments], stdout=slave, env={**clean, "TERM": "xterm", **environment}) as process:
        os.close(slave)
        said = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # how Linux says that the other end was closed
                break
            if not part:
                break
            said += part
    os.close(master)
    assert process.returncode == 0
    return said.decode()
