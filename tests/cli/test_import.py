"""heed import: models of other programs, and what can be done with them then."""
import json
import shutil

import pytest
from heed_program import DATA, NO_INPUT, SOURCE, from_json, heed, run, text
from heed_server import Server

GOLDEN = SOURCE / "tests" / "golden" / "imports"
NEAR = 1e-4


def expected(name):
    return json.loads((GOLDEN / name / "expected.json").read_text(encoding="utf-8"))


def answers(*arguments, given):
    """The lines of the output; standard error may speak of characters that the model never saw."""
    return run(*arguments, given=given.encode()).stdout.decode().split("\n")[:-1]


def take(name, folder):
    path = folder / f"{name}.heed"
    said = text("import", str(GOLDEN / name), "--output", str(path))
    assert f"'{path}' holds it in" in said
    return path, said


@pytest.fixture(name="gpt2", scope="module")
def imported_gpt2(tmp_path_factory):
    return take("gpt2", tmp_path_factory.mktemp("gpt2"))


@pytest.fixture(name="pairs", scope="module")
def imported_pairs(tmp_path_factory):
    return take("ctranslate2_pre", tmp_path_factory.mktemp("pairs"))


def test_it_says_what_it_found(gpt2, pairs):
    assert "GPT-2 of transformers" in gpt2[1] and "byte_bpe" in gpt2[1] and "tokenizer.json" in gpt2[1]
    assert "TransformerSpec of CTranslate2, version 6" in pairs[1] and "2 of the encoder, 3 of the decoder" in pairs[1]
    assert "left out      decoder/alignment_layer: not needed to answer" in pairs[1]


def test_a_text_model_in_every_verb(gpt2, tmp_path):
    model, lines = gpt2[0], expected("gpt2")["texts"][:4]
    given = "".join(line["text"] + "\n" for line in lines)
    scores = [json.loads(line) for line in answers("score", model, "-", "--json", "--per-token", given=given)]
    for line, score in zip(lines, scores):
        assert len(score["token_log_probabilities"]) == len(line["log_probs"])
        assert all(abs(a - b) < NEAR for a, b in zip(score["token_log_probabilities"], line["log_probs"]))
    outputs = answers("predict", model, "--max-length", "8", given=given)
    assert len(outputs) == len(lines)
    info = from_json("info", str(model), "--json")["model"]
    assert info["kind"] == "transformer" and info["target_vocabulary"]["kind"] == "byte_bpe"
    assert b"self-attention" in run("look", model, lines[0]["text"]).stdout
    with Server(model) as server:
        answer = server.post("/v1/predict", {"input": lines[0]["text"], "max_length": 8})
        assert answer.json["output"] == outputs[0].replace("\\n", "\n").replace("\\\\", "\\")


def test_a_pair_model_in_every_verb(pairs, tmp_path):
    model, lines = pairs[0], expected("ctranslate2_pre")["pairs"]
    given = "".join(line["source"] + "\n" for line in lines)
    outputs = answers("predict", model, "--beam", "1", "--max-length", "20", given=given)
    assert outputs == [line["greedy"] for line in lines]
    table = tmp_path / "pairs.tsv"
    table.write_text("".join(f"{line['source']}\t{line['greedy']}\n" for line in lines))
    done = run("evaluate", model, table)
    assert done.returncode == 0, done.stderr
    half = tmp_path / "half.heed"
    text("export", str(model), "--output", str(half), "--precision", "float16")
    assert half.stat().st_size < 0.7 * model.stat().st_size
    assert len(answers("predict", half, "--beam", "1", given=given)) == len(lines)
    weights = json.loads(run("look", model, "abc", "--json", "-").stdout)
    assert weights


def test_what_cannot_be_imported_is_refused_by_name(tmp_path):
    changed = tmp_path / "changed"
    shutil.copytree(GOLDEN / "llama", changed)
    config = json.loads((changed / "config.json").read_text())
    config["rope_parameters"]["rope_type"] = "yarn"
    (changed / "config.json").write_text(json.dumps(config))
    done = heed("import", str(changed), "--output", str(tmp_path / "m"))
    assert done.returncode == DATA and 'rope_type = "yarn"' in done.stderr, done.stderr
    assert not (tmp_path / "m").exists()


def test_what_is_no_model(tmp_path):
    (tmp_path / "words.txt").write_text("word\n")
    done = heed("import", str(tmp_path / "words.txt"), "--output", str(tmp_path / "m"))
    assert done.returncode == DATA and "none of the formats" in done.stderr and "ctranslate2: a folder" in done.stderr
    done = heed("import", str(tmp_path / "nowhere"), "--output", str(tmp_path / "m"))
    assert done.returncode == NO_INPUT and "does not exist" in done.stderr
