"""Ways to decode: words that must or must not come, prefixes, groups, distinct samples, ensembles, reranking."""
import json

import pytest
from heed_program import DATA, NO_INPUT, USAGE, answers, run, text, train_small

SOURCES = ["abc", "hello", "a", "zyx0wvu", "deed", "alongerlineofletters", "q", "reverse"]
TEXT = "".join(line + "\n" for line in SOURCES)


@pytest.fixture(name="other", scope="module")
def transformer_model(tmp_path_factory):
    """Another kind of model, with the same vocabularies."""
    return train_small(tmp_path_factory.mktemp("models") / "other", "model.kind=transformer", "attention.score=dot")


def as_json(model, *arguments, given=TEXT):
    return [json.loads(line) for line in answers("predict", model, "--json", *arguments, given=given)]


def refused(code, *arguments, given=TEXT):
    done = run("predict", *arguments, given=given.encode())
    assert done.returncode == code, done.stderr
    return done.stderr.decode()


# ------------------------------------------------------------------------------------------------------------- rules

@pytest.mark.parametrize("beam", [[], ["--beam", 4]])
def test_words_come_or_do_not(model, beam):
    said = answers("predict", model, *beam, "--must", "zq", "--must", "j", "--must-not", "e", "--prefix", "w", given=TEXT)
    assert len(said) == len(SOURCES)
    for line in said:
        assert line.startswith("w") and "zq" in line and "j" in line and "e" not in line
    assert answers("predict", model, "--threads", 3, "--batch", 2, *beam, "--must", "zq", "--must", "j", "--must-not", "e",
                   "--prefix", "w", given=TEXT) == said


def test_files_say_it_for_each_line(model, tmp_path):
    must, must_not, prefix = tmp_path / "must.tsv", tmp_path / "not.tsv", tmp_path / "prefix.txt"
    must.write_text("zz\tj\n" + "\n" * 7)
    must_not.write_text("\n\na\te\n" + "\n" * 5)
    prefix.write_text("\nwow\n" + "\n" * 6)
    plain = answers("predict", model, given=TEXT)
    said = answers("predict", model, "--must-file", must, "--must-not-file", must_not, "--prefix-file", prefix, given=TEXT)
    assert "zz" in said[0] and "j" in said[0]
    assert said[1].startswith("wow")
    assert "a" not in said[2] and "e" not in said[2]
    assert said[3:] == plain[3:]  # lines without rules are answered as always
    alone = answers("predict", model, "--must", "zz", "--must", "j", given="abc\n")
    assert said[:1] == alone


def test_files_of_another_length_are_refused(model, tmp_path):
    short, long = tmp_path / "short.tsv", tmp_path / "long.tsv"
    short.write_text("a\nb\n")
    long.write_text("a\n" * 9)
    assert "short.tsv' has 2 lines, but the input has more" in refused(DATA, model, "--must-file", short)
    assert "more lines than the input, which has 8" in refused(DATA, model, "--must-not-file", long, given=TEXT)
    assert "there is no file" in refused(NO_INPUT, model, "--must-file", tmp_path / "nowhere")
    tabs = tmp_path / "tabs.txt"
    tabs.write_text("a\tb\n" * 8)
    assert "line 1: a prefix has no tabs" in refused(DATA, model, "--prefix-file", tabs)


def test_what_is_missing_is_told(model):
    done = run("predict", model, "--max-length", 3, "--must", "zq", "--must", "jx", given=b"abc\n")
    assert done.returncode == 0 and b"line 1: " in done.stderr and b"had to come" in done.stderr
    done = run("predict", model, "--json", "--max-length", 3, "--must", "zq", "--must", "jx", given=b"abc\n")
    said = json.loads(done.stdout)
    assert said["missing"] and "max_length" in said["missing_because"]
    assert "missing" not in as_json(model, "--must", "zq")[0]


def test_words_that_cannot_be_written_are_refused(model, tmp_path):
    assert "--must: the model cannot write 'naïve': its vocabulary lacks 'ï'" in refused(USAGE, model, "--must", "naïve")
    assert "--must-not: the model cannot write 'É'" in refused(USAGE, model, "--must-not", "É")
    assert "--prefix: the model cannot write" in refused(USAGE, model, "--prefix", "Ω")
    assert "--must 'abc' contains 'b'" in refused(USAGE, model, "--must", "abc", "--must-not", "b")
    file = tmp_path / "must.tsv"
    file.write_text("a\nö\n" + "\n" * 6)
    done = run("predict", model, "--must-file", file, given=TEXT.encode())
    assert done.returncode == 0 and "line 2: must: the model cannot write 'ö'" in done.stderr.decode()
    lines = done.stdout.decode().splitlines()
    assert lines[1] == "" and "a" in lines[0] and len(lines) == len(SOURCES)


