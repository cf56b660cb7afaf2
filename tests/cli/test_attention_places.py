"""Attention chosen for each place, as a user types it: trained, drawn, shown, compared; what a model lacks is refused."""
import base64
import json
import struct

import pytest
from heed_program import heed


@pytest.fixture(name="pairs", scope="module")
def some_pairs(tmp_path_factory):
    file = tmp_path_factory.mktemp("places") / "pairs.tsv"
    file.write_text("".join(f"{a}{b} dog\t{b}{a} hund\n" for a in "abcdef" for b in "abcdef"))
    return file


def train(pairs, folder, kind, *settings, more=()):
    keys = [f"model.kind={kind}", "model.width=16", "model.encoder_layers=2", "model.decoder_layers=2", "stop.steps=3",
            "attention.heads=2" if kind == "transformer" else "model.cell=gru", *settings]
    return heed("train", str(pairs), "--output", str(folder), *more, *[word for key in keys for word in ("--set", key)])


def maps_of(model, folder, line="ab dog"):
    """{name of an attention: its heads, each a list of rows}"""
    file = folder / "looked.json"
    done = heed("look", str(model), line, "--target", "ba hund", "--json", str(file))
    assert done.returncode == 0, done.stderr
    found = {}
    for each in json.loads(file.read_text())["examples"][0]["maps"]:
        data = base64.b64decode(each["weights"]["data"])
        numbers = struct.unpack(f"<{len(data) // 4}f", data)
        rows, columns = each["rows"], each["cols"]
        found[each["name"]] = [[numbers[(h * rows + r) * columns:(h * rows + r + 1) * columns] for r in range(rows)]
                               for h in range(len(numbers) // (rows * columns))]
    return found


def is_inside(rows, allowed):
    return all((weight == 0) or allowed(r, c) for r, row in enumerate(rows) for c, weight in enumerate(row))


def test_a_window_on_the_source_alone(pairs, tmp_path):
    done = train(pairs, tmp_path / "m", "transformer", "attention.source.region=local_m", "attention.source.window=1")
    assert done.returncode == 0, done.stderr
    maps = maps_of(tmp_path / "m", tmp_path)
    for layer in "01":
        for head in maps[f"decoder.{layer}.source"]:
            assert is_inside(head, lambda r, c: abs(r - c) <= 1)
        assert not is_inside(maps[f"encoder.{layer}.self"][0], lambda r, c: abs(r - c) <= 1)
    # What is written step by step sees the same window, and so does the model after it was written to one file.
    assert heed("predict", str(tmp_path / "m"), "--beam", "3", input="ab dog\n").returncode == 0
    assert heed("export", str(tmp_path / "m"), "--output", str(tmp_path / "m.heed")).returncode == 0
    assert maps_of(tmp_path / "m.heed", tmp_path) == maps


def test_a_strict_decoder_over_an_ordinary_encoder(pairs, tmp_path):
    assert train(pairs, tmp_path / "m", "transformer", "attention.decoder.strict=true").returncode == 0
    maps = maps_of(tmp_path / "m", tmp_path)
    assert is_inside(maps["decoder.0.self"][0], lambda r, c: c < r)
    assert not is_inside(maps["encoder.0.self"][0], lambda r, c: c <= r)


def test_hard_to_the_source_alone_and_one_layer_of_its_own(pairs, tmp_path):
    assert train(pairs, tmp_path / "m", "transformer", "attention.source.normalise=hard",
                 "attention.encoder.layer.1.region=causal").returncode == 0
    maps = maps_of(tmp_path / "m", tmp_path)
    assert all(sorted(row)[-1] == 1 and sum(row) == 1 for row in maps["decoder.1.source"][0])
    assert all(max(row) < 1 for row in maps["encoder.0.self"][0])
    assert is_inside(maps["encoder.1.self"][0], lambda r, c: c <= r)
    assert not is_inside(maps["encoder.0.self"][0], lambda r, c: c <= r)


def test_a_recurrent_decoder_looks_at_its_past(pairs, tmp_path):
    for feeding in ("true", "false"):
        done = train(pairs, tmp_path / feeding, "rnn", "attention.time=forced_forward", "attention.decoder.score=intra",
                     f"model.input_feeding={feeding}")
        assert done.returncode == 0, done.stderr
        maps = maps_of(tmp_path / feeding, tmp_path)
        assert "decoder.attention" in maps
        assert heed("predict", str(tmp_path / feeding), "--beam", "2", input="ab dog\n").returncode == 0
    assert is_inside(maps["decoder.self"][0], lambda r, c: c < r)


def test_the_recipe_tells_what_each_attention_does(pairs, tmp_path):
    done = train(pairs, tmp_path / "m", "transformer", "attention.source.score=additive", "attention.project_output=false",
                 more=["--show"])
    assert done.returncode == 0, done.stderr
    assert '[attention.source]' in done.stdout and '[attention.all]' in done.stdout
    lines = {line[4:].split(":")[0]: line for line in done.stdout.split("# What each attention")[1].splitlines()[1:]}
    assert 'score = "additive"' in lines["decoder.1.source"] and 'score = "scaled_dot"' in lines["decoder.1.self"]
    assert 'region = "causal"' in lines["decoder.0.self"] and 'region = "global"' in lines["encoder.0.self"]
    assert all("project_output = true" not in line for line in lines.values())
    recipe = tmp_path / "again.toml"
    recipe.write_text(done.stdout)
    again = heed("train", str(recipe), "--show")
    assert again.stdout.split("# What each")[1] == done.stdout.split("# What each")[1]


def test_what_a_model_lacks_is_refused_by_name(pairs, tmp_path):
    for kind, setting, reason in [
            ("transformer", "attention.memory.score=dot", "it may have encoder, decoder, source"),
            ("transformer", "attention.encoder.layer.2.score=dot", "there are encoder, encoder.layer.0, encoder.layer.1"),
            ("transformer", "attention.decoder.time=guided", "[attention.decoder] time = \"guided\""),
            ("rnn", "attention.region=sinks", "set sinks to 1 or more"),
            ("rnn", "attention.source.window=3", "window is an option of")]:
        done = train(pairs, tmp_path / "none", kind, setting)
        assert done.returncode == 78 and reason in done.stderr, done.stderr
        assert not (tmp_path / "none").exists()


def test_places_are_compared(tmp_path):
    done = heed("compare", "dates", "--over", "attention.source.score=dot,additive", "--over",
                "attention.decoder.score=intra", "--set", "stop.steps=2", "--set", "data.examples=40", "--set",
                "data.valid_examples=5", "--output", str(tmp_path / "c"))
    assert done.returncode == 0, done.stderr
    assert "attention.source.score=additive" in done.stdout


def test_a_training_goes_on_with_its_places(pairs, tmp_path):
    assert train(pairs, tmp_path / "m", "transformer", "attention.source.score=additive").returncode == 0
    done = heed("train", "--resume", "--output", str(tmp_path / "m"), "--set", "stop.steps=4")
    assert done.returncode == 0, done.stderr
    other = heed("train", "--resume", "--output", str(tmp_path / "m"), "--set", "attention.source.score=dot")
    assert other.returncode != 0 and "attention.source.score is" in other.stderr
    # From its weights: the place follows.
    tuned = heed("train", str(pairs), "--from", str(tmp_path / "m"), "--output", str(tmp_path / "t"), "--set",
                 "stop.steps=2")
    assert tuned.returncode == 0, tuned.stderr
    assert "source.score additive" in " ".join(heed("info", str(tmp_path / "t")).stdout.split())
