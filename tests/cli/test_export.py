"""heed export: a model in one file."""
import json
import os
import shutil
import struct
import subprocess

import pytest
from heed_program import CANNOT_CREATE, DATA, NO_INPUT, PROGRAM, USAGE, answers, from_json, run, text, train_small

TEXT = "abc\nhello\n\nzyx0wvu\n"


@pytest.fixture(name="exported", scope="module")
def exported_model(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("exported") / "small.heed"
    assert "in one file of" in text("export", str(model), "--output", str(path))
    return path


def metadata(path):
    data = path.read_bytes()
    return json.loads(data[8:8 + struct.unpack("<Q", data[:8])[0]])["__metadata__"]


def test_it_says_the_same_alone(model, exported, tmp_path):
    shutil.copy(exported, tmp_path / "m.heed")
    options = ["--json", "--scores", "--alignments=matrix", "--nbest", "2"]
    done = subprocess.run([PROGRAM, "predict", "m.heed", *options], input=TEXT.encode(), capture_output=True,
                          cwd=tmp_path, check=True, timeout=60)
    assert done.stderr == b"" and done.stdout.decode().splitlines() == answers("predict", model, *options, given=TEXT)
    assert os.listdir(tmp_path) == ["m.heed"]


def test_what_is_in_it(model, exported):
    said = metadata(exported)
    best = (model / "best.txt").read_text().strip()
    assert sorted(said) == ["config.toml", "format", "model.toml", "sha256", "source.vocab", "state.json",
                            "target.vocab"]
    assert said["format"] == "heed model 1"
    assert said["config.toml"] == (model / best / "config.toml").read_text()
    assert said["source.vocab"] == (model / best / "source.vocab").read_text()
    state = json.loads(said["state.json"])
    assert state["step"] == int(best[5:]) and state["best_metric"] == "loss" and "data" not in state
    assert text("export", str(exported), "--output", str(exported)) != ""  # of itself: the same once more
    assert metadata(exported) == said


def test_pieces_are_no_text(tmp_path):
    model = train_small(tmp_path / "pieces", "data.source_tokens=sentencepiece", "data.source_size=40", "stop.steps=2")
    text("export", str(model), "--output", str(tmp_path / "m.safetensors"))
    vocabulary = (model / "step-000002" / "source.vocab").read_bytes()
    assert bytes.fromhex(metadata(tmp_path / "m.safetensors")["source.vocab.hex"]) == vocabulary
    assert answers("predict", tmp_path / "m.safetensors", given=TEXT) == answers("predict", model, given=TEXT)


def test_every_verb_takes_it(model, exported, tmp_path):
    ours, theirs = (from_json("info", str(path), "--json")["model"] for path in (exported, model))
    assert ours.pop("file") == str(exported) and theirs.pop("folder").startswith(str(model))
    assert ours == theirs
    assert "best metric loss" in text("info", str(exported)).replace("\n", " ").replace("  ", "")
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("abc\tcba\nhello\tolleh\n")
    for verb in ("score", "evaluate"):
        assert run(verb, exported, pairs).stdout == run(verb, model, pairs).stdout != b""
    assert run("evaluate", exported, "--valid").stdout == run("evaluate", model, "--valid").stdout != b""
    text("average", str(exported), str(exported), "--output", str(tmp_path / "mean"))
    assert answers("predict", tmp_path / "mean", "--scores", given=TEXT) == answers(
        "predict", model, "--scores", given=TEXT)


def test_another_checkpoint(model, tmp_path):
    text("export", str(model), "--checkpoint", "step-000020", "--output", str(tmp_path / "m.heed"))
    assert from_json("info", str(tmp_path / "m.heed"), "--json")["model"]["training"]["updates"] == 20


def test_without_the_big_file(model, tmp_path):
    """All but the optimiser's state was copied: enough to run it, too little to go on."""
    copy = tmp_path / "copy"
    shutil.copytree(model, copy, ignore=shutil.ignore_patterns("optimiser.safetensors", ".lock"))
    assert answers("predict", copy, given=TEXT) == answers("predict", model, given=TEXT)
    text("info", str(copy))
    text("export", str(copy), "--output", str(tmp_path / "m.heed"))
    text("average", str(copy), "--output", str(tmp_path / "mean"))
    done = run("train", "--resume", "--output", copy, "--set", "stop.steps=70")
    assert done.returncode == DATA
    assert b"optimiser.safetensors is missing; without it the model can be run, but not trained on" in done.stderr


@pytest.mark.parametrize("change, says", [
    (lambda data: b"a\tb\nc\td\n", "is no model"),
    (lambda data: b"", "is no model"),
    (lambda data: data[:100], "cut off?"),
    (lambda data: data[:-4], "' is damaged|needs|end"),
    (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "is damaged: its SHA-256"),
    (lambda data: data.replace(b"heed model 1", b"heed model 2"), "a newer heed may read it"),
    (lambda data: data.replace(b'"heed model 1"', b'"heedless one"'), "holds tensors, but no model"),
])
def test_broken_files(exported, tmp_path, change, says):
    path = tmp_path / "broken.heed"
    path.write_bytes(change(exported.read_bytes()))
    for verb in (("predict",), ("info",), ("export", "--output", tmp_path / "new.heed")):
        done = run(verb[0], path, *verb[1:], given=b"abc\n")
        assert done.returncode == DATA and done.stdout == b""
        assert str(path) in done.stderr.decode() and any(word in done.stderr.decode() for word in says.split("|"))
    assert not (tmp_path / "new.heed").exists()


def test_what_is_replaced(model, tmp_path):
    path = tmp_path / "m"
    path.write_text("my diary\n")
    done = run("export", model, "--output", path)
    assert done.returncode == CANNOT_CREATE and b"already exists and is not a model: --force" in done.stderr
    assert path.read_text() == "my diary\n"
    text("export", str(model), "--output", str(path), "--force")
    first = path.read_bytes()
    text("export", str(model), "--checkpoint", "step-000020", "--output", str(path))  # a model by another
    assert path.read_bytes() != first
    done = run("export", model, "--output", tmp_path, "--force")
    assert done.returncode == CANNOT_CREATE and b"is a folder" in done.stderr
    assert os.listdir(tmp_path) == ["m"]


def test_into_a_pipe(model, exported):
    assert run("export", model, "--output", "/dev/stdout").stdout == exported.read_bytes()


@pytest.mark.parametrize("arguments, code, says", [
    ((), USAGE, "is required"),
    (("MODEL",), USAGE, "--output is required"),
    (("gone", "--output", "NEW"), NO_INPUT, "there is no model 'gone'"),
    (("MODEL", "--checkpoint", "step-00020", "--output", "NEW"), NO_INPUT, "did you mean 'step-000020'?"),
    (("MODEL", "--output", "NEW/m.heed"), CANNOT_CREATE, "new"),
    (("DAMAGED", "--output", "NEW"), DATA, "has changed"),
])
def test_wrong_usage(model, damaged, tmp_path, arguments, code, says):
    # pylint: disable=too-many-arguments
    there = {"MODEL": model, "DAMAGED": damaged, "NEW": tmp_path / "new", "NEW/m.heed": tmp_path / "new" / "m.heed"}
    done = run("export", *[there.get(a, a) for a in arguments])
    assert done.returncode == code, done.stderr
    assert says in done.stderr.decode() and done.stdout == b""
    assert not (tmp_path / "new").exists()


def numbers_of(path):
    """name -> (type, bytes) of every tensor."""
    data = path.read_bytes()
    front = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:front])
    header.pop("__metadata__")
    return {name: (t["dtype"], data[front + t["data_offsets"][0]:front + t["data_offsets"][1]])
            for name, t in header.items()}


