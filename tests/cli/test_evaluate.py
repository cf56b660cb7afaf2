"""heed evaluate: the values of sacreBLEU, for files and for what a model says."""
import json

import pytest
from heed_program import DATA, NO_INPUT, SOURCE, USAGE, answers, heed, run, text, train_small

GOLDEN = json.loads((SOURCE / "tests" / "golden" / "metrics.json").read_text())
# What the command line can ask for of all that is in the file.
ARGUMENTS = {"bleu": ("bleu",), "bleu-none": ("bleu", "--tokenise", "none"), "bleu-char": ("bleu", "--tokenise", "char"),
             "bleu-intl": ("bleu", "--tokenise", "intl"), "bleu-small": ("bleu", "--lowercase"),
             "bleu-small-intl": ("bleu", "--lowercase", "--tokenise", "intl"), "chrf": ("chrf",),
             "chrf-small": ("chrf", "--lowercase"), "chrf++": ("chrf++",), "ter": ("ter",)}


def lines(path, texts):
    path.write_text("".join(t + "\n" for t in texts))
    return str(path)


def one_line(case):
    """Every text is one line of a file, and every segment has as many references as the others."""
    texts = [t for hypothesis, references in case["segments"] for t in (hypothesis, *references)]
    return not any(c in t for t in texts for c in "\n\r") and len({len(r) for _, r in case["segments"]}) == 1


@pytest.mark.parametrize("case", [c for c in GOLDEN["cases"] if one_line(c)], ids=lambda c: c["name"])
def test_golden_values(tmp_path, case):
    hypotheses = lines(tmp_path / "h", [s[0] for s in case["segments"]])
    references = [lines(tmp_path / f"r{i}", refs) for i, refs in enumerate(zip(*[s[1] for s in case["segments"]]))]
    for name, (metric, *more) in ARGUMENTS.items():
        if name not in case["scores"]:
            continue
        expected = case["scores"][name]
        files = ("--hypotheses", hypotheses, "--references", *references)
        said = json.loads(text("evaluate", *files, "--metric", metric, *more, "--json"))
        assert said["segments"] == len(case["segments"])
        assert said["metrics"][0]["score"] == pytest.approx(expected["value"], rel=1e-9, abs=1e-9)
        if "line" in expected and "settings" in expected:
            title, value = expected["line"].split(" = ", 1)
            printed = text("evaluate", *files, "--metric", metric, *more).splitlines()[-1]
            assert printed.startswith(f"{title}|nrefs:{len(references)}|{expected['settings']}|version:heed-")
            assert printed.endswith(f" = {value}")


def test_enough_of_the_golden_cases_are_seen():
    assert sum(map(one_line, GOLDEN["cases"])) >= 12
    assert set(ARGUMENTS) <= set(GOLDEN["settings"])


@pytest.fixture(name="files")
def some_files(tmp_path):
    references = ["the cat sat on the mat", "a dog", "Grün ist die Heide", "one two three four five"]
    lines(tmp_path / "r", references)
    lines(tmp_path / "good", references)
    lines(tmp_path / "bad", ["the cat", "dog", "grün ist die heide", "one two three four"])
    lines(tmp_path / "bpe", ["the c@@ at sat on the m@@ at", "a dog", "Gr@@ ün ist die Hei@@ de", "one two three four fi@@ ve"])
    return tmp_path


def scores(files, hypotheses, *more):
    said = json.loads(text("evaluate", "--hypotheses", str(files / hypotheses), "--references", str(files / "r"), "--json",
                           "--metric", "exact,wer,per,cer", *more))
    return {m["metric"]: m["score"] for m in said["metrics"]}


def test_error_rates(files):
    assert scores(files, "good") == {"exact": 100, "wer": 0, "per": 0, "cer": 0}
    # 4 + 1 + 2 + 1 edits of 6 + 2 + 4 + 5 words.
    bad = scores(files, "bad")
    assert bad["exact"] == 0 and bad["wer"] == 100 and bad["per"] == pytest.approx(100 * 8 / 17)
    small = scores(files, "bad", "--lowercase")
    assert small["exact"] == 25 and small["per"] == pytest.approx(100 * 6 / 17)