def test_names_of_other_programs(model):
    given = "".join(line + "\n" for line in SOURCES)
    ours = answers("predict", model, "--beam", "3", "--nbest", "2", "--no-repeat-ngram", "3", given=given)
    assert ours == answers("predict", model, "--num-beams", "3", "--num-return-sequences", "2", "--no-repeat-ngram-size",
                           "3", given=given)
    assert "num-beams" not in text("predict", "--help")


@pytest.mark.parametrize("options, said", [
    (["--must", "a", "--sample"], "--must cannot be combined with --sample"),
    (["--must", "a", "--beam", "4", "--groups", "2"], "--must cannot be combined with --groups"),
    (["--beam", "4", "--groups", "3"], "--groups 3: a beam of 4"),
    (["--candidates", "4"], "--candidates 4 are only for reranking"),
    (["--mbr", "chrff"], "did you mean"),
    (["--mbr", "chrf", "--beam", "3", "--candidates", "4"], "--candidates 4 need a beam of at least 4"),
    (["--distinct"], "--sample"),
    (["--rerank-weight", "2"], "--rerank-reverse"),
    (["--ensemble-mean", "probabilities"], "--ensemble"),
])
def test_wrong_options(model, options, said):
    assert said in refused(USAGE, model, *options)


def test_no_ngram_comes_twice(model):
    for line in answers("predict", model, "--no-repeat-ngram", 2, "--beam", 3, given=TEXT):
        pairs = [line[i:i + 2] for i in range(len(line) - 1)]
        assert len(pairs) == len(set(pairs))


# -------------------------------------------------------------------------------------------------- what never comes

def test_no_output_has_what_no_target_has(model):
    ways = [["--nbest", 200], ["--beam", 12, "--groups", 3, "--nbest", 12], ["--sample", "--nbest", 100],
            ["--sample", "--temperature", 5, "--nbest", 100], ["--sample", "--distinct", "--temperature", 3, "--nbest", 100],
            ["--beam", 8, "--nbest", 8, "--no-repeat-ngram", 2], ["--beam", 8, "--nbest", 8, "--must-not", "ab"]]
    for way in ways:
        for line in as_json(model, "--seed", 5, "--max-length", 12, *way):
            for output in line["outputs"]:
                assert not {"<s>", "</s>", "<unk>"} & set(output["tokens"]), way
                assert "".join(output["tokens"]) == output["output"]
            if "--distinct" in way or "--sample" not in way:  # so that each text comes once
                said = [(o["output"], o["finished"]) for o in line["outputs"]]
                assert len(set(said)) == len(said), way


def test_scores_stay_those_of_the_model(model, tmp_path):
    found = [(line["source"], o) for line in as_json(model, "--sample", "--temperature", 3, "--nbest", 20)
             for o in line["outputs"] if o["finished"] and o["output"]]
    assert len(found) > 20
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{source}\t{o['output']}\n" for source, o in found))
    scores = run("score", model, pairs).stdout.split()
    assert len(scores) == len(found)
    for said, (_, output) in zip(scores, found):
        assert float(said) == pytest.approx(output["log_probability"], abs=2e-4)


def test_unknown_tokens_come_where_they_are_allowed(model):
    hot = ["--sample", "--temperature", 5, "--nbest", 100, "--max-length", 12, "--seed", 5]
    allowed = [o for line in as_json(model, *hot, "--allow-unknown") for o in line["outputs"]]
    assert any("<unk>" in o["tokens"] and "\u2047" in o["output"] for o in allowed)
    assert not any("<s>" in o["tokens"] for o in allowed)


# ---------------------------------------------------------------------------------------------------- several outputs

def test_groups_differ_more(model):
    def first_letters(*options):
        return sum(len({o["output"][:1] for o in line["outputs"]}) for line in as_json(model, "--nbest", 4, *options))
    assert first_letters("--beam", 4, "--groups", 4, "--diversity", 3) > first_letters("--beam", 4)