@pytest.mark.parametrize("precision, dtype", [("float16", "F16"), ("bfloat16", "BF16")])
def test_half_as_large(model, exported, tmp_path, precision, dtype):
    half = tmp_path / "half.heed"
    text("export", str(model), "--precision", precision, "--output", str(half))
    single = numbers_of(exported)
    for name, (kind, data) in numbers_of(half).items():
        assert kind == dtype and len(single[name][1]) == 2 * len(data)
        count = len(data) // 2
        exact = struct.unpack(f"<{count}f", single[name][1])
        if dtype == "F16":
            rounded = struct.unpack(f"<{count}e", data)
            assert rounded == struct.unpack(f"<{count}e", struct.pack(f"<{count}e", *exact))  # Python rounds to even too
        else:
            rounded = struct.unpack(f"<{count}f", b"".join(b"\0\0" + data[i:i + 2] for i in range(0, len(data), 2)))
            assert all(abs(a - b) <= abs(b) * 2**-8 for a, b in zip(rounded, exact))
    # It is a model like any other: what is computed is float32 with these numbers.
    lines = answers("predict", half, "--scores", given=TEXT)
    assert len(lines) == len(answers("predict", model, "--scores", given=TEXT))
    text("export", str(half), "--output", str(tmp_path / "again.heed"))  # float32 again: the rounded numbers
    assert answers("predict", tmp_path / "again.heed", "--scores", given=TEXT) == lines
    if precision == "bfloat16":  # what was rounded once is not changed by rounding again
        assert answers("predict", half, "--precision", "bfloat16", "--scores", given=TEXT) == lines
    assert from_json("info", str(half), "--json")["model"]["parameters"] == \
        from_json("info", str(exported), "--json")["model"]["parameters"]


