"""heed compare: several trainings side by side, their files, and comparisons that are interrupted."""
import csv
import html.parser
import json
import math
import signal
import subprocess

import pytest
from heed_program import CANNOT_CREATE, CONFIG, DATA, NO_INPUT, PROGRAM, USAGE, heed, on_terminal, small_recipe, text

SMALL = small_recipe(data={"examples": 200, "valid_examples": 12}, train={"batch_tokens": 128},
                     stop={"steps": 40}, validate={"every": 20, "metric": "cer", "decode": 8})
THREE = "additive,dot,local_p"


@pytest.fixture(name="recipe")
def recipe_file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return str(path)


def values(folder):
    """What does not depend on how fast the machine is."""
    rows = json.loads((folder / "compare.json").read_text())["variants"]
    lasting = ("value", "loss", "parameters", "entropy", "monotonicity", "updates")
    return [(row["name"], row["rank"], row["p"], [row["means"][key] for key in lasting]) for row in rows]


class Page(html.parser.HTMLParser):
    """Whether every element ends, and what is in the page."""
    EMPTY = {"meta"}

    def __init__(self):
        super().__init__()
        self.open, self.count, self.outside = [], {}, []

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.outside += [value for name, value in attrs if name in ("src", "href")]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(name="compared", scope="module")
def three_by_two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    (folder / "small.toml").write_text(SMALL)
    said = text("compare", str(folder / "small.toml"), "--attention", THREE + ",hierarchical", "--seeds", "2",
                "--output", str(folder / "out"))
    return folder / "out", said


def test_what_is_said(compared):
    folder, said = compared
    assert said.startswith("3 of 4 variants can be compared, with 2 seeds: 6 runs in ")
    assert said.count("seed 1: CER") == 3 and said.count("seed 2: CER") == 3
    assert "hierarchical: structure = \"hierarchical\" needs documents made of sentences" in said.replace("\n", " ")
    assert f"wrote {folder}/compare.html" in said