def test_distinct_samples(model):
    for line in as_json(model, "--sample", "--distinct", "--nbest", 12, "--seed", 3):
        assert len({tuple(o["tokens"]) for o in line["outputs"]}) == 12
    many = TEXT * 5
    right = answers("predict", model, "--sample", "--distinct", "--nbest", 3, "--threads", 1, given=many)
    assert answers("predict", model, "--sample", "--distinct", "--nbest", 3, "--threads", 3, given=many) == right


# ---------------------------------------------------------------------------------------------------------- ensembles

def test_ensembles(model, other, tmp_path):
    alone = answers("predict", model, "--beam", 4, "--scores", given=TEXT)
    assert answers("predict", model, "--ensemble", model, "--beam", 4, "--scores", given=TEXT) == alone
    both = answers("predict", model, "--ensemble", other, "--beam", 4, given=TEXT)
    assert answers("predict", model, "--ensemble", other, "--beam", 4, "--threads", 3, "--batch", 3, given=TEXT) == both
    assert both != [line.split("\t")[1] for line in alone]
    probabilities = as_json(model, "--ensemble", other, "--ensemble-mean", "probabilities", "--alignments=matrix")
    for line in probabilities:
        for row in line["alignment"]:
            assert len(row) == len(line["source"]) and abs(sum(row) - 1) < 1e-3
    # What it says has the score that it says.
    pairs = tmp_path / "pairs.tsv"
    found = [line for line in as_json(model, "--ensemble", other) if line["finished"] and line["output"]]
    pairs.write_text("".join(f"{line['source']}\t{line['output']}\n" for line in found))
    done = run("score", model, pairs, "--ensemble", other)
    for line, score in zip(found, done.stdout.decode().split()):
        assert abs(line["log_probability"] - float(score)) < 1e-3
    done = run("evaluate", model, pairs, "--ensemble", other, "--metric", "exact", "--json")
    assert done.returncode == 0 and b"100" in done.stdout


def test_models_that_write_other_tokens_are_refused(model, tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{c}{d}\t{d}{c}\n" for c in "abcdefgh" for d in "abcdefgh"))
    done = run("train", pairs, "--output", tmp_path / "few", "--set", "stop.steps=2", "--set", "model.width=8")
    assert done.returncode == 0, done.stderr
    said = refused(USAGE, model, "--ensemble", tmp_path / "few")
    assert "ensemble: the models must write the same tokens" in said
    assert "there is no model" in refused(NO_INPUT, model, "--ensemble", tmp_path / "nowhere")


# ---------------------------------------------------------------------------------------------------------- reranking

def test_minimum_bayes_risk(model):
    for options in (["--beam", 8], ["--sample", "--candidates", 20]):
        said = as_json(model, "--mbr", "chrf", "--nbest", 2, *options)
        for line in said:
            scores = [o["score"] for o in line["outputs"]]
            assert scores == sorted(scores, reverse=True) and all(0 <= s <= 100.001 for s in scores)
        assert as_json(model, "--mbr", "chrf", "--nbest", 2, "--threads", 3, "--batch", 3, *options) == said


def test_a_reverse_model_that_knows_no_token(model, tmp_path):
    (tmp_path / "greek.tsv").write_text("".join(f"{a}{b}\t{b}{a}\n" for a in "αβγδεζηθ" for b in "αβγδεζηθ"))
    greek = train_small(tmp_path / "greek", "data.task=none", f"data.tsv={tmp_path / 'greek.tsv'}", "stop.steps=2")
    done = run("predict", model, "--beam", 3, "--rerank-reverse", greek, given=b"abc\n")
    assert done.returncode == 0
    for side in ("outputs", "sources"):
        assert f"--rerank-reverse {greek}: this model knows no token of the {side}" in done.stderr.decode()
    assert b"rerank" not in run("predict", model, "--beam", 3, "--rerank-reverse", model, given=b"abc\n").stderr


def test_a_reverse_model(model, other):
    plain = as_json(model, "--beam", 6, "--nbest", 6)
    said = as_json(model, "--beam", 6, "--rerank-reverse", other, "--rerank-weight", 0.5)
    for before, line in zip(plain, said):
        assert line["output"] in [o["output"] for o in before["outputs"]]
        assert abs(line["score"] - line["log_probability"] - 0.5 * line["reverse_log_probability"]) < 1e-6
    zero = as_json(model, "--beam", 6, "--rerank-reverse", other, "--rerank-weight", 0)
    assert [line["output"] for line in zero] == [line["output"] for line in plain]
