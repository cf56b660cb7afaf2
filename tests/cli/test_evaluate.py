# slow: 4 s
"""heed evaluate: the values of sacreBLEU, for files and for what a model says."""
import json
import re

import pytest
from heed_program import CANNOT_CREATE, DATA, NO_INPUT, SOURCE, USAGE, answers, heed, on_terminal, run, text, train_small

GOLDEN = json.loads((SOURCE / "tests" / "golden" / "metrics.json").read_text())
# What the command line can ask for of all that is in the file.
ARGUMENTS = {"bleu": ("bleu",), "bleu-none": ("bleu", "--tokenise", "none"), "bleu-char": ("bleu", "--tokenise", "char"),
             "bleu-intl": ("bleu", "--tokenize=intl"), "bleu-small": ("bleu", "--lowercase"),
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
                           "--metric", "exact,ser,wer,per,cer", *more))
    return {m["metric"]: m["score"] for m in said["metrics"]}


def test_error_rates(files):
    assert scores(files, "good") == {"exact": 100, "ser": 0, "wer": 0, "per": 0, "cer": 0}
    # 4 + 1 + 2 + 1 edits of 6 + 2 + 4 + 5 words.
    bad = scores(files, "bad")
    assert bad["exact"] == 0 and bad["ser"] == 100 and bad["wer"] == bad["per"] == pytest.approx(100 * 8 / 17)
    small = scores(files, "bad", "--lowercase")
    assert small["exact"] == 25 and small["ser"] == 75 and small["wer"] == pytest.approx(100 * 6 / 17)


def test_bpe_is_joined(files):
    assert scores(files, "bpe")["exact"] == 25
    assert scores(files, "bpe", "--remove-bpe") == scores(files, "good")


def test_table_and_lines(files):
    said = text("evaluate", "--hypotheses", str(files / "bad"), "--references", str(files / "r"), "--confidence")
    table, quoted = said.split("\n\n")
    assert table.split("\n")[0].split()[:2] == ["metric", "score"] and "95 % interval" in table
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


def test_two_files_without_a_model(files):
    bad, good, r = (str(files / name) for name in ("bad", "good", "r"))
    assert text("evaluate", bad, r) == text("evaluate", "--hypotheses", bad, "--references", r)
    assert text("evaluate", bad, r, good) == text("evaluate", "--hypotheses", bad, "--references", r, good)
    given = (files / "bad").read_bytes()
    assert run("evaluate", "-", r, given=given).stdout.decode() == text("evaluate", bad, r)
    assert run("evaluate", "/dev/stdin", r, given=given).stdout.decode() == text("evaluate", bad, r)


# -------------------------------------------------------------------------------------------------------------- errors

def differences(*arguments):
    return [(e["line"], e["difference"]) for e in json.loads(text("evaluate", *arguments, "--errors", "--json"))["errors"]]


def test_errors_are_listed_the_worst_first(files):
    bad, r = str(files / "bad"), str(files / "r")
    assert differences(bad, r) == [(1, "the cat{+ sat on the mat+}"), (2, "{+a +}dog"), (4, "one two three four{+ five+}"),
                                   (3, "[-g-]{+G+}rün ist die [-h-]{+H+}eide")]
    assert [line for line, _ in differences(bad, r, "--lowercase")] == [1, 2, 4]
    assert differences(str(files / "good"), r) == []
    table, said = text("evaluate", bad, r), text("evaluate", bad, r, "--errors")
    assert said.startswith(table + "\nline 1\n")
    assert said.endswith("line 3\n  output      grün ist die heide\n  reference   Grün ist die Heide\n"
                         "  difference  [-g-]{+G+}rün ist die [-h-]{+H+}eide\n\n4 of 4 are wrong\n")
    few = text("evaluate", bad, r, "--errors", "--most", "1")
    assert "line 1" in few and "line 2" not in few and few.endswith("4 of 4 are wrong; the 1 worst are shown\n")
    assert text("evaluate", str(files / "good"), r, "--errors").endswith("\n0 of 4 are wrong\n")
    found = json.loads(text("evaluate", bad, r, "--errors", "--most", "1", "--json"))
    assert found["wrong"] == 4 and len(found["errors"]) == 1


