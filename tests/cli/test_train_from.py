"""heed train --from: keys follow from the model before they are checked. And what data is taken for."""
import pytest
from heed_program import CONFIG, DATA, heed

SMALL = ["model.width=8", "stop.steps=2", "validate.longest=8"]


def train(data, folder, *settings, more=()):
    return heed("train", str(data), "--output", str(folder), "--threads", "1", *more,
                *[word for key in settings for word in ("--set", key)])


@pytest.fixture(name="files", scope="module")
def data_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("from")
    (folder / "pairs.tsv").write_text("".join(f"{a}-{b}\t{b}{a}\n" for a in range(10, 20) for b in range(40, 46)))
    (folder / "links").write_text("0-0 1-1\n" * 60)
    lines = [f"what a film it was, said number {i}\t{'good' if i % 2 else 'bad'}\n" for i in range(60)]
    (folder / "labels.tsv").write_text("".join(lines))
    (folder / "few.tsv").write_text("".join(lines[:12]))  # too few to look like labels
    return folder


@pytest.mark.parametrize("data, of_model, tuned_on, given", [
    ("pairs.tsv", ["model.kind=transformer", "model.decoder_layers=2", "attention.heads=2"], "pairs.tsv",
     ["train.align_layer=1", "data.alignments=LINKS"]),
    ("pairs.tsv", ["model.kind=transformer", "attention.heads=2"], "pairs.tsv",
     ["train.align_head=1", "data.alignments=LINKS"]),
    ("pairs.tsv", ["attention.score=mlp", "attention.depth=2"], "pairs.tsv", ["attention.depth=2"]),
    ("labels.tsv", ["attention.structure=structured"], "labels.tsv", ["model.penalty=0.5"]),
    ("labels.tsv", ["model.pool=mean"], "few.tsv", []),
    ("labels.tsv", ["model.pool=mean"], "few.tsv", ["model.pool=mean"]),
    ("labels.tsv", ["model.kind=convolution"], "few.tsv", []),
])
def test_what_agrees_with_the_model_is_right(files, tmp_path, data, of_model, tuned_on, given):
    done = train(files / data, tmp_path / "model", *SMALL, *of_model)
    assert done.returncode == 0, done.stderr
    given = [key.replace("LINKS", str(files / "links")) for key in given]
    done = train(files / tuned_on, tmp_path / "tuned", "stop.steps=1", *given, more=["--from", str(tmp_path / "model")])
    assert done.returncode == 0, done.stderr
    # The command that resumes names the same settings, but not the model.
    done = train(files / tuned_on, tmp_path / "tuned", "stop.steps=2", *given, more=["--resume"])
    assert done.returncode == 0, done.stderr


def test_what_does_not_is_refused(files, tmp_path):
    assert train(files / "labels.tsv", tmp_path / "model", *SMALL, "model.pool=mean").returncode == 0
    for given, says in (("model.pool=max", 'model.pool is "max", but'), ("model.task=image", 'model.task is "image"'),
                        ("model.tied=all", "unknown key 'model.tied'")):
        done = train(files / "few.tsv", tmp_path / "tuned", given, more=["--from", str(tmp_path / "model")])
        assert done.returncode == CONFIG and says in done.stderr, done.stderr
        assert not (tmp_path / "tuned").exists()
    done = train(files / "links", tmp_path / "tuned", more=["--from", str(tmp_path / "model")])
    assert done.returncode == DATA and "a text and a label" in done.stderr


def test_what_is_seen_is_said(files, tmp_path):
    done = train(files / "labels.tsv", tmp_path / "labels", *SMALL)
    assert "column 2 has 2 different values on the first 60 lines, and column 1 is text: learning labels" in done.stderr
    assert '"event":"seen"' in (tmp_path / "labels" / "log.jsonl").read_text().replace(" ", "")
    (tmp_path / "pictures.tsv").write_text("".join(f"scene:{i}\tred number {i}\n" for i in range(20)))
    small = [*SMALL, "model.picture_size=4", "model.picture_layers=1"]
    done = train(tmp_path / "pictures.tsv", tmp_path / "pictures", *small)
    assert done.returncode == 0, done.stderr
    assert "column 1 names pictures: learning words about pictures" in done.stderr
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(f"[data]\ntsv = '{files / 'labels.tsv'}'\n")
    done = train(recipe, tmp_path / "doubted", *SMALL)
    assert 'as for model.task = "classification", but model.task is not set' in done.stderr, done.stderr