def test_a_quarter_as_large(model, exported, tmp_path):
    small = tmp_path / "small.heed"
    text("export", str(model), "--precision", "int8", "--output", str(small))
    single, rounded = numbers_of(exported), numbers_of(small)
    assert "I8" in {kind for kind, _ in rounded.values()}
    for name, (kind, data) in rounded.items():
        if kind != "I8":
            continue
        _, scales = rounded[name + ".scale"]
        scales = struct.unpack(f"<{len(scales) // 4}f", scales)
        exact = struct.unpack(f"<{len(data)}f", single[name][1])
        columns = len(data) // len(scales)  # of a weight [out, in], one scale for each row
        for i, integer in enumerate(struct.unpack(f"<{len(data)}b", data)):
            scale = scales[i // columns]
            assert abs(integer * scale - exact[i]) <= scale * 0.505
            assert scale <= max(map(abs, exact[i // columns * columns:(i // columns + 1) * columns])) / 127
    # It runs as int8 without a word, as a model does that is rounded when it is loaded.
    lines = answers("predict", model, "--precision", "int8", "--json", "--scores", given=TEXT)
    assert answers("predict", small, "--json", "--scores", given=TEXT) == lines
    assert answers("predict", small, "--precision", "int8", "--json", "--scores", given=TEXT) == lines
    said = from_json("info", str(small), "--json")["model"]
    assert said["precision"] == "int8" and said["weight_bytes"] < 2 * said["parameters"]
    assert from_json("info", str(model), "--json")["model"]["precision"] == "float32"
    up = text("export", str(small), "--precision", "float32", "--output", str(tmp_path / "up.heed"))
    assert "what was rounded does not come back" in up
    assert answers("predict", tmp_path / "up.heed", "--precision", "int8", "--json", "--scores", given=TEXT) == lines
    assert answers("predict", small, "--precision", "float32", "--json", "--scores", given=TEXT) == \
        answers("predict", tmp_path / "up.heed", "--json", "--scores", given=TEXT)


@pytest.mark.parametrize("isa", ["avx2", "sse4", "scalar"])
def test_int8_weights_are_the_same_wherever_they_are_rounded(model, tmp_path, isa):
    for name in ("best", isa):
        done = run("export", str(model), "--precision", "int8", "--output", str(tmp_path / name),
                   **({"HEED_ISA": isa} if name == isa else {}))
        if done.returncode != 0:
            pytest.skip(f"this CPU has no {isa}")
    assert (tmp_path / "best").read_bytes() == (tmp_path / isa).read_bytes()


def test_precision_in_memory(model):
    options = ["--json", "--scores"]
    exact = answers("predict", model, *options, given=TEXT)
    assert answers("predict", model, "--precision", "float32", *options, given=TEXT) == exact
    rounded = answers("predict", model, "--precision", "bfloat16", *options, given=TEXT)
    assert len(rounded) == len(exact) and rounded != exact
    done = run("predict", str(model), "--precision", "float8")
    assert done.returncode == USAGE and b"precision" in done.stderr and b"bfloat16" in done.stderr
    assert run("export", str(model), "--precision", "float64", "--output", "x").returncode == USAGE
