"""heed look: on the terminal and in files."""
import base64
import json
import struct
import xml.etree.ElementTree

import pytest
from heed_program import heed, run


@pytest.fixture(name="model", scope="module")
def small_transformer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("look")
    (folder / "pairs.tsv").write_text("".join(f"{a}{b} dog\t{b}{a} hund\n" for a in "abcdef" for b in "abcdef"))
    done = heed("train", str(folder / "pairs.tsv"), "--output", str(folder / "model"), "--threads", "1",
                *[word for key in ["model.kind=transformer", "model.width=16", "model.encoder_layers=2",
                                   "model.decoder_layers=2", "attention.heads=2", "stop.steps=30"]
                  for word in ("--set", key)])
    assert done.returncode == 0, done.stderr
    return str(folder / "model")


def test_the_terminal_shows_the_attention_to_the_source(model):
    done = heed("look", model, "ab dog", "--target", "ba hund")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("ba hund  log p -")
    assert lines[1] == "attention to the source, layer 2 (decoder.1.source), mean of 2 heads"
    assert lines[2].split() == ["a", "b", "␣", "d", "o", "g"]
    assert [line.split()[0] for line in lines[3:]] == [*"ba", "␣", *"hund", "</s>"]
    assert all(set(line.split()[1]) <= set("·░▒▓█") for line in lines[3:])


def test_every_attention_has_a_name(model):
    done = heed("look", model, "ab dog", "--list")
    names = [line.split()[0] for line in done.stdout.splitlines()[1:]]
    assert names == ["encoder.0.self", "encoder.1.self", "decoder.0.self", "decoder.0.source", "decoder.1.self",
                     "decoder.1.source"]
    one = heed("look", model, "ab dog", "--attention", "encoder.1.self", "--head", "2")
    assert "self-attention of the encoder, layer 2 (encoder.1.self), head 2 of 2" in one.stdout


def test_json_has_the_weights_of_prediction(model, tmp_path):
    file = tmp_path / "looked.json"
    done = heed("look", model, "ab dog", "--json", str(file))
    assert done.returncode == 0, done.stderr
    document = json.loads(file.read_text())
    assert document["format"] == "heed.attention" and document["version"] == 1
    example = document["examples"][0]
    last = example["maps"][-1]
    assert (last["queries"], last["keys"]) == ("target", "source")
    assert last["rows"] == len(example["sequences"]["target"]["tokens"])
    data = base64.b64decode(last["weights"]["data"])
    weights = struct.unpack(f"<{len(data) // 4}f", data)
    size = last["rows"] * last["cols"]
    mean = [(a + b) / 2 for a, b in zip(weights[:size], weights[size:])]
    predicted = json.loads(run("predict", model, "--json", "--alignments=matrix", given=b"ab dog\n").stdout)
    assert predicted["output"] == example["output"]
    for r, row in enumerate(predicted["alignment"]):
        assert mean[r * last["cols"]:(r + 1) * last["cols"]] == pytest.approx(row, abs=1e-6)


def test_the_page_holds_the_document(model, tmp_path):
    file = tmp_path / "looked.html"
    done = heed("look", model, "ab </script>", "--target", "x<b", "--html", str(file))
    if done.returncode == 64 and "built without the page" in done.stderr:
        pytest.skip("heed was built without npm, so it has no page")
    assert done.returncode == 0, done.stderr
    page = file.read_text()
    assert "HEED_ATTENTION_DOCUMENT" not in page and len(page) < 400_000
    inside = page.split('id="heed-data">')[1].split("</script>")[0]
    example = json.loads(inside)["examples"][0]
    assert (example["input"], example["output"]) == ("ab </script>", "x<b")
    assert {m["weights"]["encoding"] for m in example["maps"]} == {"sqrt_u8"}


def test_svg_of_several_lines(model, tmp_path):
    done = run("look", model, "--svg", tmp_path / "l.svg", given=b"ab dog\ncd dog\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout == b""
    for number in (1, 2):
        root = xml.etree.ElementTree.parse(tmp_path / f"l-{number}.svg").getroot()
        assert root.tag.endswith("svg") and len(root) > 5


def test_the_search_tree_on_the_terminal(model):
    done = heed("look", model, "ab dog", "--beam", "4", "--tree")
    assert done.returncode == 0, done.stderr
    title, legend, root, *lines = done.stdout.splitlines()
    predicted = json.loads(run("predict", model, "--beam", "4", "--json", "--scores", given=b"ab dog\n").stdout)
    assert title.startswith(predicted["output"] + "  log p ")
    assert "kept" in legend and root == "● <s>"
    # The best output runs straight down.
    straight = [line for line in lines if line.startswith("● ")]
    assert [line.split()[1].replace("␣", " ") for line in straight] == [*predicted["tokens"], "</s>"][:len(straight)]
    assert f"#1 {predicted['score']:.3f}" in straight[-1] and done.stdout.count("#1 ") == 1
    logs = [float(line.split()[2]) for line in straight]
    assert logs == sorted(logs, reverse=True)
    assert all(line.split("←")[1].split()[0] in [*"ab␣dog"] for line in straight)
    assert sum("○" in line for line in lines) > 2 and sum("├─●" in line for line in lines) > 2
    # A long search stays narrow.
    long = heed("look", model, "ab dog", "--beam", "3", "--mean-score", "--max-length", "60", "--tree").stdout.splitlines()
    assert len(long) > 100 and max(map(len, long)) < 100, max(map(len, long))


def test_the_search_tree_as_json(model):
    beam = json.loads(heed("look", model, "ab dog", "--beam", "3", "--json", "-").stdout)["examples"][0]["beam"]
    nodes = beam["nodes"]
    assert [node["id"] for node in nodes] == list(range(len(nodes))) and nodes[0]["parent"] == -1
    for node in nodes[1:]:
        parent = nodes[node["parent"]]
        assert parent["kept"] and node["score"] <= parent["score"] and node["parent"] < node["id"]
    assert [node["rank"] for node in nodes if "rank" in node] == [1]
    assert beam["keys"] == "source" and len(base64.b64decode(beam["weights"]["data"])) == 4 * 6 * len(nodes)
    assert "beam" not in json.loads(heed("look", model, "ab dog", "--json", "-").stdout)["examples"][0]
    asked = json.loads(heed("look", model, "ab dog", "--tree", "--json", "-").stdout)["examples"][0]["beam"]["nodes"]
    assert len({node["parent"] for node in asked if node["kept"]}) == sum(node["kept"] for node in asked)  # one path


@pytest.mark.parametrize("words, code, said", [
    (["ab dog", "--tree", "--list"], 64, "--tree draws the search"),
    (["ab dog", "--tree", "--beam", "1000", "--mean-score"], 65, "a smaller --beam fits"),
    (["ab dog", "--attention", "encoder.7.self"], 64, "did you mean 'encoder.0.self'"),
    (["ab dog", "--head", "3"], 64, "--head 3: decoder.1.source has 2"),
    (["ab", "cd", "--target", "x"], 64, "--target is for one text, not for 2"),
    ([""], 65, "nothing to look at"),
])
def test_mistakes_are_named(model, words, code, said):
    done = heed("look", model, *words)
    assert (done.returncode, said in done.stderr) == (code, True), (done.returncode, done.stderr)


def test_a_line_that_cannot_be_used_does_not_stop_the_others(model):
    done = run("look", model, given=b"\nab dog\n")
    assert done.returncode == 0
    assert b"line 1: the line is empty" in done.stderr and b"log p" in done.stdout