def test_errors_in_a_file(files):
    bad, r = str(files / "bad"), str(files / "r")
    said = text("evaluate", bad, r, f"--errors={files / 'e.txt'}")
    assert said == text("evaluate", bad, r) + "\n4 of 4 are wrong\n"
    assert (files / "e.txt").read_text() == text("evaluate", bad, r, "--errors").split("\n\n", 2)[2]
    text("evaluate", bad, r, f"--errors={files / 'e.tsv'}")
    rows = [line.split("\t") for line in (files / "e.tsv").read_text().splitlines()]
    assert rows[0] == ["line", "source", "output", "reference", "difference"] and len(rows) == 5
    assert rows[2] == ["2", "", "dog", "a dog", "{+a +}dog"]
    text("evaluate", bad, r, f"--errors={files / 'e.jsonl'}")
    objects = [json.loads(line) for line in (files / "e.jsonl").read_text().splitlines()]
    assert objects[1] == {"line": 2, "output": "dog", "reference": "a dog", "difference": "{+a +}dog"}


def test_errors_of_any_script(tmp_path):
    output = lines(tmp_path / "o", ["cafe", "\u05e9\u05dc\u05dc\u05dd", "a\tb"])
    reference = lines(tmp_path / "r", ["cafe\u0301", "\u05e9\u05dc\u05d5\u05dd", "a b"])
    assert dict(differences(output, reference)) == {
        1: "caf[-e-]{+e\u0301+}", 2: "\u05e9\u05dc[-\u05dc-]{+\u05d5+}\u05dd", 3: "a[-\t-]{+ +}b"}
    text("evaluate", output, reference, f"--errors={tmp_path / 'e.tsv'}")
    assert {row.count("\t") for row in (tmp_path / "e.tsv").read_text().splitlines()} == {4}
    shown = on_terminal("evaluate", output, reference, "--errors")
    assert "\033[31m[-e-]\033[0m\033[32m{+e\u0301+}\033[0m" in shown and "\u2068\u05e9\u05dc" in shown
    assert "\033[3" not in on_terminal("evaluate", output, reference, "--errors", NO_COLOR="1")


def page_of_errors(*arguments):
    """The document on the page, and what the program said."""
    page = arguments[arguments.index("--html") + 1]
    done = heed("evaluate", *arguments, "--errors")
    if done.returncode == 64 and "built without the page" in done.stderr:
        pytest.skip("heed was built without npm, so it has no page")
    assert (done.returncode, done.stderr) == (0, "")
    with open(page, encoding="utf-8") as file:
        return json.loads(file.read().split('id="heed-data">')[1].split("</script>")[0]), done.stdout


def test_errors_on_a_page(model, tmp_path):
    sources = ["abc", "hello", "b", "abcabc"]
    right = answers("predict", str(model), given="b\n")[0]
    pairs = lines(tmp_path / "p.tsv", [f"{s}\t{r}" for s, r in zip(sources, ["zzzzzz", "yy", right, "x"])])
    listed = json.loads(text("evaluate", str(model), pairs, "--errors", "--json"))["errors"]
    page = str(tmp_path / "wrong.html")
    document, said = page_of_errors(str(model), pairs, "--html", page)
    assert "3 of 4 outputs are wrong" in document["title"]
    examples = document["examples"]
    assert [(e["input"], e["output"], e["reference"]) for e in examples] == \
        [(e["source"], e["output"], e["reference"]) for e in listed]
    looked = json.loads(text("look", str(model), examples[0]["input"], "--json", "-"))["examples"][0]
    assert examples[0]["sequences"] == looked["sequences"]
    assert examples[0]["log_probability"] == looked["log_probability"] and examples[0]["maps"]
    assert said.endswith(f"3 of 4 are wrong\n'{page}' shows them with what the model attended to\n")
    assert "difference" not in said  # the page is instead of the list
    few, said = page_of_errors(str(model), pairs, "--html", page, "--most", "1")
    assert few["examples"] == examples[:1] and "shows the 1 worst" in said
    # What is compared in lower case is shown as it was written.
    loud = lines(tmp_path / "loud.tsv", ["abc\tZZ", f"b\t{right.upper()}"])
    document, _ = page_of_errors(str(model), loud, "--html", page, "--lowercase")
    assert [e["reference"] for e in document["examples"]] == ["ZZ"]
    both = heed("evaluate", str(model), pairs, "--ensemble", str(model), "--errors", "--html", page)
    assert both.returncode == USAGE and "one model, not into an ensemble" in both.stderr


