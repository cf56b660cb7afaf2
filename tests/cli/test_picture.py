# slow: 10 s
"""Pictures: drawn, trained on, asked, looked at."""
import base64
import json
import os
import struct

import pytest
from heed_program import CONFIG, DATA, answers, from_json, heed, run, text
from picture_model import png
from picture_model import train_on_pictures as train


def size_of(path):
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", data[16:24])


COLOURS = {"red": (200, 20, 20), "green": (20, 200, 20), "blue": (20, 20, 200)}


@pytest.fixture(name="painted", scope="module")
def painted_pictures(tmp_path_factory):
    """A table of pictures of one colour each, and a model that names it."""
    folder = tmp_path_factory.mktemp("painted")
    lines = []
    for i in range(60):
        name = list(COLOURS)[i % 3]
        shade = [min(255, max(0, value + i % 7 - 3)) for value in COLOURS[name]]
        (folder / f"{i}.png").write_bytes(png(5 + i % 4, 6, shade))
        lines.append(f"{i}.png\twhich colour\t{name}\n")
    (folder / "table.tsv").write_text("".join(lines))
    done = train(folder / "table.tsv", folder / "model", "stop.epochs=30", "train.batch_tokens=128",
                 "train.learning_rate=0.01")
    assert done.returncode == 0, done.stderr
    return folder, str(folder / "model"), done.stdout


def test_a_table_of_pictures_is_learned(painted):
    folder, model, said = painted
    assert "data.question_column = 2" in said and "data.target_tokens = lines" in said
    found = from_json("evaluate", model, str(folder / "table.tsv"), "--json")
    assert found["metrics"][0]["score"] > 95
    (folder / "other.png").write_bytes(png(3, 40, (215, 5, 5)))
    assert answers("predict", model, given=f"{folder}/other.png\twhich colour\n\n") == ["red", ""]
    assert "image" in text("info", model)


def test_json_has_the_map_and_the_weights(painted):
    folder, model, _ = painted
    done = run("predict", model, "--json", "--alignments=matrix", "--nbest", "2",
               given=f"{folder}/1.png\twhich colour\n".encode())
    found = json.loads(done.stdout)
    assert found["output"] == "green" and found["map"] == [4, 4] and found["source_tokens"] == ["which", "colour"]
    assert len(found["outputs"]) == 2
    rows = found["alignment"]
    assert len(rows) == 1 and len(rows[0]) == 16 and abs(sum(rows[0]) - 1) < 1e-4


def test_the_overlay(painted, tmp_path):
    folder, model, _ = painted
    lines = f"{folder}/1.png\twhich colour\nnone.png\twhich colour\n{folder}/2.png\twhich colour\n"
    done = run("predict", model, "--overlay", tmp_path / "seen", given=lines.encode())
    assert done.returncode == 0 and done.stdout == b"green\n\nblue\n" and b"line 2: 'none.png'" in done.stderr
    assert sorted(os.listdir(tmp_path / "seen")) == ["1.png", "3.png"]
    width, height = size_of(tmp_path / "seen" / "1.png")
    assert (width, height) == (2 * 192 + 8, 192)


def test_cells_over_the_picture(painted, tmp_path):
    folder, model, _ = painted
    line = f"{folder}/1.png\twhich colour\n".encode()
    done = run("predict", model, "--pictures", tmp_path, given=line)
    assert (done.returncode, done.stdout) == (0, b"green\n"), done.stderr
    drawing = (tmp_path / "1.svg").read_text()
    assert ">green</text>" in drawing and drawing.count("<use") == 2 and drawing.count('stroke="#ff8c00"') == 1
    assert drawing.count("data:image/png;base64,") == 1
    done = run("look", model, "--svg", tmp_path / "l.svg", given=line)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "l.svg").read_text().count("<use") == 3  # and for the end of the output
    done = run("predict", model, "--alignments=picture", given=line)
    assert done.returncode == 64 and b"--pictures FOLDER writes files" in done.stderr


