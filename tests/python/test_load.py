# slow: 3 s
"""heed.load: what `heed predict` says, as Python's values."""

import json
import os
import copy
import pickle
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
from common import close, output_with_ctrl_c
from heed_program import SOURCE, answers, run, train_small

import heed

LINES = ["abc", "hello", "a", "zyx0wvu", "", "deed", "alongerlineofletters", "q", "reverse"]
TEXT = "".join(line + "\n" for line in LINES)


@pytest.fixture(name="model", scope="module")
def loaded_model(folder):
    return heed.load(folder)


def program(folder, *arguments):
    return [
        json.loads(line)
        for line in answers("predict", folder, "--json", "--scores", "--alignments=matrix", *arguments, given=TEXT)
    ]


def expect_same(output, said):
    """An Output, and an object of `heed predict --json`."""
    assert output.text == said["output"] and output.tokens == said["tokens"]
    assert output.finished == said["finished"]
    assert output.score == said["score"] and output.log_probability == said["log_probability"]
    close(output.token_log_probabilities, said["token_log_probabilities"], 1e-6)
    assert len(output.alignment) == len(said["alignment"])
    if said["alignment"]:
        close(output.alignment, said["alignment"], 1e-6)


# -------------------------------------------------------------------------------------------------------- the same


@pytest.mark.parametrize(
    "options, flags",
    [
        ({}, []),
        ({"beam": 5, "length_penalty": 0.6}, ["--beam", "5", "--length-penalty", "0.6"]),
        ({"beam": 3, "coverage": 0.2}, ["--beam", "3", "--coverage", "0.2"]),
        ({"nbest": 3, "max_length": 4}, ["--nbest", "3", "--max-length", "4"]),
        ({"sample": True, "seed": 7}, ["--sample", "--seed", "7"]),
        (
            {"sample": True, "nbest": 2, "temperature": 0.7, "top_k": 9, "top_p": 0.9, "seed": 2**64 - 1},
            "--sample --nbest 2 --temperature 0.7 --top-k 9 --top-p 0.9 --seed 18446744073709551615".split(),
        ),
    ],
)
def test_as_the_program_says(model, folder, options, flags):
    said = program(folder, *flags)
    found = model.predict(LINES, **options)
    assert len(found) == len(said) == len(LINES)
    assert any(f.text for f in found)
    for mine, right, line in zip(found, said, LINES):
        assert mine.error is None and mine.text == right["output"] == str(mine)
        assert mine.source_tokens == right["source_tokens"] and len(mine.source_tokens) == len(line)
        if not line:
            assert mine.nbest == [] and mine.score is None and mine.alignment is None
            assert mine.tokens == [] and mine.links == []
            continue
        outputs = right.get("outputs", [right])
        assert len(mine.nbest) == len(outputs) == options.get("nbest", 1)
        for output, its in zip(mine.nbest, outputs):
            expect_same(output, its)
        best = mine.nbest[0]
        assert (mine.score, mine.tokens, mine.links) == (best.score, best.tokens, best.links)
        assert mine.alignment is best.alignment


def test_scores_and_links_as_they_are_printed(model, folder):
    lines = answers("predict", folder, "--beam", "4", "--scores", "--alignments", given=TEXT)
    for found, line in zip(model.predict(LINES, beam=4), lines):
        if found.nbest:
            links = " ".join(f"{source}-{target}" for source, target in found.links)
            assert line == f"{found.score:.6f}\t{found.text}\t{links}"


# ----------------------------------------------------------------------------------------------------------- shapes