def test_a_page_of_what_the_training_held_out(tmp_path):
    pairs = lines(tmp_path / "pairs.tsv", [f"{a}{b}\tzz{b}" for a in "abcdef" for b in "abcdef"])
    folder = train_small(tmp_path / "out", "data.task=none", f"data.tsv={pairs}", "data.held_out=0.2", "stop.steps=1")
    document, said = page_of_errors(str(folder), "--valid", "--html", str(tmp_path / "wrong.html"))
    assert said.splitlines()[-2].endswith("are wrong") and document["examples"]
    assert all(e["reference"].startswith("zz") for e in document["examples"])


def test_errors_of_a_model(model, tmp_path):
    said = answers("predict", model, given="abc\nhello\nq\n")
    pairs = lines(tmp_path / "tsv", [f"abc\t{said[0]}x", "abc\tnothing like it", f"hello\t{said[1]}", f"q\t{said[2]}x"])
    found = json.loads(text("evaluate", str(model), pairs, "--errors", "--json"))
    assert found["wrong"] == 2
    assert found["errors"][0 if found["errors"][0]["line"] == 1 else 1] == {
        "line": 1, "source": "abc", "output": said[0], "reference": said[0] + "x", "difference": said[0] + "{+x+}"}
    assert sorted(e["line"] for e in found["errors"]) == [1, 4]
    shown = text("evaluate", str(model), pairs, "--errors")
    assert "\n  source      abc\n" in shown and shown.endswith("\n2 of 3 are wrong\n")


# -------------------------------------------------------------------------------------------------------------- models

@pytest.mark.parametrize("own, metrics, says", [
    ("loss", ["bleu", "exact"], "bleu is the first metric of the model's task"),
    ("ser", ["ser", "exact"], "ser is validate.metric of the model's recipe"),
    ("exact", ["exact"], "exact is validate.metric of the model's recipe"),
])
def test_a_model_is_judged_as_its_training_was(tmp_path, own, metrics, says):
    folder = train_small(tmp_path / "own", f"validate.metric={own}", "stop.steps=2")
    pairs = lines(tmp_path / "tsv", ["abc\tcba"])
    found = json.loads(text("evaluate", str(folder), pairs, "--json"))
    assert [m["metric"] for m in found["metrics"]] == metrics and says in found["note"]
    shown = text("evaluate", str(folder), pairs)
    assert says in " ".join(shown.split()) and max(map(len, shown.split("\n\n")[0].splitlines())) <= 80
    asked = json.loads(text("evaluate", str(folder), pairs, "--metric", "cer", "--json"))
    assert [m["metric"] for m in asked["metrics"]] == ["cer"] and "note" not in asked


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
    found = json.loads(text("evaluate", str(model), pairs, "--metric", "ser,exact", "--json"))
    assert found["segments"] == 2
    assert [m["score"] for m in found["metrics"]] == [50, 50]
    assert found["metrics"][0]["signature"].startswith("nrefs:var|")


