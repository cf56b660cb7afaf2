# slow: 25 s
"""Numbers that no machine can serve, names that no disk can hold, and models that give no numbers."""
import hashlib
import json
import shutil
import struct
import subprocess

import pytest
from heed_program import (CANNOT_CREATE, CONFIG, DATA, MEMORY, PROGRAM, USAGE, heed, run, small_recipe, text,
                          train_small)


@pytest.fixture(name="recipe")
def recipe_file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(small_recipe())
    return str(path)


def with_memory(kilobytes, *arguments, given=b""):
    """A run that may take so much."""
    def start(*words):
        return subprocess.run(["sh", "-c", f'ulimit -v {kilobytes} && exec "$@"', "sh", PROGRAM, *map(str, words)],
                              input=given, capture_output=True, timeout=60, check=False)
    if start("--version").returncode != 0:
        pytest.skip("a sanitizer wants address space without end")
    return start(*arguments)


# ---------------------------------------------------------------------------------------------------------------- sizes

@pytest.mark.parametrize("setting", ["data.examples", "train.accumulate", "attention.reach", "attention.samples",
                                     "attention.max_length", "model.max_length", "model.width", "validate.longest",
                                     "train.batch_tokens", "attention.depth", "attention.heads", "attention.hidden"])
def test_a_number_without_sense_is_refused(recipe, tmp_path, setting):
    done = heed("train", recipe, "--output", str(tmp_path / "out"), "--set", f"{setting}=99999999999999")
    assert done.returncode == CONFIG
    assert f"--set {setting}=99999999999999: {setting} must be from" in done.stderr


@pytest.mark.parametrize("settings", [("model.width=65536", "model.encoder_layers=100"), ("data.examples=1000000000",),
                                      ("attention.hidden=1000000", "model.width=60000")])
def test_what_the_memory_cannot_hold_is_refused_with_a_number(recipe, tmp_path, settings):
    done = with_memory(4_000_000, "train", recipe, "--output", tmp_path / "out",
                       *[word for setting in settings for word in ("--set", setting)])
    assert done.returncode == MEMORY, done.stderr
    assert b"heed: not enough memory: " in done.stderr and b" needs about " in done.stderr and b" GB" in done.stderr


def test_any_other_lack_of_memory_has_its_code(recipe, tmp_path):
    """In the midst of a training, where nobody could know before."""
    done = with_memory(600_000, "train", recipe, "--output", tmp_path / "out", "--threads", 1,
                       "--set", "data.examples=200000", "--set", "train.batch_tokens=1000000000")
    assert done.returncode == MEMORY, done.stderr
    assert b"heed: not enough memory" in done.stderr


@pytest.mark.parametrize("verb", ["predict", "score", "evaluate"])
def test_a_line_that_needs_too_much_memory_is_no_empty_answer(model, tmp_path, verb):
    """With 200,000 tokens it cannot be answered even alone; a short line before it can."""
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("ab\tba\n" + "abcdefghij" * 20_000 + "\tab\n")
    search = () if verb == "score" else ("--beam", 100, "--max-length", 3, "--batch", 1)
    files = () if verb == "predict" else (pairs,)
    given = pairs.read_bytes().replace(b"\tba", b"").replace(b"\tab", b"")
    done = with_memory(120_000, verb, model, *files, "--threads", 1, *search, given=given)
    assert done.returncode == MEMORY, done.stderr
    assert b": not enough memory" in done.stderr and b"line" in done.stderr and b"--threads 1" in done.stderr
    assert done.stdout.count(b"\n") == (1 if verb == "predict" else 0)


def test_little_memory_in_a_training_is_never_a_mistake_of_the_user(recipe, tmp_path):
    """Wherever it ends, also in attention."""
    for kilobytes in range(90_000, 400_000, 30_000):
        done = with_memory(kilobytes, "train", recipe, "--output", tmp_path / str(kilobytes), "--threads", 1,
                           "--set", "data.examples=1000", "--set", "train.batch_tokens=1000000", "--set", "stop.steps=1",
                           "--set", "model.width=64")
        assert done.returncode in (0, MEMORY), (kilobytes, done.stderr)


def test_many_accumulated_batches_take_no_memory(recipe, tmp_path):
    done = with_memory(2_000_000, "train", recipe, "--output", tmp_path / "out", "--threads", 1,
                       "--set", "stop.steps=1", "--set", "model.width=1", "--set", "train.accumulate=500")
    assert done.returncode == 0, done.stderr


# ------------------------------------------------------------------------------------------------------------- messages

