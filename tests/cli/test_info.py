"""heed info: what a model is, and what it runs on."""
import re

import pytest
from heed_program import DATA, NO_INPUT, SOURCE, USAGE, from_json, run, text
from story_model import train_story


def test_the_machine():
    said = from_json("info", "--json", "--threads", "3")
    assert list(said) == ["machine"]
    machine = said["machine"]
    version = re.search(r'#define HEED_VERSION "([\d.]+)"', (SOURCE / "heed/version.h").read_text())[1]
    assert machine["heed"] == version and machine["threads"] == 3
    assert machine["instruction_set"] in machine["instruction_sets"]
    forced = machine["instruction_sets"][-1]
    assert re.search(rf"^  instruction set +{forced}$", text("info", HEED_ISA=forced), re.M)


def test_a_model(model):
    said = from_json("info", str(model), "--json")["model"]
    assert said["kind"] == "rnn" and said["cell"] == "gru" and said["width"] == 16
    assert said["attention"] == {"score": "additive"}
    assert said["source_vocabulary"]["kind"] == "characters" and said["source_vocabulary"]["size"] > 3
    assert sum(said["parameters_by_part"].values()) == said["parameters"]
    assert {"encoder", "decoder"} <= set(said["parameters_by_part"])
    assert said["weight_bytes"] == 4 * said["parameters"]
    assert said["training"]["updates"] in (20, 40, 60) and said["training"]["best"]["metric"] == "loss"
    assert from_json("info", str(model), "--checkpoint", "step-000020", "--json")["model"]["training"]["updates"] == 20


def test_the_text_says_the_same(model):
    said, facts = text("info", str(model)), from_json("info", str(model), "--json")
    for part in ("model", "machine"):
        for name in facts[part]:
            assert re.search(rf"^  {name.replace('_', ' ')} +\S", said, re.M), name
    assert f"{facts['model']['parameters']:,}" in said and "KiB" in said
    own = [line for line in said.splitlines() if str(model.parent) not in line]  # a folder may have a long name
    assert max(map(len, own)) <= 80


def test_a_transformer(placed):
    said = from_json("info", str(placed), "--json")["model"]
    assert said["kind"] == "transformer" and said["hidden"] == 64 and said["positions"] == "learned"


@pytest.mark.parametrize("arguments, code, says", [
    (("gone",), NO_INPUT, "there is no model 'gone'"),
    (("DAMAGED",), DATA, "has changed"),
    (("--jsn",), USAGE, "did you mean '--json'?"),
    (("--threads", "0"), USAGE, "--threads"),
])
def test_wrong_usage(damaged, arguments, code, says):
    done = run("info", *[damaged if a == "DAMAGED" else a for a in arguments])
    assert done.returncode == code and says in done.stderr.decode() and done.stdout == b""


def test_a_structure_with_its_own_score_is_not_said_to_have_another(tmp_path):
    folder = train_story(tmp_path, "model.look_back=attention", "attention.structure=key_value", "stop.steps=1")
    assert from_json("info", str(folder), "--json")["model"]["attention"] == {"structure": "key_value"}
    assert re.search(r"^  attention +structure key_value$", text("info", str(folder)), re.M)