def test_a_source_that_cannot_be_answered_counts_as_wrong(placed, tmp_path):
    source = lines(tmp_path / "s", ["abc", "b" * 41])
    done = heed("evaluate", str(placed), source, lines(tmp_path / "t", ["x", "y"]), "--metric", "exact", "--json")
    assert done.returncode == 0 and "line 2: 41 tokens are too many" in done.stderr
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
    ((), USAGE, "evaluate: arguments are needed"),
    (("--hypotheses", "F/r"), USAGE, "--references is needed too"),
    (("--references", "F/r"), USAGE, "--hypotheses is needed too"),
    (("MODEL",), USAGE, "SOURCE and REFERENCE are needed, or a TSV"),
    (("MODEL", "F/r", "--valid"), USAGE, "--valid and files cannot be combined"),
    (("--hypotheses", "F/r", "--references", "F/r", "--valid"), USAGE, "--valid needs a MODEL"),
    (("MODEL", "F/r", "--hypotheses", "F/r"), USAGE, "MODEL and --hypotheses cannot be combined"),
    (("--hypotheses", "F/r", "--references", "F/r", "--metric", "blue"), USAGE,
     "there is no metric 'blue'; did you mean 'bleu'?"),
    (("--hypotheses", "F/r", "--references", "F/r", "--metric", "bleu,chfr"), USAGE, "did you mean 'chrf'?"),
    (("--hypotheses", "F/r", "--references", "F/r", "--tokenise", "13b"), USAGE, "did you mean '13a'?"),
    (("--hypotheses", "F/r", "--references", "F/r", "--randomisation"), USAGE, "--randomisation needs --compare"),
    (("--hypotheses", "F/r", "--references", "F/r", "--save", "x"), USAGE, "--save needs a MODEL"),
    (("--hypotheses", "gone", "--references", "F/r"), NO_INPUT, "there is no file 'gone'"),
    (("--hypotheses", "F/r", "--references", "F/r", "F/short"), DATA, "has 4 lines, but"),
    (("--hypotheses", "F/r", "--references", "F/r", "--compare", "F/short"), DATA, "there are 4 outputs to compare"),
    (("--hypotheses", "F/latin", "--references", "F/short"), DATA, "hypothesis 1: byte 3 is not valid UTF-8"),
    (("--hypotheses", "F/latin", "--references", "F/short", "--lowercase"), DATA, "byte 3 is not valid UTF-8"),
    (("--hypotheses", "F/empty", "--references", "F/empty"), DATA, "has no lines"),
    (("F/r",), USAGE, "is not a model, and is the only file: use heed evaluate MODEL F/r"),
    (("F/r", "--valid"), USAGE, "--valid needs a MODEL"),
    (("F/r", "F/r", "--save", "x"), USAGE, "--save needs a MODEL"),
    (("F/r", "--references", "F/r"), USAGE, "is not a model; leave it out"),
    (("F/r", "gone"), NO_INPUT, "there is no file 'gone'"),
    (("F/r", "F/short"), DATA, "has 4 lines, but"),
    (("gone", "F/r"), NO_INPUT, "there is no model 'gone'"),
    (("F/r", "F/r", "--errors", "F/new.tsv"), NO_INPUT, "to write errors to it: --errors=F/new.tsv"),
    (("F/r", "F/r", "--most", "3"), USAGE, "--most needs --errors"),
    (("MODEL", "F/r", "F/r", "--html", "F/x.html"), USAGE, "--html needs --errors"),
    (("F/r", "F/r", "--errors", "--html", "F/x.html"), USAGE, "--html needs a MODEL"),
    (("F/r", "F/r", "--errors", "--most", "0"), USAGE, "--most"),
    (("F/bad", "F/r", "--errors=F/r/x"), CANNOT_CREATE, "F/r"),
])
def test_wrong_usage(model, files, arguments, code, says):
    (files / "short").write_text("abc\n")
    (files / "latin").write_bytes(b"Gr\xfcn\n")
    (files / "empty").write_text("")
    done = run("evaluate", *[str(model) if a == "MODEL" else a.replace("F/", f"{files}/") for a in arguments])
    assert done.returncode == code, done.stderr
    assert says.replace("F/", f"{files}/") in done.stderr.decode() and done.stderr.startswith(b"heed: ") and done.stdout == b""


def test_every_metric_is_defined_in_the_help_and_in_the_documents():
    help_text = text("evaluate", "--help")
    said = " ".join(help_text[help_text.index("Metrics, all in percent:"):].split())
    document = (SOURCE / "docs" / "cli.md").read_text()
    table = document[document.index("| metric | meaning | definition |"):].split("\n\n")[0].splitlines()[2:]
    defined = [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in table]
    for name, meaning, formula in defined:
        assert f"{name.strip('`')} {meaning} = {formula}" in said, name
    offered = re.search(r"Separated by commas: (.*?) \(default", " ".join(help_text.split()))[1]
    assert [name.strip("`") for name, _, _ in defined] == offered.split(", ")
