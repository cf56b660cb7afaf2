"""heed look: on the terminal and in files."""
import base64
import json
import struct
import xml.etree.ElementTree

import pytest
from heed_program import SOURCE, heed, run
from png_file import pixels_of


NO_LETTER = "\ue123"  # for private use: no font has it


@pytest.fixture(name="model", scope="module")
def small_transformer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("look")
    (folder / "pairs.tsv").write_text("".join(f"{a}{b} dog\t{b}{a} hund\n" for a in "abcdef" for b in "abcdef")
                                      + 6 * f"{NO_LETTER}x\tx{NO_LETTER}\n")
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


def test_a_part_of_it(model, tmp_path):
    """--attention, --head and --rows choose what files hold."""
    whole = json.loads(heed("look", model, "ab dog", "--target", "ba hund", "--json", "-").stdout)["examples"][0]
    done = heed("look", model, "ab dog", "--target", "ba hund", "--json", "-", "--attention", "decoder.1.source", "--head", "2",
                "--rows", "2-4")
    assert done.returncode == 0, done.stderr
    found, = json.loads(done.stdout)["examples"][0]["maps"]
    full = whole["maps"][-1]
    assert full["name"] == found["name"] == "decoder.1.source" and found["layer"] == full["layer"] == 1
    assert (found["heads"], found["rows"], found["cols"]) == (1, 3, full["cols"])
    bytes_of_row = 4 * full["cols"]
    all_heads = base64.b64decode(full["weights"]["data"])
    at = (full["rows"] + 1) * bytes_of_row
    assert base64.b64decode(found["weights"]["data"]) == all_heads[at:at + 3 * bytes_of_row]
    lines = heed("look", model, "ab dog", "--target", "ba hund", "--rows", "2-4").stdout.splitlines()
    assert [line.split()[0] for line in lines[3:]] == ["a", "␣", "h"]
    svg = tmp_path / "rows.svg"
    assert heed("look", model, "ab dog", "--target", "ba hund", "--rows", "2-4", "--svg", str(svg)).returncode == 0
    for rows in ("0-2", "3-2", "x", "2-", "-"):
        refused = heed("look", model, "ab dog", "--rows", rows)
        assert refused.returncode == 64 and "--rows" in refused.stderr, refused.stderr


def test_too_much_to_show(model, tmp_path):
    """Refused before it is computed, with what to do."""
    text = "ab dog " * 60
    for arguments in (["--html", str(tmp_path / "a.html")], ["--json", str(tmp_path / "a.json")], []):
        done = heed("look", model, text, "--target", text, "--max-weights", "500000", *arguments)
        assert done.returncode == 65 and "--max-weights" in done.stderr and "--attention" in done.stderr, done.stderr
        assert not (tmp_path / "a.html").exists() and not (tmp_path / "a.json").exists()
    done = heed("look", model, text, "--target", text, "--max-weights", "500000", "--attention", "decoder.0.source", "--json",
                str(tmp_path / "a.json"))
    assert done.returncode == 0, done.stderr
    # Lines of one page share it.
    done = run("look", model, "--max-weights", "20000", "--json", "-", given=b"ab dog ab dog ab dog\n" * 30)
    assert b"--max-weights" in done.stderr and 0 < len(json.loads(done.stdout)["examples"]) < 30
    long = "a" * 1100
    done = heed("look", model, long, "--target", long, "--svg", str(tmp_path / "a.svg"), "--attention", "decoder.0.source")
    assert done.returncode == 65 and "cells" in done.stderr, done.stderr
    assert heed("look", model, "a" * 5000).returncode == 65


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


def drawn_png(*arguments, **environment):
    """The finished process; skips where heed draws no PNG."""
    done = heed(*arguments, **environment)
    if done.returncode == 64 and "built without Pango" in done.stderr:
        pytest.skip("heed was built without Pango, so it draws no PNG")
    return done


