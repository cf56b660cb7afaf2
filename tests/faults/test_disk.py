# slow: 10 s
"""A disk that is full, or fails, at every call; and files that may not become larger."""
import os
import resource
import stat
import subprocess

import pytest
from faulty import (CANNOT_CREATE, EVERY, FAILING, FULL, OUTPUT, answered, calls_of, digest, faults, heed, some, train)
from heed_program import PROGRAM


@pytest.mark.parametrize("error", [FULL, FAILING])
def test_one_call_fails(recipe, whole, tmp_path, error):
    calls = calls_of(recipe, tmp_path)
    for at in some(range(1, calls + 1), 8):
        out = tmp_path / f"out-{at}"
        done = answered(train(recipe, out, **faults(out, at, error)), 0, CANNOT_CREATE)
        if done.returncode == 0:
            assert digest(out)[0] == digest(whole)[0], at
        answered(train(recipe, out, "--resume"), 0)
        assert digest(out)[0] == digest(whole)[0], at


def test_a_disk_that_stays_full(recipe, whole, tmp_path):
    calls = calls_of(recipe, tmp_path)
    for at in some(range(1, calls + 1), 8):
        out = tmp_path / f"out-{at}"
        answered(train(recipe, out, **faults(out, at, FULL, stays=True)), 0, CANNOT_CREATE)
        answered(train(recipe, out, "--resume"), 0)  # somebody made room
        assert digest(out)[0] == digest(whole)[0], at


def test_the_disk_of_standard_output_is_full(recipe, whole, tmp_path):
    """The training goes on and is saved; the code says that something was not told."""
    out = tmp_path / "out"
    with open("/dev/full", "wb") as full:
        done = subprocess.run([PROGRAM, "train", recipe, "--output", out, "--threads", "1"], stdout=full,
                              stderr=subprocess.PIPE, check=False, timeout=600)
    assert done.returncode == OUTPUT, done.stderr
    assert done.stderr.count(b"standard output could not be written") == 2  # when it began, and at the end
    assert b"the training continues" in done.stderr
    assert digest(out) == digest(whole)


def test_a_limit_of_the_size_of_files(recipe, tmp_path):
    """SIGXFSZ (ulimit -f) does not kill: the checkpoint cannot be written, and that is what is said."""
    out = tmp_path / "out"
    done = subprocess.run([PROGRAM, "train", recipe, "--output", out, "--threads", "1"], capture_output=True,
                          check=False, timeout=600,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)))
    assert done.returncode == CANNOT_CREATE, done
    assert b"ulimit -f" in done.stderr
    assert not any(name.startswith("step-") for name in os.listdir(out))


@pytest.mark.parametrize("verb", [("info",), ("evaluate", "--valid"), ("mechanisms",)])
def test_what_prints_says_that_it_could_not(whole, verb):
    with open("/dev/full", "wb") as full:
        arguments = [verb[0], *([whole] if verb[0] != "mechanisms" else []), *verb[1:]]
        done = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, check=False, timeout=600)
    assert done.returncode == OUTPUT and b"standard output could not be written" in done.stderr


# --------------------------------------------------------------------------------------------- evaluate --save

def full_device(folder):
    """One of the test's own where this user may make it: a fault would replace that of the system."""
    if os.geteuid() != 0:
        return "/dev/full"  # which this user cannot replace
    path = folder / "full"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        return None
    return path


def test_save_writes_through_what_is_no_file(whole, tmp_path):
    if full := full_device(tmp_path):
        done = answered(heed("evaluate", whole, "--valid", "--save", full), CANNOT_CREATE)
        assert b"full': No space left on device" in done.stderr
        assert stat.S_ISCHR(os.stat(full).st_mode)
    answered(heed("evaluate", whole, "--valid", "--save", tmp_path / "plain"), 0)
    outputs = (tmp_path / "plain").read_bytes()
    assert outputs.count(b"\n") >= 3
    os.symlink("target", tmp_path / "link")
    answered(heed("evaluate", whole, "--valid", "--save", tmp_path / "link"), 0)
    assert os.path.islink(tmp_path / "link") and (tmp_path / "target").read_bytes() == outputs
    os.symlink("/proc/self/fd/1", tmp_path / "stdout")  # as /dev/stdout is
    said = answered(heed("evaluate", whole, "--valid", "--save", tmp_path / "stdout"), 0).stdout
    assert said.startswith(outputs) and b"BLEU" in said[len(outputs):]
    with open(tmp_path / "both", "wb") as both:
        subprocess.run([PROGRAM, "evaluate", whole, "--valid", "--save", tmp_path / "stdout"], stdout=both, check=True)
    assert (tmp_path / "both").read_bytes() == said
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE) as cat:
        answered(heed("evaluate", whole, "--valid", "--save", tmp_path / "pipe"), 0)
        assert cat.communicate()[0] == outputs
    answered(heed("evaluate", whole, "--valid", "--save", tmp_path), CANNOT_CREATE)


# ----------------------------------------------------------------------------------------------- names of folders

def test_a_folder_whose_name_is_not_utf8(recipe, whole, tmp_path):
    out = os.fsencode(tmp_path) + b"/caf\xe9"
    answered(train(recipe, out, "--show"), 0)
    done = answered(train(recipe, out), 0)
    assert done.stderr == b""
    last = out + b"/step-000012/weights.safetensors"
    with open(last, "rb") as mine, open(whole / "step-000012" / "weights.safetensors", "rb") as other:
        assert mine.read() == other.read()
    answered(heed("train", "--resume", "--output", out), 0)
    assert answered(heed("predict", out, given=b"abc\n"), 0).stdout.count(b"\n") == 1
    answered(heed("info", out, "--json"), 0)


# ----------------------------------------------------------------------------------------------------- heed demo

def demo(folder, *arguments):
    return heed("demo", "--folder", folder, "--steps", "2", "--threads", "1", *arguments)


def test_the_demo_removes_only_what_it_made(recipe, tmp_path):
    mine = tmp_path / "mine"
    answered(train(recipe, mine, "--set", "stop.steps=2"), 0)
    (mine / "thesis.txt").write_text("years of work")
    there = sorted(os.listdir(mine))
    for arguments in ((), ("--retrain",)):
        done = answered(demo(mine, *arguments), CANNOT_CREATE)
        assert b"is not the demo's" in done.stderr
        assert sorted(os.listdir(mine)) == there

    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("years of work")
    for _ in range(2):
        assert b"trained earlier" not in answered(demo(other, "--retrain"), 0).stdout
    if EVERY:
        assert b"trained earlier" in answered(demo(other), 0).stdout
    assert (other / "thesis.txt").read_text() == "years of work"
    with open(other / "step-000002" / "config.toml", "a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert b"config.toml has" in answered(demo(other, "--retrain"), CANNOT_CREATE).stderr