def test_messages_name_what_the_user_wrote(recipe, tmp_path):
    def refused(*settings):
        done = heed("train", recipe, "--output", str(tmp_path / "out"),
                    *[word for setting in settings for word in ("--set", setting)])
        return done.returncode, done.stderr

    code, said = refused("data.source_size=2")
    assert code == CONFIG and f"heed: {recipe}: data.source_size must be 0 (no limit) or above 3, not 2" in said
    code, said = refused("data.source_tokens=sentencepiece", "data.source_size=10")
    assert code == DATA and 'data.source_tokens = "sentencepiece", data.source_size = 10: SentencePiece cannot' in said
    assert "--character_coverage" not in said and "their characters alone, and <unk>, <s> and </s>, are 40" in said
    code, said = refused("widht=3")
    assert code == CONFIG and "unknown key 'widht'; did you mean 'model.width'?" in said
    code, said = refused("attention.heads=5")
    assert code == CONFIG and f"heed: {recipe}: [attention] heads = 5 with [model] width = 16: " in said
    code, said = refused("attention.window=3")
    assert code == CONFIG and f"heed: {recipe}: [attention] window is an option of " in said and "local_m" in said


def test_a_checkpoint_that_cannot_go_on(tmp_path):
    model = train_small(tmp_path / "model", "stop.steps=2")
    assert heed("average", str(model), "--output", str(tmp_path / "averaged")).returncode == 0
    shutil.rmtree(model / "step-000002")
    shutil.move(tmp_path / "averaged", model / "step-000002")
    done = heed("train", "--resume", "--output", str(model))
    assert done.returncode == DATA
    assert "step-000002': its state.json has no 'data'" in done.stderr


# ---------------------------------------------------------------------------------------------------------------- names

@pytest.mark.parametrize("name", ["x" * 300, "loop/out", "loop"])
def test_a_name_that_cannot_be_written(recipe, model, tmp_path, name):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "pairs.tsv").write_text("ab\tba\n")
    where = str(tmp_path / name)
    for arguments in (("train", recipe, "--output", where), ("average", str(model), "--output", where),
                      ("mechanisms", "--markdown", where), ("demo", "--steps", "1", "--folder", where)):
        done = heed(*arguments)
        assert done.returncode == CANNOT_CREATE, (arguments, done.stderr)
        assert done.stderr.startswith("heed: ")


def read_only(command):
    """The same command with a folder ro/ that is mounted for reading alone; None where that is not allowed."""
    script = "mount -t tmpfs -o ro none ro && exec \"$@\""

    def start(*words):
        return subprocess.run(words, cwd=command[0], capture_output=True, text=True, timeout=60, check=False)
    for how in ("-m", "-rm"):
        if shutil.which("unshare") and start("unshare", how, "sh", "-c", script, "sh", "true").returncode == 0:
            return start("unshare", how, "sh", "-c", script, "sh", PROGRAM, *command[1:])
    return None


def test_a_folder_that_can_only_be_read(recipe, model, tmp_path):
    (tmp_path / "ro").mkdir()
    (tmp_path / "pairs.tsv").write_text("ab\tba\n")
    for arguments in (("train", recipe, "--output", "ro/out"), ("average", model, "--output", "ro/out"),
                      ("evaluate", model, "pairs.tsv", "--save", "ro/out"), ("mechanisms", "--markdown", "ro/out"),
                      ("demo", "--steps", "1", "--folder", "ro/out")):
        done = read_only([tmp_path, *map(str, arguments)])
        if done is None:
            pytest.skip("nothing can be mounted here")
        assert done.returncode == CANNOT_CREATE, (arguments, done.stderr)
        assert "ro" in done.stderr and "ead-only" in done.stderr


# -------------------------------------------------------------------------------------------------------------- options

@pytest.mark.parametrize("arguments", [("predict", "MODEL", "--sample"), ("evaluate", "MODEL", "--valid")])
@pytest.mark.parametrize("seed", ["-1", "1.5", "99999999999999999999"])
def test_seeds_are_not_negative(model, arguments, seed):
    done = heed(*[str(model) if a == "MODEL" else a for a in arguments], "--seed", seed)
    assert done.returncode == USAGE and "--seed" in done.stderr


@pytest.mark.parametrize("arguments", [("info",), ("mechanisms", "--names"), ("predict", "MODEL"), ("train", "nowhere"),
                                       ("score", "MODEL", "nowhere"), ("evaluate", "MODEL", "--valid"), ("demo",),
                                       ("average", "MODEL", "--output", "NEW")])
def test_an_instruction_set_that_does_not_exist(model, tmp_path, arguments):
    done = run(*[{"MODEL": model, "NEW": tmp_path / "new"}.get(a, a) for a in arguments], given=b"ab\n",
               HEED_ISA="bogus")
    assert done.returncode == USAGE and done.stdout == b""
    assert b"heed: HEED_ISA: instruction set 'bogus' is not one that this build knows" in done.stderr


# ------------------------------------------------------------------------------------------------------------- tampered