def test_png_is_the_drawing_of_svg(model, tmp_path):
    svg, png = tmp_path / "l.svg", tmp_path / "l.png"
    done = drawn_png("look", model, "ab dog", "--target", "ba hund", "--svg", str(svg), "--png", str(png),
                     "--scale", "3")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    root = xml.etree.ElementTree.parse(svg).getroot()
    width, height, pixel = pixels_of(png.read_bytes())
    assert (width, height) == (3 * int(root.get("width")), 3 * int(root.get("height")))
    cells = [one for one in root if one.get("class") == "on"]
    assert len(cells) > 10
    for cell in cells:
        x, y = (3 * (int(cell.get(a)) + int(cell.get(size)) // 2) for a, size in (("x", "width"), ("y", "height")))
        share = float(cell.get("fill-opacity"))
        wanted = [round(share * on + (1 - share) * frame) for on, frame in zip((0xB3, 0x26, 0x1E), (0xF4, 0xF6, 0xF9))]
        assert pixel(x, y) == pytest.approx(wanted, abs=3), (x, y)
    # Every label leaves ink near its anchor.
    labels = [one for one in root if one.tag.endswith("text")]
    assert len(labels) > 15
    for label in labels:
        x, y = 3 * int(label.get("x")), 3 * int(label.get("y"))
        near = [sum(pixel(min(max(x + dx, 0), width - 1), y + dy)) for dx in range(-21, 22) for dy in range(-24, 9)]
        assert min(near) < 3 * 160, label.text


def test_png_of_several_lines(model, tmp_path):
    drawn_png("look", model, "ab dog", "--png", str(tmp_path / "one.png"))
    done = run("look", model, "--png", tmp_path / "l.png", given=b"ab dog\ncd dog\n")
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    assert (tmp_path / "l-1.png").read_bytes() == (tmp_path / "one.png").read_bytes()
    assert pixels_of((tmp_path / "l-2.png").read_bytes())[0] > 100


def test_letters_without_a_font_are_reported(model, tmp_path):
    done = drawn_png("look", model, NO_LETTER + "ab", "--png", str(tmp_path / "l.png"))
    assert done.returncode == 0
    assert f"no installed font has all letters of '{NO_LETTER}'" in done.stderr and done.stderr.count("heed:") == 1
    nothing = tmp_path / "fonts.conf"
    nothing.write_text("<fontconfig></fontconfig>")
    done = drawn_png("look", model, "ab", "--png", str(tmp_path / "none.png"), FONTCONFIG_FILE=str(nothing))
    assert done.returncode == 64 and "no font is installed" in done.stderr and "--svg" in done.stderr, done.stderr
    assert not (tmp_path / "none.png").exists()


def test_a_png_that_is_too_large_is_refused(model, tmp_path):
    done = drawn_png("look", model, 150 * "ab ", "--target", 150 * "ba ", "--scale", "16", "--png", str(tmp_path / "l.png"))
    assert done.returncode == 65 and "too large: a smaller --scale" in done.stderr, done.stderr


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


def test_look_at_two_texts():
    model = SOURCE / "tests/compat/0.1/label_two_texts/checkpoint"
    done = heed("look", str(model), "the cat runs fast\ta dog sleeps here and there now", "--list")
    assert done.returncode == 0, done.stderr
    assert "1 x 7" in done.stdout and "7 x 4" in done.stdout


@pytest.fixture(name="training", scope="module")
def training_with_checkpoints(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learned")
    (folder / "pairs.tsv").write_text("".join(f"{a}{b}\t{b}{a}\n" for a in "abcdef" for b in "abcdef"))
    done = heed("train", str(folder / "pairs.tsv"), "--output", str(folder / "model"), "--threads", "1",
                *[word for key in ["model.kind=rnn", "model.width=16", "stop.steps=12", "validate.every=4",
                                   "output.keep_last=9"] for word in ("--set", key)])
    assert done.returncode == 0, done.stderr
    return str(folder / "model")


def test_every_checkpoint_of_a_training(training, tmp_path):
    file = tmp_path / "learned.json"
    done = heed("look", training, "ab", "cd", "--target", "ba", "--checkpoints", "--json", str(file))
    assert done.returncode != 0 and "--target is for one text" in done.stderr
    done = heed("look", training, "ab", "cd", "--checkpoints", "--json", str(file))
    assert done.returncode == 0, done.stderr
    document = json.loads(file.read_text())
    names = ["step-000004", "step-000008", "step-000012"]
    assert [model["name"] for model in document["models"]] == [f"model, {name}" for name in names]
    assert [(example["model"], example["input"]) for example in document["examples"]] == [
        (model, text) for model in range(3) for text in ("ab", "cd")]
    for number, name in enumerate(names):  # each as it is alone
        alone = tmp_path / f"{name}.json"
        assert heed("look", training, "ab", "--checkpoint", name, "--json", str(alone)).returncode == 0
        assert json.loads(alone.read_text())["examples"][0]["maps"] == document["examples"][2 * number]["maps"]


def test_checkpoints_on_the_terminal_and_as_pictures(training, tmp_path):
    said = heed("look", training, "ab", "--target", "ba", "--checkpoints").stdout
    assert [line for line in said.splitlines() if line.startswith("model, ")] == [
        "model, step-000004", "model, step-000008", "model, step-000012"]
    heed("look", training, "ab", "--checkpoints", "--svg", str(tmp_path / "a.svg"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a-1.svg", "a-2.svg", "a-3.svg"]


def test_a_single_model_has_no_checkpoints_to_go_through(training, tmp_path):
    one = tmp_path / "one.heed"
    assert heed("export", training, "--output", str(one)).returncode == 0
    done = heed("look", str(one), "ab", "--checkpoints")
    assert done.returncode != 0 and "one model, not a training's folder" in done.stderr