def test_scores(painted):
    folder, model, _ = painted
    (folder / "some.tsv").write_text("1.png\twhich colour\tgreen\n1.png\twhich colour\tred\n1.png\n")
    done = heed("score", model, str(folder / "some.tsv"))
    green, red, none = done.stdout.split("\n")[:3]
    assert float(green) > float(red) and none == "" and "columns instead of at least 3" in done.stderr


def test_broken_pictures_are_named_and_left_out(painted, tmp_path):
    folder, model, _ = painted
    good = (folder / "1.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(good[:-20])
    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "huge.png").write_bytes(good[:16] + struct.pack(">II", 60000, 60000) + good[24:])
    names = ["cut.png", "text.png", "huge.png", "gone.png"]
    lines = [f"{folder}/{i}.png\twhich colour\t{list(COLOURS)[i % 3]}\n" for i in range(30)]
    lines += [f"{name}\twhich colour\tred\n" for name in names]
    (tmp_path / "table.tsv").write_text("".join(lines))
    done = train(tmp_path / "table.tsv", tmp_path / "model", "stop.steps=2")
    assert done.returncode == 0, done.stderr
    assert "4 of 34 lines left out" in done.stderr and "unreadable picture" in done.stderr
    for name in names:
        assert name in done.stderr
    said = run("predict", model, given="".join(f"{tmp_path}/{n}\twhich colour\n" for n in names).encode())
    assert said.returncode == 0 and said.stdout == b"\n\n\n\n"
    for line, reason in enumerate(["cut short", "neither a PNG nor a JPEG", "CRC error", "cannot open"], 1):
        assert f"line {line}: ".encode() in said.stderr and reason.encode() in said.stderr, said.stderr


def inside(data):
    return "data:image/png;base64," + base64.b64encode(data).decode()


def test_pictures_inside_a_line(painted, tmp_path):
    folder, model, _ = painted
    data = (folder / "1.png").read_bytes()
    files = f"{folder}/1.png\twhich colour\n"
    lines = f"{inside(data)}\twhich colour\n"
    assert answers("predict", model, "--scores", given=lines) == answers("predict", model, "--scores", given=files)
    (folder / "inside.tsv").write_text(f"{inside(data)}\twhich colour\tgreen\n1.png\twhich colour\tgreen\n")
    first, second = heed("score", model, str(folder / "inside.tsv")).stdout.split()
    assert first == second
    assert run("predict", model, "--overlay", tmp_path, given=lines.encode()).returncode == 0
    assert size_of(tmp_path / "1.png")
    looked = [json.loads(run("look", model, "--json", "-", "--beam", "2", given=line.encode()).stdout)["examples"][0]
              for line in (files, lines)]
    assert looked[0]["picture"] == looked[1]["picture"] and looked[0]["maps"] == looked[1]["maps"]
    assert looked[1]["input"].startswith("data:image/png;base64, ") and len(looked[1]["input"]) < 80
    assert looked[0]["beam"]["keys"] == "cells" and looked[0]["beam"] == looked[1]["beam"]
    wrong = run("predict", model, given=f"{inside(data)[:-3]}\tx\ndata:image/gif;base64,AAAA\tx\n{lines}".encode())
    assert wrong.returncode == 0 and wrong.stdout == b"\n\ngreen\n"
    assert b"line 1: 'data:image/png;base64, " in wrong.stderr and b"not a multiple of 4" in wrong.stderr
    assert b"line 2: " in wrong.stderr and b"begins with data:image/png;base64," in wrong.stderr