def test_alignments(model):
    rows = 0
    for found in model.predict(LINES, nbest=3):
        for output in found.nbest:
            assert output.alignment.dtype == np.float32
            assert output.alignment.shape == (len(output.tokens), len(found.source_tokens))
            np.testing.assert_allclose(output.alignment.sum(1), 1, atol=1e-5)
            assert output.links == [(int(row.argmax()), t) for t, row in enumerate(output.alignment)]
            assert len(output.token_log_probabilities) == len(output.tokens) + output.finished
            assert output.log_probability == pytest.approx(output.token_log_probabilities.sum(), abs=1e-4)
            rows += len(output.tokens)
    assert rows > 50
    without = model.predict("hello", alignments=False)
    assert without.alignment is None and without.links == []
    assert without.text == model.predict("hello").text


def test_nbest_is_ordered(model):
    for found in model.predict(LINES, nbest=4):
        assert len(found.nbest) == (4 if found.source_tokens else 0)
        assert len({tuple(output.tokens) for output in found.nbest}) == len(found.nbest)
        for finished in (True, False):
            scores = [output.score for output in found.nbest if output.finished == finished]
            assert scores == sorted(scores, reverse=True)


def test_one_line_or_many(model):
    one = model.predict("hello")
    assert isinstance(one, heed.Prediction)
    (same,) = model.predict(["hello"])
    assert same.text == one.text and same.score == one.score
    assert model.predict([]) == []
    assert [f.text for f in model.predict(line for line in LINES)] == [f.text for f in model.predict(tuple(LINES))]