def tampered(model, folder, name, change):
    """A copy with one file changed, and the manifest too: as somebody would who means it."""
    shutil.copytree(model, folder)
    checkpoint = max(folder.glob("step-*"))
    for other in folder.glob("step-*"):
        if other != checkpoint:
            shutil.rmtree(other)
    (folder / "best.txt").write_text(checkpoint.name + "\n")
    content = change((checkpoint / name).read_bytes())
    (checkpoint / name).write_bytes(content)
    manifest = json.loads((checkpoint / "MANIFEST.json").read_text())
    for part in manifest["parts"]:
        if part["name"] == name:
            part["size"], part["sha256"] = len(content), hashlib.sha256(content).hexdigest()
    (checkpoint / "MANIFEST.json").write_text(json.dumps(manifest))
    return folder


def all_verbs(folder, tmp_path):
    (tmp_path / "pairs.tsv").write_text("ab\tba\n")
    for arguments in (("predict", folder), ("score", folder, tmp_path / "pairs.tsv"), ("info", folder),
                      ("evaluate", folder, tmp_path / "pairs.tsv"), ("average", folder, "--output", tmp_path / "mean"),
                      ("train", "--resume", "--output", folder)):
        yield arguments[0], run(*arguments, given=b"ab\n")


@pytest.mark.parametrize("name, change, says", [
    ("model.toml", lambda text: text.replace(b"width = 16", b"width = 0"), b"model.width must be from 1"),
    ("model.toml", lambda text: text.replace(b'kind = "rnn"', b'kind = "rnm"'), b"did you mean 'rnn'?"),
    ("model.toml", lambda text: text + b"a." * 200_000 + b"a = 1\n", b"a key of more than 32 parts"),
    ("model.toml", lambda text: text + b"".join(b"k%d = 1\n" % i for i in range(200_000)), b"more than 10000 keys"),
    ("source.vocab", lambda text: text + b"\\n\n", b"holds a control character"),
    ("target.vocab", lambda text: text.replace(b"\na\n", b"\n\x1b[2J\n"), b"'\\x1b[2J' holds a control character"),
])
def test_what_was_tampered_with_is_refused_by_every_verb(model, tmp_path, name, change, says):
    for verb, done in all_verbs(tampered(model, tmp_path / "bad", name, change), tmp_path):
        assert done.returncode == DATA, (verb, done.stderr)
        assert says in done.stderr and name.encode() in done.stderr, (verb, done.stderr)


@pytest.mark.parametrize("change, says", [
    (lambda text: text.replace(b"width = 16", b"width = 0"), b"model.width must be from 1"),
    (lambda text: text.replace(b"width = 16", b"width = 8"), b"is the recipe of another model: model.width is 8, was 16"),
    (lambda text: text + b"a." * 200_000 + b"a = 1\n", b"a key of more than 32 parts"),
    (lambda text: text + b"".join(b"k%d = 1\n" % i for i in range(200_000)), b"more than 10000 keys"),
])
def test_a_recipe_that_was_tampered_with(model, tmp_path, change, says):
    """Running the model does not read it; whatever does refuses it."""
    (tmp_path / "pairs.tsv").write_text("ab\tba\n")
    bad = tampered(model, tmp_path / "bad", "config.toml", change)
    assert run("predict", bad, given=b"ab\n").returncode == 0
    for arguments in (("train", "--resume", "--output", bad), ("evaluate", bad, tmp_path / "pairs.tsv")):
        done = run(*arguments)
        assert done.returncode == DATA and says in done.stderr and b"config.toml" in done.stderr, done.stderr


def test_weights_that_are_no_numbers(model, tmp_path):
    def with_nan(content):
        return content[:-4] + struct.pack("<f", float("nan"))
    for verb, done in all_verbs(tampered(model, tmp_path / "bad", "weights.safetensors", with_nan), tmp_path):
        assert done.returncode == DATA and done.stdout == b"", (verb, done.stderr)
        assert b"weights.safetensors': '" in done.stderr and b"holds nan at index" in done.stderr


# -------------------------------------------------------------------------------------------------------- line protocol

def test_control_characters_of_the_data_are_unknown(tmp_path):
    """A vocabulary never learns one, so that no output has one."""
    pairs = "".join(f"a\x1b[2J{i}\tb\x1b{i}\x85\n" for i in range(40))
    (tmp_path / "pairs.tsv").write_text(pairs)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("[data]\ntsv = 'pairs.tsv'\nheld_out = 0.1\n[model]\nwidth = 8\n[stop]\nsteps = 3\n"
                      "[validate]\nevery = 3\nlongest = 9\n")
    text("train", str(recipe), "--output", str(tmp_path / "out"), "--set", f"data.folder={tmp_path}")
    for name in ("source.vocab", "target.vocab"):
        vocabulary = (tmp_path / "out" / "step-000003" / name).read_text()
        assert "\x1b" not in vocabulary and "\x85" not in vocabulary and "\nb\n" in vocabulary + "\nb\n"
    done = run("predict", tmp_path / "out", "--scores", given=b"a\x1b[2J7\n")
    assert done.returncode == 0 and b"never saw: U+001B;" in done.stderr and b"\x1b" not in done.stderr
    said = done.stdout.decode().splitlines()
    assert len(said) == 1 and not any(ord(c) < 32 and c != "\t" for c in said[0])