def test_drawn_scenes(tmp_path):
    said = text("scenes", str(tmp_path / "drawn"), "--count", "5", "--seed", "3")
    assert said.startswith("5 pictures and")
    table = (tmp_path / "drawn" / "scenes.tsv").read_text().splitlines()
    assert len(table) == 5
    for line in table:
        name, _, _, place = line.split("\t")
        assert size_of(tmp_path / "drawn" / name) == (96, 96) and (place == "-" or 0 <= int(place) < 36)
    text("scenes", str(tmp_path / "captioned"), "--count", "3", "--captions")
    assert " left of " in (tmp_path / "captioned" / "scenes.tsv").read_text().splitlines()[0].split("\t")[1]
    # The same picture by its name and as a file.
    model = tmp_path / "model"
    recipe = tmp_path / "r.toml"
    recipe.write_text('[data]\ntask = "scene_captions"\nexamples = 40\nvalid_examples = 5\n[stop]\nsteps = 5\n')
    done = train(recipe, model)
    assert done.returncode == 0, done.stderr
    number = table[0].split("\t")[0][len("scene-"):-len(".png")]
    by_name, as_file = (run("predict", model, "--max-length", "5", "--json", given=line.encode()).stdout
                        for line in (f"scene:{number}", f"{tmp_path}/drawn/scene-{number}.png"))
    assert json.loads(by_name)["log_probability"] == json.loads(as_file)["log_probability"]


@pytest.mark.parametrize("content, says", [
    ("one.png\n" * 3, "line 1 has 1 column"),
    ("a.png\twhat\tred\nb.png\twhat\tblue\n", "no line is left for training"),
])
def test_tables_that_cannot_be_used(tmp_path, content, says):
    (tmp_path / "x.tsv").write_text(content)
    done = train(tmp_path / "x.tsv", tmp_path / "out")
    assert done.returncode == DATA and says in done.stderr, done.stderr


@pytest.mark.parametrize("setting, says", [
    ("model.picture_size=9", "cannot be halved"),
    ("data.question_column=1", "are the same"),
    ("model.kind=transformer", "use rnn"),
    ("data.task=dates", "data.task"),
])
def test_recipes_with_mistakes(painted, tmp_path, setting, says):
    folder, _, _ = painted
    done = train(folder / "table.tsv", tmp_path / "out", setting)
    assert done.returncode == CONFIG and says in done.stderr, done.stderr


def test_what_pictures_do_not_have(painted):
    folder, model, _ = painted
    done = run("predict", model, given=f"{folder}/1.png\n".encode())
    assert b"there is no question" in done.stderr
    assert "reads pictures" in heed("predict", model, "--copy-unknown").stderr


def test_ways_to_decode(painted, tmp_path):
    folder, model, _ = painted
    asked = f"{folder}/0.png\twhich colour\n{folder}/1.png\twhich colour\n"
    assert answers("predict", model, given=asked) == ["red", "green"]
    assert answers("predict", model, "--stream", given=asked) == ["red", "green"]
    assert all("blue" in line.split() for line in answers("predict", model, "--must", "blue", given=asked))
    assert "red" not in answers("predict", model, "--must-not", "red", given=asked)
    assert all(line.startswith("blue") for line in answers("predict", model, "--prefix", "blue", given=asked))
    done = run("predict", model, "--must", "pink", given=asked.encode())
    assert done.returncode == 64 and b"--must: the model cannot write 'pink'" in done.stderr
    # Another size of pictures: each model sees its own.
    done = train(folder / "table.tsv", tmp_path / "other", "stop.epochs=2", "model.picture_size=12")
    assert done.returncode == 0, done.stderr
    other = tmp_path / "other"
    assert len(answers("predict", model, "--ensemble", other, "--beam", 2, "--alignments", given=asked)) == 2
    alone = run("score", model, folder / "table.tsv").stdout.split()
    twice = run("score", model, folder / "table.tsv", "--ensemble", model).stdout.split()
    assert len(alone) == 60 and all(abs(float(a) - float(b)) < 1e-3 for a, b in zip(alone, twice))
    assert run("score", model, folder / "table.tsv", "--ensemble", other).returncode == 0