def test_bpe_is_joined(files):
    assert scores(files, "bpe")["exact"] == 25
    assert scores(files, "bpe", "--remove-bpe") == scores(files, "good")


def test_table_and_lines(files):
    said = text("evaluate", "--hypotheses", str(files / "bad"), "--references", str(files / "r"), "--confidence")
    table, quoted = said.split("\n\n")
    assert table.split("\n")[0].split()[:2] == ["metric", "score"] and "95 % between" in table
    assert [line.split()[0] for line in table.split("\n")[1:] if line[2] != " "] == ["BLEU", "chrF2"]
    bleu, chrf = quoted.strip().split("\n")
    assert bleu.startswith("BLEU|nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:heed-")
    assert chrf.startswith("chrF2|nrefs:1|") and "(μ = " in bleu and "±" in bleu
    assert max(map(len, table.splitlines())) <= 80


@pytest.mark.parametrize("test", [(), ("--randomisation",)])
def test_comparisons(tmp_path, test):
    given = GOLDEN["comparisons"]
    references = lines(tmp_path / "r", given["references"])
    good, half = [r.split() for r in given["references"]], []
    for words in good:
        half.append(" ".join(words[: (len(words) + 1) // 2]))
    bad = lines(tmp_path / "bad", half)
    files = ("--hypotheses", references, "--references", references, "--metric", "bleu,cer", "--json", *test)
    better = json.loads(text("evaluate", *files, "--compare", bad))["metrics"]
    assert all(m["comparison"]["significant"] and m["comparison"]["p"] < 0.01 for m in better)
    assert better[0]["comparison"]["difference"] > 0 > better[1]["comparison"]["difference"]
    same = json.loads(text("evaluate", *files, "--compare", references))["metrics"]
    assert all(m["comparison"]["p"] == 1 and not m["comparison"]["significant"] for m in same)
    shown = text("evaluate", *[f for f in files if f != "--json"], "--compare", bad)
    assert "difference" in shown and " *" in shown


def test_a_seed_gives_the_same_interval(files):
    def interval(seed):
        return json.loads(text("evaluate", "--hypotheses", str(files / "bad"), "--references", str(files / "r"),
                               "--confidence", "--json", "--seed", str(seed)))["metrics"][1]["confidence"]
    assert interval(1) == interval(1) != interval(2)
    assert interval(1)["low"] <= interval(1)["mean"] <= interval(1)["high"]


# -------------------------------------------------------------------------------------------------------------- models

def test_a_model_is_asked_first(model, tmp_path):
    sources = ["abc", "hello", "q", "abc"]
    said = answers("predict", model, "--beam", "3", given="".join(s + "\n" for s in sources))
    source, target = lines(tmp_path / "s", sources), lines(tmp_path / "t", [said[0], "no", said[2], "no"])
    kept = tmp_path / "kept"
    found = json.loads(text("evaluate", str(model), source, target, "--beam", "3", "--metric", "exact", "--json",
                            "--save", str(kept)))
    assert found["segments"] == 4 and found["metrics"][0]["score"] == 50
    assert kept.read_text().splitlines() == said
    two = json.loads(text("evaluate", str(model), source, target, lines(tmp_path / "u", ["no", *said[1:]]), "--beam", "3",
                          "--metric", "exact", "--json"))
    assert two["metrics"][0]["score"] == 100


def test_a_source_that_repeats_in_a_tsv_has_several_references(model, tmp_path):
    said = answers("predict", model, given="abc\nhello\n")
    pairs = lines(tmp_path / "tsv", ["abc\tno", "hello\tno", f"abc\t{said[0]}"])
    found = json.loads(text("evaluate", str(model), pairs, "--metric", "wer,exact", "--json"))
    assert found["segments"] == 2
    assert [m["score"] for m in found["metrics"]] == [50, 50]
    assert found["metrics"][0]["signature"].startswith("nrefs:var|")


def test_a_source_that_cannot_be_answered_counts_as_wrong(placed, tmp_path):
    source = lines(tmp_path / "s", ["abc", "b" * 41])
    done = heed("evaluate", str(placed), source, lines(tmp_path / "t", ["x", "y"]), "--metric", "exact", "--json")
    assert done.returncode == 0 and "line 2: 41 tokens are too long" in done.stderr
    assert json.loads(done.stdout)["segments"] == 2


def test_what_the_training_held_out(tmp_path):
    words = [f"{a}{b}" for a in "abcdef" for b in "abcdefghij"]
    pairs = lines(tmp_path / "pairs.tsv", [f"{w}\t{w[0]}" for w in words] + [f"{w}\t{w[1]}" for w in words])
    folder = train_small(tmp_path / "out", "data.task=none", f"data.tsv={pairs}", "data.held_out=0.2", "validate.decode=-1",
                         "stop.steps=60", "train.learning_rate=0.03", "validate.every=60")
    validated = [line for line in map(json.loads, (folder / "log.jsonl").read_text().splitlines())
                 if line["event"] == "validated"]
    found = json.loads(text("evaluate", str(folder), "--valid", "--metric", "exact", "--json"))
    assert found["segments"] == validated[-1]["decoded"] == 12
    assert found["metrics"][0]["score"] == pytest.approx(100 * validated[-1]["exact"])
    assert found["metrics"][0]["signature"].startswith("nrefs:")
    (tmp_path / "pairs.tsv").unlink()
    gone = heed("evaluate", str(folder), "--valid")
    assert gone.returncode == NO_INPUT and "pairs.tsv" in gone.stderr


@pytest.mark.parametrize("arguments, code, says", [
    ((), USAGE, "evaluate: what?"),
    (("--hypotheses", "F/r"), USAGE, "--references is needed too"),
    (("--references", "F/r"), USAGE, "--hypotheses is needed too"),
    (("MODEL",), USAGE, "SOURCE and REFERENCE are needed, or a TSV"),
    (("MODEL", "F/r", "--valid"), USAGE, "--valid stands instead of files"),
    (("--hypotheses", "F/r", "--references", "F/r", "--valid"), USAGE, "--valid needs a MODEL"),
    (("MODEL", "F/r", "--hypotheses", "F/r"), USAGE, "MODEL and --hypotheses do not go together"),
    (("--hypotheses", "F/r", "--references", "F/r", "--metric", "blue"), USAGE,
     "there is no metric 'blue'; did you mean 'bleu'?"),
    (("--hypotheses", "F/r", "--references", "F/r", "--metric", "bleu,chfr"), USAGE, "did you mean 'chrf'?"),
    (("--hypotheses", "F/r", "--references", "F/r", "--tokenise", "13b"), USAGE, "did you mean '13a'?"),
    (("--hypotheses", "F/r", "--references", "F/r", "--randomisation"), USAGE, "--randomisation needs --compare"),
    (("--hypotheses", "F/r", "--references", "F/r", "--save", "x"), USAGE, "--save needs a MODEL"),
    (("--hypotheses", "gone", "--references", "F/r"), NO_INPUT, "there is no file 'gone'"),
    (("--hypotheses", "F/r", "--references", "F/r", "F/short"), DATA, "has 4 lines, and"),
    (("--hypotheses", "F/r", "--references", "F/r", "--compare", "F/short"), DATA, "there are 4 outputs to compare"),
    (("--hypotheses", "F/latin", "--references", "F/short"), DATA, "hypothesis 1: byte 3 is not valid UTF-8"),
    (("--hypotheses", "F/latin", "--references", "F/short", "--lowercase"), DATA, "byte 3 is not valid UTF-8"),
    (("--hypotheses", "F/empty", "--references", "F/empty"), DATA, "holds no line"),
])
def test_wrong_usage(model, files, arguments, code, says):
    (files / "short").write_text("abc\n")
    (files / "latin").write_bytes(b"Gr\xfcn\n")
    (files / "empty").write_text("")
    done = run("evaluate", *[str(model) if a == "MODEL" else a.replace("F/", f"{files}/") for a in arguments])
    assert done.returncode == code, done.stderr
    assert says in done.stderr.decode() and done.stderr.startswith(b"heed: ") and done.stdout == b""