def test_a_file_is_lines(model, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text(TEXT, encoding="utf-8")
    with open(path, encoding="utf-8") as file:
        assert [f.text for f in model.predict(file)] == [f.text for f in model.predict(LINES)]


@pytest.mark.parametrize("options", [{}, {"beam": 4}, {"sample": True, "seed": 3}])
def test_lines_do_not_matter_to_each_other(model, options):
    together = model.predict(LINES, **options)
    for i, (line, found) in enumerate(zip(LINES, together)):
        alone = model.predict(line, first_line=i + 1, **options)
        assert alone.text == found.text and alone.score == found.score
        if found.nbest:
            assert np.array_equal(alone.alignment, found.alignment)


def test_what_the_model_never_saw(model):
    found = model.predict(["abc", "\u00dfa\u03a9\u00df"])
    assert [f.unknown for f in found] == [[], ["\u00df", "\u03a9"]]
    assert json.loads(model.predict_json("a\u00df"))["unknown"] == ["\u00df"]
    # It knows all that it can write: there is nothing to copy.
    assert model.predict("abc", copy_unknown=True, alignments=False).text == model.predict("abc").text
    with pytest.raises(heed.Error, match="copy_unknown: expected True or False"):
        model.predict("abc", copy_unknown="yes")


# ----------------------------------------------------------------------------------------------------------- models


def test_what_a_model_says_of_itself(model, folder):
    assert model.kind == "rnn" and model.path == str(folder)
    assert f"{model.parameter_count:,} parameters" in repr(model) and model.parameter_count > 5000
    assert 'task = "reverse"' in model.recipe
    assert json.loads(run("info", folder, "--json").stdout)["model"]["parameters"] == model.parameter_count
    assert repr(model.predict("")) == "Prediction('')"
    assert "score=-" in repr(model.predict("abc")) and "score=-" in repr(model.predict("abc").nbest)


def test_checkpoints(model, folder):
    best = (folder / "best.txt").read_text().strip()
    right = [f.score for f in model.predict(LINES)]
    for other in (heed.load(str(folder), best), heed.load(folder / best), heed.load(folder, checkpoint="best")):
        assert [f.score for f in other.predict(LINES)] == right
    assert [f.score for f in heed.load(folder, "step-000050").predict(LINES)] != right


def test_models_that_are_not_there(folder, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no model: .*nowhere") as caught:
        heed.load(tmp_path / "nowhere")
    assert caught.value.filename == str(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="holds no checkpoint") as caught:
        heed.load(tmp_path)
    assert caught.value.kind == "file"
    with pytest.raises(heed.Error, match="did you mean 'step-000050'") as caught:
        heed.load(folder, "step-00050")
    assert caught.value.kind == "missing"
    for wrong in (3, None, b"bytes"):
        with pytest.raises(TypeError, match="expected .*str"):
            heed.load(wrong)
    with pytest.raises(TypeError, match="checkpoint: expected a str, got int"):
        heed.load(folder, 50)


def test_a_damaged_model(folder, tmp_path):
    best = (folder / "best.txt").read_text().strip()
    copy = tmp_path / "damaged"
    shutil.copytree(folder / best, copy)
    weights = bytearray((copy / "weights.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "weights.safetensors").write_bytes(weights)
    with pytest.raises(heed.Error, match="weights.safetensors has changed") as caught:
        heed.load(copy)
    assert caught.value.kind == "file"
    assert pickle.loads(pickle.dumps(caught.value)).kind == "file"
    (copy / "weights.safetensors").unlink()
    with pytest.raises(heed.Error, match="weights.safetensors"):
        heed.load(copy)


def test_a_model_in_one_file(model, folder, tmp_path):
    path = tmp_path / "model.heed"
    assert run("export", folder, "--output", path).returncode == 0
    one = heed.load(path)
    assert one.path == str(path) and one.recipe == model.recipe
    for mine, right in zip(one.predict(LINES, nbest=2), model.predict(LINES, nbest=2)):
        assert [(o.text, o.score) for o in mine.nbest] == [(o.text, o.score) for o in right.nbest]
    changed = bytearray(path.read_bytes())
    changed[-1] ^= 1
    path.write_bytes(changed)
    with pytest.raises(heed.Error, match="model.heed' is damaged") as caught:
        heed.load(path)
    assert caught.value.kind == "file"
    path.write_text("a\tb\n")
    with pytest.raises(heed.Error, match="is no model"):
        heed.load(path)


# ----------------------------------------------------------------------------------------------------------- errors


def test_what_is_wrong_with_a_line_is_said(tmp_path):
    placed = heed.load(
        train_small(tmp_path / "placed", "model.kind=transformer", "model.positions=learned", "model.max_length=40",
                    "attention.score=dot", "stop.steps=3")
    )
    short, long, last = placed.predict(["abc", "b" * 41, "b" * 40])
    assert long.error == "41 tokens are too many: the model has positions for 40"
    assert long.text == "" and long.nbest == [] and "too many" in repr(long)
    assert short.error is None and last.error is None and len(short.nbest) == len(last.nbest) == 1
    with pytest.raises(heed.Error, match="max_length 41: the model has positions for 40"):
        placed.predict("abc", max_length=41)


@pytest.mark.parametrize(
    "lines, says",
    [
        (3, "lines: expected a str or an iterable of str, got int"),
        (None, "lines: expected a str or an iterable of str, got NoneType"),
        (b"abc", "lines: expected a str or an iterable of str, got bytes"),
        (["abc", b"abc"], r"lines\[1\]: expected a str, got bytes"),
        (["abc", None], r"lines\[1\]: expected a str, got NoneType"),
        ([["abc"]], r"lines\[0\]: expected a str, got list"),
    ],
)
def test_lines_that_are_not_text(model, lines, says):
    with pytest.raises(TypeError, match=says):
        model.predict(lines)


def test_lone_surrogates(model):
    with pytest.raises(ValueError, match=r"lines\[1\]: expected text, got a lone surrogate, '\\ud800', at index 2"):
        model.predict(["abc", "ab\ud800"])
    with pytest.raises(heed.Error, match="lines: expected text") as caught:
        model.predict("\udcff")
    assert caught.value.kind == heed.Error.kind == "usage"
    assert model.predict("\0 \U0001f600").error is None


@pytest.mark.parametrize(
    "options, says",
    [
        ({"beam": 2, "nbest": 3}, "nbest 3 needs a beam of at least 3, not 2"),
        ({"beam": 2, "sample": True}, "sample cannot be combined with a beam of 2"),
        ({"temperature": 0.5}, "temperature 0.5 is only for sampling"),
        ({"top_p": 1.5, "sample": True}, "top_p: expected a number from"),
        ({"temperature": float("nan"), "sample": True}, "temperature: expected a number from"),
        ({"beam": 2.5}, "beam: expected a whole number, got 2.5"),
        ({"beam": True}, "beam: expected a whole number, got True"),
        ({"beam": "five"}, "beam: expected a whole number, got 'five'"),
        ({"beam": 10**30}, "beam: expected a smaller number, got 1000"),
        ({"beam": 1001}, "beam: expected a number from 0 to 1000, got 1001"),
        ({"nbest": 0}, "nbest: expected a number from 1 to 1000, got 0"),
        ({"length_penalty": "0.6"}, "length_penalty: expected a number, got '0.6'"),
        ({"sample": 1}, "sample: expected True or False, got 1"),
        ({"seed": -1, "sample": True}, "seed: expected a whole number from 0"),
    ],
)
def test_options_that_have_no_meaning(model, options, says):
    with pytest.raises(heed.Error, match=says) as caught:
        model.predict(LINES, **options)
    assert caught.value.kind == "usage"
    with pytest.raises(TypeError, match="unexpected keyword argument 'beem'"):
        model.predict(LINES, beem=5)


# ---------------------------------------------------------------------------------------------------------- threads


def test_several_threads_at_once(model):
    right = [f.score for f in model.predict(LINES, beam=3)]
    found = [None] * 3

    def work(n):
        for _ in range(5):
            found[n] = [f.score for f in model.predict(LINES, beam=3)]

    workers = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [right] * 3
    heed.set_threads(2)
    assert [f.score for f in model.predict(LINES, beam=3)] == right
    heed.set_threads(0)


def test_other_python_threads_run_meanwhile(model):
    from test_threads import longest_pause

    heed.set_threads(1)
    for count in (20, 80, 320, 1280, 5120):
        pause, took = longest_pause(lambda: model.predict(LINES * count, alignments=False))
        if took > 0.5:
            break
    heed.set_threads(0)
    assert took > 0.2 and pause < 0.7 * took, (pause, took)


LONG_PREDICTION = """
import heed
model = heed.load(sys.argv[1])
lines = ["alongerlineofletters, and some more of them"] * 200_000
work = lambda: model.predict(lines, beam=4)
"""


def test_ctrl_c_ends_a_long_prediction(folder):
    said = output_with_ctrl_c(LONG_PREDICTION, "print(len(model.predict(lines[:3], beam=4)))", str(folder))
    assert said == ["interrupted True", "3"]


# ------------------------------------------------------------------------------------------------- what cannot run


def test_an_instruction_set_that_does_not_exist(folder):
    """No answer is better than an empty one to every line."""
    code = (
        "import heed, numpy\n"
        "rows = numpy.ones((2, 2), 'f')\n"
        f"for call in (lambda: heed.load({str(folder)!r}), lambda: heed.attend(rows, rows)):\n"
        "    try:\n"
        "        call()\n"
        "    except heed.Error as error:\n"
        "        print('refused', 'HEED_ISA' in str(error))\n"
    )
    bogus = {**os.environ, "HEED_ISA": "bogus"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=bogus)
    assert done.stdout == "refused True\nrefused True\n", done.stderr


# ------------------------------------------------------------------------------------------------------ scores and JSON


def test_scores_are_those_of_the_program(model, folder, tmp_path):
    pairs = [("abc", "cba"), ("hello", "olleh"), ("", "x"), ("deed", "")]
    (tmp_path / "pairs.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in pairs))
    done = run("score", folder, tmp_path / "pairs.tsv", "--json", "--per-token")
    said = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert len(said) == len(pairs)
    for score, one in zip(model.score(pairs), said):
        if "error" in one:
            assert score.error == one["error"]
            continue
        assert score.error is None and score.log_probability == one["log_probability"] and score.tokens == one["tokens"]
        close(score.token_log_probabilities, one["token_log_probabilities"], 1e-6)
    assert [s.error for s in model.score(pairs)][2] == "the source is empty"
    assert model.score([]) == []
    for wrong in (["ab"], [("a",)], [("a", 1)]):
        with pytest.raises(TypeError):
            model.score(wrong)


def test_json_is_what_the_program_prints(model, folder):
    lines = LINES[:4]
    said = answers(
        "predict", folder, "--json", "--scores", "--alignments=matrix", "--nbest", 2, given="".join(f"{l}\n" for l in lines)
    )
    assert model.predict_json(lines, nbest=2) == said
    assert json.loads(model.predict_json("abc"))["output"] == model.predict("abc").text
    with pytest.raises(TypeError):
        model.predict_json("abc", beams=2)


# ------------------------------------------------------------------------------------------------------- running text


@pytest.mark.parametrize("stride", [None, 7, 64])
def test_what_is_written_is_what_is_scored(stride):
    model = heed.load(SOURCE / "tests/compat/0.1/next_token_transformer/checkpoint")  # of a context of 64
    written = model.predict("the cat", max_length=150, stride=stride).nbest[0]
    assert len(written.tokens) > 128
    scored = model.score([("the cat", written.text)], stride=stride)[0]
    assert scored.tokens[: len(written.tokens)] == written.tokens
    close(scored.token_log_probabilities[: len(written.tokens)], written.token_log_probabilities, 1e-4)
    looked = model.look("the cat", max_length=150, stride=stride)
    assert len(looked.main.queries) == len(looked.main.keys) == 8 + len(written.tokens)


def test_a_stride_must_fit():
    model = heed.load(SOURCE / "tests/compat/0.1/next_token_transformer/checkpoint")
    for wrong in (-1, 65):
        with pytest.raises(heed.Error, match="stride"):
            model.score([("", "the cat")], stride=wrong)
        with pytest.raises(heed.Error, match="stride"):
            model.predict("the cat", stride=wrong)


def test_models_pickle_and_copy(folder, tmp_path):
    """A pickled model needs none of its files, and is the one that was loaded even where training went on."""
    lines = LINES[:3]
    shutil.copytree(folder, tmp_path / "run")
    model = heed.load(tmp_path / "run")
    wanted = [str(one) for one in model.predict(lines)], model.score([(lines[0], "a")])[0].log_probability
    content, copies = pickle.dumps(model), (copy.copy(model), copy.deepcopy(model))
    shutil.rmtree(tmp_path / "run")
    for again in (pickle.loads(content), pickle.loads(pickle.dumps(pickle.loads(content))), *copies):
        assert ([str(one) for one in again.predict(lines)], again.score([(lines[0], "a")])[0].log_probability) == wanted
    with pytest.raises(heed.Error, match="cannot be copied, since its files are gone"):
        pickle.dumps(model)
    path = pickle.loads(content).path
    assert not os.path.exists(path)  # it lives as long as the model

    both = heed.load([folder, folder], mean="probabilities")
    again = pickle.loads(pickle.dumps(both))
    assert again.predict(lines[0], beam=3).score == both.predict(lines[0], beam=3).score


def test_what_was_loaded_is_what_is_pickled(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "run")
    steps = sorted(each.name for each in (tmp_path / "run").glob("step-*"))
    first = heed.load(tmp_path / "run", checkpoint=steps[0])
    last = heed.load(tmp_path / "run", checkpoint=steps[-1])
    scores = [model.score([("hello", "a")])[0].log_probability for model in (first, last)]
    assert len(steps) > 1 and scores[0] != scores[1]
    again = [pickle.loads(pickle.dumps(model)).score([("hello", "a")])[0].log_probability for model in (first, last)]
    assert again == scores