def test_the_files_parse(compared):
    folder, _ = compared
    page = json.loads((folder / "compare.json").read_text())
    assert page["runs_done"] == page["runs"] == 6 and page["seeds"] == [1, 2] and page["metric"] == "cer"
    names = [row["name"] for row in page["variants"]]
    assert sorted(names[:3]) == sorted(THREE.split(",")) and names[3] == "hierarchical"
    assert [row["rank"] for row in page["variants"]] == [1, 2, 3, None]
    means = [row["means"]["value"]["mean"] for row in page["variants"][:3]]
    assert means == sorted(means), "a lower error is better"
    for row in page["variants"][:3]:
        runs = [run["value"] for run in row["runs"]]
        assert row["means"]["value"]["mean"] == pytest.approx(sum(runs) / 2)
        assert row["means"]["value"]["spread"] == pytest.approx(abs(runs[0] - runs[1]) / 2 ** 0.5)
        assert row["runs"][0]["training_speed"] > 0 and row["runs"][0]["training_memory"] > 0
        assert 0 <= row["runs"][0]["entropy"] <= 5 and row["runs"][0]["decoding_speed"] > 0
    assert page["variants"][0]["p"] is None and 0 <= page["variants"][1]["p"] <= page["variants"][1]["adjusted_p"] <= 1

    with open(folder / "compare.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == names
    assert float(rows[0]["value"]) == pytest.approx(means[0]) and rows[3]["value"] == ""
    assert rows[3]["reason"].startswith("structure")

    lines = (folder / "compare.md").read_text().splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 5 and len({line.count("|") for line in table}) == 1

    found = Page()
    found.feed((folder / "compare.html").read_text())
    assert found.open == [] and found.outside == []
    assert found.count["tr"] == 4 and 1 <= found.count["svg"] <= 3


def test_every_run_is_a_training(compared):
    folder, _ = compared
    done = heed("info", str(folder / "dot" / "seed-2"), "--json")
    assert done.returncode == 0, done.stderr
    assert (folder / "dot" / "seed-2" / "log.jsonl").exists()


def test_a_used_folder_is_refused(compared, tmp_path):
    folder, _ = compared
    recipe = str(folder.parent / "small.toml")
    done = heed("compare", recipe, "--attention", "dot", "--output", str(folder))
    assert done.returncode == CANNOT_CREATE and "--resume continues it" in done.stderr
    (tmp_path / "mine").write_text("x")
    done = heed("compare", recipe, "--attention", "dot", "--output", str(tmp_path))
    assert done.returncode == CANNOT_CREATE and "is not empty" in done.stderr


def test_resuming_what_is_complete_changes_nothing(compared):
    folder, _ = compared
    before = values(folder)
    said = text("compare", "--resume", "--output", str(folder))
    assert "seed 1:" not in said and values(folder) == before


def test_an_interrupted_comparison_is_resumed(compared, tmp_path, recipe):
    whole, _ = compared
    folder = tmp_path / "out"
    slow = ["compare", recipe, "--attention", THREE + ",hierarchical", "--seeds", "2", "--output", str(folder)]
    with subprocess.Popen([PROGRAM, *slow], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if line.startswith("2 of 6"):
                process.send_signal(signal.SIGINT)
                break
        rest = process.stdout.read()
        assert process.wait() == 0, process.stderr.read()
    assert f"To resume: heed compare --resume --output {folder}" in rest
    done = json.loads((folder / "compare.json").read_text())["runs_done"]
    assert 2 <= done < 6
    said = text("compare", "--resume", "--output", str(folder))
    assert said.count("CER") == 6 - done + 1  # a line for each run, and the heading of the table
    assert values(folder) == values(whole)


def test_other_keys(recipe, tmp_path):
    folder = tmp_path / "out"
    text("compare", recipe, "--over", "model.width=6,8", "--over", "model.cell=gru,lstm", "--set", "stop.steps=3",
         "--set", "validate.every=3", "--set", "train.warmup=1", "--output", str(folder))
    rows = json.loads((folder / "compare.json").read_text())["variants"]
    assert sorted(row["name"] for row in rows) == [
        "model.width=6, model.cell=gru", "model.width=6, model.cell=lstm", "model.width=8, model.cell=gru",
        "model.width=8, model.cell=lstm"]
    assert len({row["means"]["parameters"]["mean"] for row in rows}) == 4


def test_a_warning_is_given_once(recipe, tmp_path):
    done = heed("compare", recipe, "--attention", "dot,additive", "--set", "stop.steps=8", "--seeds", "2", "--output",
                str(tmp_path / "out"))
    assert done.returncode == 0 and done.stderr.count("before the first validation") == 1


def test_minutes_limit_every_run(tmp_path):
    folder = tmp_path / "out"
    done = heed("compare", "reverse", "--attention", "dot,additive", "--minutes", "0.005", "--set", "data.examples=200",
                "--set", "data.valid_examples=10", "--set", "model.width=8", "--output", str(folder))
    assert done.returncode == 0, done.stderr  # on a busy machine it may say that it was too short for the warm-up
    rows = json.loads((folder / "compare.json").read_text())["variants"]
    assert all(0.3 <= row["means"]["seconds"]["mean"] < 10 for row in rows)


def test_labels(tmp_path):
    lines = [f"a {word} thing number {i}\t{label}" for i in range(40) for word, label in (("good", "yes"), ("bad", "no"))]
    (tmp_path / "texts.tsv").write_text("\n".join(lines) + "\n")
    folder = tmp_path / "out"
    text("compare", str(tmp_path / "texts.tsv"), "--set", "model.task=classification", "--set", "model.width=8",
         "--attention", "structured,additive,local_p", "--set", "stop.steps=6", "--output", str(folder))
    rows = json.loads((folder / "compare.json").read_text())["variants"]
    assert {row["name"] for row in rows if row["rank"]} >= {"structured", "additive"}
    assert json.loads((folder / "compare.json").read_text())["metric"] == "accuracy"
    assert all(row["reason"] for row in rows if not row["rank"])


def test_labels_by_f1(tmp_path):
    """Macro F1 knows all labels, also those that a variant never gave."""
    lines = [f"{word} {i}\t{label}" for i in range(20) for word, label in (("a", "x"), ("b", "y"), ("c", "z"))]
    (tmp_path / "texts.tsv").write_text("\n".join(lines) + "\n")
    folder = tmp_path / "out"
    text("compare", str(tmp_path / "texts.tsv"), "--set", "model.task=classification", "--set", "model.width=8", "--attention",
         "dot,additive", "--set", "stop.steps=4", "--set", "validate.metric=macro_f1", "--output", str(folder))
    page = json.loads((folder / "compare.json").read_text())
    assert page["metric"] == "macro_f1" and page["variants"][1]["p"] is not None


@pytest.mark.parametrize("kind, names", [("rnn", "key_value,additive"), ("transformer", "scaled_dot,dot")])
def test_running_text(tmp_path, kind, names):
    (tmp_path / "story.txt").write_text("the cat sat on the mat.\na dog ran in the park.\n" * 40)
    folder = tmp_path / "out"
    text("compare", str(tmp_path / "story.txt"), "--attention", names + ",local_p", "--output", str(folder),
         *[word for key in ("model.width=8", f"model.kind={kind}", "model.context=32", "model.layers=1", "stop.steps=6",
                            "validate.every=3", "train.warmup=1", "data.documents=line", "model.task=language_model") for word in ("--set", key)])
    page = json.loads((folder / "compare.json").read_text())
    rows = {row["name"]: row for row in page["variants"]}
    assert page["metric"] == "perplexity" and not page["higher_is_better"]
    for name in names.split(","):
        lines = json.loads((folder / name / "seed-1" / "result.json").read_text())["statistics"]
        mean = sum(nll for nll, _ in lines) / sum(tokens for _, tokens in lines)
        assert len(lines) > 2 and rows[name]["means"]["value"]["mean"] == pytest.approx(math.exp(mean), rel=1e-5), name
    assert [row["p"] is None for row in page["variants"] if row["rank"]] == [True] + [False] * (page["runs"] - 1)


@pytest.mark.parametrize("arguments, code, says", [
    ((), USAGE, "heed compare RECIPE"),
    (("--resume",), USAGE, "heed compare --resume --output FOLDER"),
    (("nowhere.toml",), NO_INPUT, "there is no recipe or data 'nowhere.toml'"),
    (("RECIPE", "--attention", "aditive"), USAGE, "'additive'"),
    (("RECIPE", "--attention", "additive+sparsmax"), USAGE, "'sparsemax'"),
    (("RECIPE", "--over", "model.widht=8"), CONFIG, "did you mean 'model.width'?"),
    (("RECIPE", "--over", "model.cell=gruu"), CONFIG, "gru"),
    (("RECIPE", "--over", "train.seed=1,2"), USAGE, "--seeds N"),
    (("RECIPE", "--attention", "hierarchical"), CONFIG, "none of these"),
    (("RECIPE", "--seeds", "0"), USAGE, "--seeds"),
    (("RECIPE", "--minutes", "-1"), USAGE, "--minutes"),
    (("--resume", "--output", "OUT"), NO_INPUT, "plan.json"),
    (("--resume", "--output", "OUT", "--attention", "dot"), USAGE, "need the recipe too"),
    (("RECIPE", "--resume", "--output", "OUT"), NO_INPUT, "plan.json"),
])
def test_wrong_usage(recipe, tmp_path, arguments, code, says):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("x")
    done = heed("compare", *[{"RECIPE": recipe, "OUT": str(tmp_path / "out")}.get(a, a) for a in arguments])
    assert done.returncode == code, done.stderr
    assert says in done.stderr and done.stderr.startswith("heed: ")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["mine.txt"]


def test_a_damaged_result_is_named(compared, tmp_path, recipe):
    folder = tmp_path / "out"
    text("compare", recipe, "--attention", "dot", "--output", str(folder))
    result = folder / "dot" / "seed-1" / "result.json"
    result.write_text(result.read_text()[:100])
    done = heed("compare", "--resume", "--output", str(folder))
    assert done.returncode == DATA and str(result) in done.stderr and "Remove it" in done.stderr
    result.unlink()
    text("compare", "--resume", "--output", str(folder))
    (row,) = json.loads((folder / "compare.json").read_text())["variants"]
    assert row["means"]["value"] and row["means"]["training_speed"] is None  # there was nothing left to train


def test_on_a_terminal_the_table_is_redrawn(recipe, tmp_path):
    said = on_terminal("compare", recipe, "--attention", "dot,additive", "--output", str(tmp_path / "out"),
                       COLUMNS="100")
    assert "run 2 of 2: additive, seed 1" in said and "\033[J" in said
    assert "CER" in said.rsplit("\033[J", 1)[1], "at the end the table stays"


def test_a_limit_of_time_gives_each_the_same_number_of_updates(recipe, tmp_path):
    """A busy moment harms nobody; unless the same time is asked for."""
    for same, words in (("updates", []), ("time", ["--same", "time"])):
        done = heed("compare", recipe, "--attention", "additive,dot", "--minutes", "0.001", "--set", "stop.steps=0",
                    "--threads", "1", "--output", str(tmp_path / same), *words)
        assert done.returncode == 0, done.stderr
        found = json.loads((tmp_path / same / "plan.json").read_text())
        assert ("minutes = 0.001" in found["recipe"]) == (same == "time")
        if same == "updates":
            rows = json.loads((tmp_path / same / "compare.json").read_text())["variants"]
            assert len({row["means"]["updates"]["mean"] for row in rows}) == 1, rows
    done = heed("compare", recipe, "--same", "weight")
    assert done.returncode == USAGE and "updates" in done.stderr
