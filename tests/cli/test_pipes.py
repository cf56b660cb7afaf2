# slow: 5 s
"""Pipes and devices in place of files: read as they come, or refused at once with the reason; never waited for."""
import os
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import threading
import time
import zlib

import pytest
from heed_program import CANNOT_CREATE, DATA, PROGRAM, small_recipe

PAIRS = "".join(f"ab{i}\tb{i}a\n" for i in range(60))


@pytest.fixture(name="pipe")
def named_pipe(tmp_path):
    path = tmp_path / "data.tsv"
    os.mkfifo(path)
    return path


def writing(path, content):
    """Somebody who writes to a pipe once it is opened; never for longer than a test."""
    def write():
        for _ in range(100):
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
                break
            except OSError:
                time.sleep(0.05)
        else:
            return
        try:
            os.set_blocking(descriptor, True)
            os.write(descriptor, content)
        except OSError:
            pass
        os.close(descriptor)
    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def heed(*arguments, given=b"", seconds=15):
    return subprocess.run([PROGRAM, *map(str, arguments)], input=given, capture_output=True, timeout=seconds,
                          check=False)


@pytest.mark.parametrize("written", [False, True])
def test_training_data(pipe, tmp_path, written):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(small_recipe(data={"task": "none", "tsv": str(pipe)}))
    if written:
        writing(pipe, PAIRS.encode())
    for arguments in (("train", recipe), ("train", pipe, pipe)):
        done = heed(*arguments, "--output", tmp_path / "out")
        assert done.returncode == DATA, done.stderr
        assert f"cannot read {pipe}: it is a pipe, and has to be read more than once".encode() in done.stderr


def test_what_is_read_once_is_read(model, tmp_path):
    for number, arguments in enumerate((("predict", model), ("score", model), ("evaluate", model))):
        pipe = tmp_path / f"{number}.tsv"
        os.mkfifo(pipe)
        plain = tmp_path / f"plain{number}.tsv"
        content = PAIRS if arguments[0] != "predict" else "ab\ncd\n"
        plain.write_text(content)
        thread = writing(pipe, content.encode())
        piped = heed(*arguments, pipe)
        thread.join()
        assert piped.returncode == 0, piped.stderr
        assert piped.stdout.replace(pipe.name.encode(), b"") == heed(*arguments, plain).stdout.replace(
            plain.name.encode(), b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_waiting(model, pipe, number):
    with subprocess.Popen([PROGRAM, "predict", model, pipe], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(number)
        assert process.wait(timeout=5) == -number


def test_the_log_of_a_training(tmp_path):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(small_recipe(stop={"steps": 2}))
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out" / "log.jsonl")
    done = heed("train", recipe, "--output", tmp_path / "out")
    assert done.returncode == 0 and b"log.jsonl' is not an ordinary file" in done.stderr, done.stderr
    assert (tmp_path / "out" / "step-000002").is_dir()


def black_picture(side):
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(bytes((1 + 3 * side) * side))) + chunk(b"IEND", b""))


def test_pictures(tmp_path):
    for i in range(20):
        (tmp_path / f"good{i}.png").write_bytes(black_picture(8))
    os.mkfifo(tmp_path / "pipe.png")
    rows = "".join(f"{name}\tred {i % 2}\n" for i in range(20) for name in (f"good{i}.png", "pipe.png", "/dev/zero"))
    (tmp_path / "pairs.tsv").write_text(rows)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(f"[data]\nfolder = '{tmp_path}'\ntsv = 'pairs.tsv'\nheld_out = 0.2\n"
                      "[model]\ntask = 'image'\nwidth = 8\n[stop]\nsteps = 1\n[validate]\nevery = 1\ndecode = 0\n")
    done = heed("train", recipe, "--output", tmp_path / "out", seconds=60)
    assert done.returncode == 0, done.stderr
    assert b"40 of 60 lines left out" in done.stderr and b"a pipe, not a picture" in done.stderr, done.stderr
    said = heed("predict", tmp_path / "out", given=f"{tmp_path}/pipe.png\n/dev/tty\n/dev/zero\n".encode())
    assert said.returncode == 0 and said.stdout == b"\n\n\n"
    assert b"pipe.png': a pipe, not a picture" in said.stderr and b"/dev/zero': a device, not a picture" in said.stderr


def test_outputs(model, tmp_path):
    """A pipe that nobody reads is given two seconds."""
    (tmp_path / "pairs.tsv").write_text(PAIRS)
    out = tmp_path / "out"
    os.mkfifo(out)
    done = heed("evaluate", model, tmp_path / "pairs.tsv", "--save", out)
    assert done.returncode == CANNOT_CREATE and b"it is a pipe, and no program reads it" in done.stderr
    with subprocess.Popen(["sh", "-c", 'cat "$1"', "sh", out], stdout=subprocess.PIPE) as reader:
        assert heed("evaluate", model, tmp_path / "pairs.tsv", "--save", out).returncode == 0
        assert reader.communicate(timeout=10)[0].count(b"\n") == 60


def test_a_file_that_may_not_be_read(model):
    """The message is about reading. Root may read everything, and therefore becomes somebody else."""
    root = os.geteuid() == 0
    folder = tempfile.mkdtemp()
    try:
        copy = os.path.join(folder, "model")
        shutil.copytree(model, copy)
        os.chmod(folder, 0o755)
        for inside, names, files in os.walk(copy):
            for name in names:
                os.chmod(os.path.join(inside, name), 0o755)
            for name in files:
                os.chmod(os.path.join(inside, name), stat.S_IRUSR if root else 0)
        done = subprocess.run([PROGRAM, "info", copy], capture_output=True, check=False, timeout=60,
                              **({"user": 65534} if root else {}))
        assert done.returncode == DATA and b"Permission denied; you may not read it" in done.stderr, done.stderr
        assert b"you may not write" not in done.stderr
    finally:
        shutil.rmtree(folder)
