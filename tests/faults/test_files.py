# slow: 10 s
"""Files that are broken, or that somebody changed together with the manifest: refused in time, memory and words."""
import json
import os
import resource
import struct

import pytest
from faulty import DATA, answered, copied, digest, heed, some, tampered, train

PARTS = ["MANIFEST.json", "config.toml", "model.toml", "state.json", "source.vocab", "target.vocab", "weights.safetensors",
         "optimiser.safetensors"]
MEMORY = 2 << 30  # bytes of address space: enough for any small model


def seconds_used():
    """By all programs that were started and have ended: the machine may be busy, and clocks go on."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def breakages(text):
    """Ways in which a file is no longer what it was."""
    middle = len(text) // 2
    return {
        "empty": b"", "cut": text[:middle], "cut at the end": text[:-3], "longer": text + b"\0",
        "zeros": bytes(len(text)), "a bit": text[:middle] + bytes([text[middle] ^ 1]) + text[middle + 1:],
        "noise": os.urandom(len(text)), "brackets": b"[" * 120_000 + b"]" * 120_000,
        "a zero": text[:middle] + b"\0" + text[middle + 1:],
    }


@pytest.mark.parametrize("part", PARTS)
def test_a_broken_part(recipe, whole, tmp_path, part):
    """predict and info refuse it, and --resume takes the checkpoint before it or says that there is none."""
    text = (whole / "step-000012" / part).read_bytes()
    for name, broken in some(breakages(text).items(), 3):
        out = copied(whole, tmp_path / name)
        (out / "step-000012" / part).write_bytes(broken)
        arguments = ("predict", out, "--checkpoint", "last")
        # To run a model the state of the optimiser is only measured.
        fine = (0, DATA) if part == "optimiser.safetensors" and len(broken) == len(text) else (DATA,)
        answered(heed(*arguments, given=b"abc\n", limit=MEMORY), *fine)
        answered(train(recipe, out, "--resume", limit=MEMORY), 0, DATA)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_is_no_file(whole, tmp_path, part):
    for kind in ("gone", "a folder", "a pipe", "a link to itself"):
        out = copied(whole, tmp_path / kind)
        path = out / "step-000012" / part
        path.unlink()
        if kind == "a folder":
            path.mkdir()
        elif kind == "a pipe":
            os.mkfifo(path)
        elif kind == "a link to itself":
            path.symlink_to(path)
        # To run a model, the optimiser's state need not be there.
        fine = 0 if part == "optimiser.safetensors" and kind in ("gone", "a link to itself") else DATA
        answered(heed("predict", out, "--checkpoint", "last", given=b"abc\n"), fine)


# ---------------------------------------------------------------------------------- changed together with the manifest

def state_with(name, value):
    def change(text):
        state = json.loads(text)
        state[name] = value
        return json.dumps(state).encode()
    return change


@pytest.mark.parametrize("name, values", [
    ("step", [-1, 10, 13, 2**62]), ("epoch", [-1, 1000, 2**62]), ("batch", [-1, 1000, 1_000_000_000, 2**63, 0.5, "1"]),
    ("skipped", [-1, 10, 2**62]), ("waited", [-1, 2**62]), ("validated", [-2, 2**62]), ("best_step", [-1, 2**62]),
    ("seconds", [-1.0, 1e300]), ("data", ["", 3]),
])
def test_a_state_that_cannot_be(recipe, whole, tmp_path, name, values):
    for value in some(values, 2):
        out = copied(whole, tmp_path / f"out-{value}")
        tampered(out / "step-000012", "state.json", state_with(name, value))
        done = answered(train(recipe, out, "--resume", "--set", "stop.steps=16", limit=MEMORY), DATA)
        assert b"state" in done.stderr or b"data" in done.stderr, done.stderr
        answered(heed("info", out, "--checkpoint", "last"), 0, DATA)


@pytest.mark.parametrize("key, value", [("width", 6000), ("width", 65536), ("encoder_layers", 1000)])
def test_a_model_that_its_weights_do_not_have(whole, tmp_path, key, value):
    """Shapes are compared before memory is taken."""
    out = copied(whole, tmp_path / "out")
    for name in [name for name in os.listdir(out) if name.startswith("step-")]:
        for part in ("config.toml", "model.toml"):
            tampered(out / name, part, lambda text: b"".join(
                f"{key} = {value}\n".encode() if line.startswith(f"{key} = ".encode()) else line
                for line in text.splitlines(True)))
    for arguments in (("predict", out), ("info", out), ("train", "--resume", "--output", out)):
        begin = seconds_used()
        # A training may also say first that there is no room for such a model.
        done = answered(heed(*arguments, given=b"abc\n", limit=MEMORY), *(DATA, 71)[:1 + (arguments[0] == "train")])
        assert b"does not fit the model" in done.stderr or done.returncode == 71, done.stderr
        assert seconds_used() - begin < 20


def test_a_manifest_without_end(whole, tmp_path):
    out = copied(whole, tmp_path / "out")
    manifest = out / "step-000012" / "MANIFEST.json"
    many = json.loads(manifest.read_text())
    many["parts"] = [{**many["parts"][0], "name": f"part{i}"} for i in range(100_000)]
    many = json.dumps(many)
    deep = 120_000
    for broken in ("[" * deep + "]" * deep, "{\"parts\":" * deep + "1" + "}" * deep, "[" * deep, many, many.replace(
            "[", "[" * deep).replace("]", "]" * deep)):
        manifest.write_text(broken)
        begin = seconds_used()
        answered(heed("predict", out, "--checkpoint", "last", given=b"abc\n", limit=MEMORY), DATA)
        assert seconds_used() - begin < 5


def header_of(text):
    return json.loads(text[8:8 + struct.unpack("<Q", text[:8])[0]])


def with_header(change):
    """The same numbers below another header."""
    def changed(text):
        header = header_of(text)
        data = text[8 + struct.unpack("<Q", text[:8])[0]:]
        change(header)
        said = json.dumps(header).encode()
        return struct.pack("<Q", len(said)) + said + data
    return changed


def first(header):
    return sorted(name for name in header if name != "__metadata__")[0]


@pytest.mark.parametrize("change", [
    lambda h: h[first(h)].update(shape=[2**40, 2**40]), lambda h: h[first(h)].update(shape=[-1]),
    lambda h: h[first(h)].update(data_offsets=[0, 2**62]), lambda h: h[first(h)].update(dtype="F64"),
    lambda h: h.update(other=h.pop(first(h))), lambda h: h.update({f"w{i}": h[first(h)] for i in range(1000)}),
])
def test_weights_that_cannot_be(recipe, whole, tmp_path, change):
    for part in ("weights.safetensors", "optimiser.safetensors"):
        out = copied(whole, tmp_path / part)
        tampered(out / "step-000012", part, with_header(change))
        if part == "weights.safetensors":
            answered(heed("predict", out, "--checkpoint", "last", given=b"abc\n", limit=MEMORY), DATA)
        done = answered(train(recipe, out, "--resume", limit=MEMORY), DATA)
        assert len(done.stderr) < 5000


def test_best_txt(recipe, whole, tmp_path):
    for i, text in enumerate([b"", b"nothing", b"../step-000012", b"step-999999", os.urandom(100), b"x" * 10_000_000]):
        out = copied(whole, tmp_path / str(i))
        (out / "best.txt").write_bytes(text)
        answered(heed("predict", out, given=b"abc\n", limit=MEMORY), DATA)
        answered(heed("predict", out, "--checkpoint", "last", given=b"abc\n", limit=MEMORY), 0)
        answered(train(recipe, out, "--resume"), 0)
        assert digest(out) == digest(whole)  # it is marked anew
