# slow: 3 s
"""heed predict: one line for one line, in order and at once, whatever the lines are."""
import gzip
import json
import math
import os
import pty
import select
import subprocess
import threading

import pytest
from heed_program import CANNOT_CREATE, DATA, NO_INPUT, OUTPUT, PROGRAM, USAGE, answers, run, train_small

SOURCES = ["abc", "hello", "a", "zyx0wvu", "deed", "alongerlineofletters", "q", "reverse"]
TEXT = "".join(line + "\n" for line in SOURCES)


def as_json(model, *arguments, given=TEXT):
    return [json.loads(line) for line in answers("predict", model, "--json", *arguments, given=given)]


# ----------------------------------------------------------------------------------------------------- line by line

def test_a_line_for_each_line_in_order(model):
    said = answers("predict", model, given=TEXT)
    assert len(said) == len(SOURCES) and len(set(said)) > 1
    alone = [answers("predict", model, given=source + "\n") for source in SOURCES]
    assert [[line] for line in said] == alone
    assert answers("predict", model, given="".join(s + "\n" for s in SOURCES[::-1])) == said[::-1]


@pytest.mark.parametrize("batch", [1, 3, 1000])
def test_batches_change_nothing(model, batch):
    assert answers("predict", model, "--batch", batch, given=TEXT) == answers("predict", model, given=TEXT)


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_nothing(model, threads):
    """Not even the last digit of a score, with lines enough for several batches."""
    many = TEXT * 40
    for search in (["--scores"], ["--beam", 4, "--scores"], ["--sample", "--seed", 3, "--scores"]):
        right = answers("predict", model, *search, "--threads", 1, given=many)
        assert len(right) == len(SOURCES) * 40
        assert answers("predict", model, *search, "--threads", threads, given=many) == right


def test_empty_lines_and_ends_of_lines(model):
    a, b = answers("predict", model, given="abc\nhello\n")
    assert answers("predict", model, given="") == []
    assert answers("predict", model, given="\n") == [""]
    assert answers("predict", model, given="\nabc\n\n\nhello\n\n") == ["", a, "", "", b, ""]
    assert answers("predict", model, given="abc\r\nhello") == [a, b]
    assert answers("predict", model, given="\ufeffabc\nhello\n") == [a, b]
    assert answers("predict", model, "--scores", "--alignments", given="\n") == [""]


def test_invalid_utf8_is_named_and_shifts_nothing(model):
    a, b = answers("predict", model, given="abc\nhello\n")
    done = run("predict", model, given=b"abc\nb\xffd\nhello\n\xe4\n")
    assert done.returncode == 0
    assert done.stdout.decode() == f"{a}\n\n{b}\n\n"
    assert done.stderr.decode().splitlines() == [
        "heed: line 2: byte 2 is not valid UTF-8; its output is empty",
        "heed: line 4: byte 1 is not valid UTF-8; its output is empty"]
    done = run("predict", model, "--json", given=b"abc\nb\xffd\nhello\n")
    lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert [line["output"] for line in lines] == [a, "", b]
    assert [line.get("error") for line in lines] == [None, "byte 2 is not valid UTF-8", None]


def test_a_line_of_100000_tokens(model):
    said = answers("predict", model, given="abc\n" + "abcdefghij" * 10000 + "\nhello\n")
    assert [said[0], said[2]] == answers("predict", model, given="abc\nhello\n")
    assert len(said) == 3 and said[1]


def test_lines_that_the_model_has_no_places_for(placed):
    a, b = answers("predict", placed, given="abc\n" + "b" * 40 + "\n")
    done = run("predict", placed, given=b"abc\n" + b"b" * 41 + b"\n" + b"b" * 40 + b"\n")
    assert done.returncode == 0 and done.stdout.decode() == f"{a}\n\n{b}\n"
    assert "line 2: 41 tokens are too many: the model has positions for 40" in done.stderr.decode()


# --------------------------------------------------------------------------------------------------------- streaming

def begin(*arguments, **more):
    return subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **more)


def read_line(process, seconds=60):
    """A line of its output, and never more than that."""
    line = b""
    while not line.endswith(b"\n"):
        assert select.select([process.stdout], [], [], seconds)[0], "there is no answer"
        line += os.read(process.stdout.fileno(), 1)
    return line.decode().rstrip("\n")


def test_answers_come_while_the_input_is_open(model):
    expected = answers("predict", model, given=TEXT)
    with begin("predict", model, bufsize=0) as process:
        for source, answer in zip(SOURCES, expected):
            process.stdin.write(source.encode() + b"\n")
            assert read_line(process) == answer
        process.stdin.write(b"ab")  # a line may come in pieces
        assert not select.select([process.stdout], [], [], 0.2)[0]
        process.stdin.write(b"c\n")
        assert read_line(process) == expected[0]
        process.stdin.close()
        assert process.stdout.read() == b"" and process.wait(60) == 0
        assert process.stderr.read() == b""


def test_outputs_are_printed_while_they_are_written(model):
    """The same bytes, in more pieces."""
    for search in ([], ["--sample", "--seed", 3], ["--must", "zq"], ["--copy-unknown"]):
        assert answers("predict", model, "--stream", *search, given=TEXT) == answers("predict", model, *search, given=TEXT)
    for both in (["--json"], ["--beam", 2], ["--nbest", 2], ["--alignments"], ["--scores"]):
        done = run("predict", model, "--stream", *both, given=TEXT.encode())
        assert done.returncode == USAGE and "--stream shows an output" in done.stderr.decode() and done.stdout == b""


def test_streams_say_what_is_wrong_with_a_line(model):
    done = run("predict", model, "--stream", given=b"abc\nb\xffd\nhello\n")
    assert done.returncode == 0 and done.stdout.decode().splitlines()[1] == ""
    assert "line 2: " in done.stderr.decode() and "its output is empty" in done.stderr.decode()


def test_more_input_than_a_pipe_holds(model):
    lines = [SOURCES[i % len(SOURCES)] for i in range(20000)]
    with begin("predict", model, "--max-length", "2") as process:
        given = "".join(line + "\n" for line in lines).encode()
        writer = threading.Thread(target=lambda: (process.stdin.write(given), process.stdin.close()))
        writer.start()
        said = process.stdout.read().decode().splitlines()
        writer.join()
        assert process.wait(60) == 0
    by_source = dict(zip(SOURCES, answers("predict", model, "--max-length", "2", given=TEXT)))
    assert said == [by_source[line] for line in lines]


def test_a_reader_that_goes_away_ends_it_quietly(model):
    with begin("predict", model, bufsize=0) as process:
        process.stdin.write(b"abc\n")
        read_line(process)
        process.stdout.close()
        assert process.wait(60) == 0  # although the input is open, and says nothing
        assert process.stderr.read() == b""


def test_a_reader_that_goes_away_while_it_writes(model):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        done = subprocess.run([PROGRAM, "predict", str(model)], input=TEXT.encode() * 100, stdout=closed,
                              stderr=subprocess.PIPE, check=False, timeout=60)
    assert done.returncode == 0 and done.stderr == b""


def test_a_full_disk_is_an_error(model):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([PROGRAM, "predict", str(model)], input=b"abc\n", stdout=full, stderr=subprocess.PIPE,
                              check=False, timeout=60)
    assert done.returncode == OUTPUT and b"could not be written" in done.stderr


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_on_a_terminal_only(model, terminal):
    master, slave = pty.openpty()
    with subprocess.Popen([PROGRAM, "predict", str(model)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=slave if terminal else subprocess.DEVNULL) as process:
        process.communicate(TEXT.encode())
    os.close(slave)
    said = os.read(master, 65536).decode() if terminal else ""
    os.close(master)
    assert ("8 lines, " in said and said.endswith("\r\033[K")) == terminal


# -------------------------------------------------------------------------------------------------------------- files

def test_files_instead_of_standard_input(model, tmp_path):
    right = answers("predict", model, "--sample", "--scores", given=TEXT)
    (tmp_path / "one").write_text("\ufeff" + "\n".join(SOURCES[:3]))  # the last line ends with the file
    with gzip.open(tmp_path / "two", "wt") as file:
        file.write("".join(line + "\r\n" for line in SOURCES[3:5]))
    rest = "".join(line + "\n" for line in SOURCES[5:])
    one, two = tmp_path / "one", tmp_path / "two"
    assert answers("predict", model, one, two, "-", "--sample", "--scores", given=rest) == right
    assert answers("predict", model, one, two, "--sample", "--scores", given="not read") == right[:5]
    assert [said["line"] for said in as_json(model, one, "--batch", "2", given="")] == [1, 2, 3]
    (tmp_path / "none").write_text("")
    assert answers("predict", model, tmp_path / "none", given="") == []
    assert answers("predict", model, tmp_path / "none", one, "--sample", "--scores", given="") == right[:3]


# ------------------------------------------------------------------------------------------------------------ unknown

@pytest.mark.parametrize("given, says", [
    ("abc\n", ""),
    ("a\u00dfc\n", "1 of 1 line contains a character the model never saw: \u00df; its output is a guess"),
    ("abc\n\u00df\u03a9\u00df\n", "1 of 2 lines contains characters the model never saw: \u00df, \u03a9; its output is a guess"),
    ("a\u03a9\nb\u00df\n\u00df\u03a9\n\u03a9\nq\n",
     "4 of 5 lines contain characters the model never saw: \u03a9, \u00df; their outputs are a guess"),
    ("a b\tc\u0301\n", "1 of 1 line contains characters the model never saw: U+0020, U+0009, U+0301; its output is a guess"),
    ("ABCDEFGHIJK\n",
     "1 of 1 line contains characters the model never saw: A, B, C, D, E, F, G, H, I, J (1 more kind); its output is a guess"),
])
def test_what_the_model_never_saw(model, given, says):
    done = run("predict", model, given=given.encode())
    assert done.returncode == 0 and done.stderr.decode() == (f"heed: {says}\n" if says else "")
    assert len(done.stdout.decode().splitlines()) == len(given.splitlines())


def test_unknown_tokens_in_json(model):
    done = run("predict", model, "--json", given="abc\n\u00dfa\u03a9\u00df\n\n".encode())
    said = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert [line["unknown"] for line in said] == [[], ["\u00df", "\u03a9"], []]
    assert said[1]["source_tokens"] == ["<unk>", "a", "<unk>", "<unk>"]


@pytest.fixture(name="copier", scope="module")
def model_that_writes_unknown_tokens(tmp_path_factory):
    """It says each word again, and knows few words of many: most of what it writes is unknown."""
    folder = tmp_path_factory.mktemp("copier")
    words = [f"w{a}{b}" for a in "abcdefghij" for b in "klmnopqrst"]
    (folder / "pairs.tsv").write_text("".join(f"{w} {v}\t{w} {v}\n" for w, v in zip(words, words[7:] + words[:7])))
    return train_small(folder / "model", "data.task=none", f"data.tsv={folder / 'pairs.tsv'}", "data.held_out=0.1",
                       "data.source_tokens=words", "data.target_tokens=words", "data.target_size=5", "stop.steps=40")


def test_words_that_the_model_never_saw(copier):
    done = run("predict", copier, given="wak gross wbl\nwak klein\n".encode())
    assert done.stderr.decode() == ("heed: 2 of 2 lines contain words the model never saw: gross, klein; "
                                    "their outputs are a guess\n")


def test_unknown_outputs_are_copied_from_the_source(copier):
    given = "wak Zebra wbl\nwcm Otter\n"
    def said(*options):
        done = run("predict", copier, "--json", *options, given=given.encode())
        return [json.loads(line) for line in done.stdout.decode().splitlines()]
    seen = 0
    for plain, copied, source in zip(said("--alignments", "--allow-unknown"), said("--copy-unknown"), given.splitlines()):
        assert plain["tokens"] == copied["tokens"] and plain["score"] == copied["score"] and "alignment" not in copied
        words = source.split()
        looked_at = {j: words[i] for i, j in plain["alignment"]}
        assert copied["output"].split() == [looked_at[j] if token == "<unk>" else token
                                            for j, token in enumerate(plain["tokens"])]
        assert ("\u2047" in plain["output"]) == ("<unk>" in plain["tokens"]) and "\u2047" not in copied["output"]
        seen += plain["tokens"].count("<unk>")
    assert seen > 0
    assert not any("<unk>" in line["tokens"] or "\u2047" in line["output"] for line in said())


# ------------------------------------------------------------------------------------------------------------- search

def test_a_beam_finds_nothing_less_likely(model):
    greedy = as_json(model)
    beam = as_json(model, "--beam", "8")
    assert sum(b["score"] for b in beam if b["finished"]) >= sum(
        g["score"] for g, b in zip(greedy, beam) if b["finished"]) - 1e-4
    assert all(g["score"] == g["log_probability"] for g in greedy)


def test_nbest_are_different_and_sorted(model):
    for line in as_json(model, "--nbest", "4"):
        outputs = line["outputs"]
        assert len(outputs) == 4 and outputs[0]["output"] == line["output"]
        assert len({tuple(o["tokens"]) for o in outputs}) == 4
        for finished in (True, False):
            scores = [o["score"] for o in outputs if o["finished"] == finished]
            assert scores == sorted(scores, reverse=True)


def test_fields_of_plain_lines(model):
    objects = as_json(model, "--nbest", "2", "--alignments")
    for line, source in zip(answers("predict", model, "--nbest", "2", "--scores", "--alignments", given=TEXT), objects):
        fields = line.split("\t")
        assert len(fields) == 6
        for i, output in enumerate(source["outputs"]):
            score, text, links = fields[3 * i:3 * i + 3]
            assert float(score) == pytest.approx(output["score"], abs=1e-6) and text == output["output"]
            assert links == " ".join(f"{i}-{j}" for i, j in output["alignment"])


def test_alignments(model):
    for plain, full in zip(as_json(model, "--alignments"), as_json(model, "--alignments=matrix")):
        assert len(plain["alignment"]) == len(plain["tokens"]) == len(full["alignment"])
        for (i, j), row in zip(plain["alignment"], full["alignment"]):
            assert len(row) == len(plain["source_tokens"]) and sum(row) == pytest.approx(1, abs=1e-4)
            assert row[i] == max(row) and full["alignment"][j] is row
        assert "".join(plain["tokens"]) == plain["output"]


def test_the_length_penalty_divides(model):
    for line in as_json(model, "--beam", "3", "--length-penalty", "0.7"):
        length = len(line["tokens"]) + line["finished"]
        assert line["score"] == pytest.approx(line["log_probability"] / ((5 + length) / 6) ** 0.7, rel=1e-6)


def test_the_coverage_penalty_is_for_what_was_not_looked_at(model):
    weight = 0.4
    seen = 0
    for line in as_json(model, "--beam", "3", "--coverage", str(weight), "--alignments=matrix"):
        penalty = (line["score"] - line["log_probability"]) / weight
        sums = [sum(row[j] for row in line["alignment"]) for j in range(len(line["source_tokens"]))]
        # The end looked at something too, and stands in no row: the penalty is at most that of the rows.
        least = sum(math.log(min(max(total, 1e-6), 1)) for total in sums)
        assert least - 1e-3 <= penalty <= 1e-6
        seen += penalty < -1e-3
    assert seen > 0


def test_samples_follow_from_seed_and_line(model):
    first = answers("predict", model, "--sample", "--seed", "1", given=TEXT)
    assert first == answers("predict", model, "--sample", "--seed", "1", "--batch", "1", given=TEXT)
    assert first != answers("predict", model, "--sample", "--seed", "2", given=TEXT)
    assert first != answers("predict", model, given=TEXT)
    cold = ("--sample", "--temperature", "0.001"), ("--sample", "--top-k", "1"), ("--sample", "--top-p", "1e-9")
    assert all(answers("predict", model, *c, given=TEXT) == answers("predict", model, given=TEXT) for c in cold)
    assert len(as_json(model, "--sample", "--nbest", "5")[0]["outputs"]) == 5


def test_max_length(model):
    assert all(len(line["tokens"]) <= 2 for line in as_json(model, "--max-length", "2"))
    assert any(len(line["tokens"]) > 2 for line in as_json(model))


# -------------------------------------------------------------------------------------------------------------- models

def test_checkpoints(model):
    best = (model / "best.txt").read_text().strip()
    assert answers("predict", model, "--checkpoint", best, given=TEXT) == answers("predict", model, given=TEXT)
    assert answers("predict", model / best, given=TEXT) == answers("predict", model, given=TEXT)
    assert answers("predict", model, "--checkpoint", "step-000020", given=TEXT) != answers(
        "predict", model, "--checkpoint", "last", given=TEXT)


@pytest.mark.parametrize("arguments, code, says", [
    ((), USAGE, "predict: MODEL is required"),
    (("nowhere",), NO_INPUT, "there is no model 'nowhere'"),
    (("EMPTY",), DATA, "holds no checkpoint"),
    (("DAMAGED",), DATA, "weights.safetensors has changed"),
    (("MODEL", "--checkpoint", "step-00002"), NO_INPUT, "did you mean 'step-000020'?"),
    (("MODEL", "--beem", "3"), USAGE, "there is no option '--beem'; did you mean '--beam'?"),
    (("MODEL", "--beam", "0"), USAGE, "--beam"),
    (("MODEL", "--beam", "five"), USAGE, "--beam"),
    (("MODEL", "--beam", "2", "--nbest", "3"), USAGE, "--nbest 3 needs a beam of at least 3, not 2"),
    (("MODEL", "--beam", "2", "--sample"), USAGE, "--sample cannot be combined with a beam of 2"),
    (("MODEL", "--temperature", "0.5"), USAGE, "--sample"),
    (("MODEL", "--top-p", "1.5", "--sample"), USAGE, "--top-p: must be a number from 1e-09 to 1, not 1.5"),
    (("MODEL", "--top-p", "0", "--sample"), USAGE, "--top-p: must be a number from 1e-09 to 1, not 0"),
    (("MODEL", "--top-p", "nan", "--sample"), USAGE, "--top-p: must be a number from 1e-09 to 1, not nan"),
    (("MODEL", "--temperature", "warm", "--sample"), USAGE, "--temperature"),
    (("MODEL", "--alignments=matrx"), USAGE, "did you mean 'matrix'?"),
    (("MODEL", "--alignments=matrix"), USAGE, "--alignments=matrix needs --json"),
    (("MODEL", "--alignments=picture", "--json"), USAGE, "--pictures FOLDER writes files"),
    (("MODEL", "--alignments=picture", "--stream"), USAGE, "cannot be combined"),
    (("MODEL", "--picture-format", "png"), USAGE, "--pictures"),
    (("MODEL", "--pictures", "/dev/null/x"), CANNOT_CREATE, "cannot make the folder"),
    (("PLACED", "--max-length", "41"), USAGE, "the model has positions for 40"),
    (("MODEL", "another"), NO_INPUT, "there is no file 'another'"),
    (("MODEL", "-", "another"), NO_INPUT, "there is no file 'another'"),
    (("MODEL", "EMPTY"), DATA, "is a folder"),
    (("MODEL", "-", "-"), USAGE, "standard input (-) can be read only once"),
])
def test_wrong_usage(model, placed, damaged, tmp_path, arguments, code, says):
    # pylint: disable=too-many-arguments
    there = {"MODEL": model, "PLACED": placed, "DAMAGED": damaged, "EMPTY": tmp_path}
    done = run("predict", *[there.get(a, a) for a in arguments], given=b"abc\n")
    assert done.returncode == code, done.stderr
    assert says in done.stderr.decode() and done.stderr.startswith(b"heed: ") and done.stdout == b""


# -------------------------------------------------------------------------------------------------- which head, which rank

def test_pictures_below_the_outputs(model):
    plain = run("predict", model, given=TEXT.encode()).stdout.decode().splitlines()
    done = run("predict", model, "--alignments=picture", given=TEXT.encode())
    assert (done.returncode, done.stderr) == (0, b"")
    shown = done.stdout.decode().splitlines()
    matrices = as_json(model, "--alignments=matrix")
    at = 0
    for output, found in zip(plain, matrices):
        assert shown[at] == output
        at += 1
        if not found.get("alignment"):
            continue
        rows = shown[at + 1:at + 1 + len(found["tokens"])]
        for row, token, weights in zip(rows, found["tokens"], found["alignment"]):
            cells = row.split()[-1]
            assert row.split()[0] == ("␣" if token == " " else token)
            assert len(cells) == 2 * len(found["source_tokens"])
            # Darker cells for larger weights.
            shades = ["·░▒▓█".index(cell) for cell in cells[::2]]
            assert shades[weights.index(max(weights))] == max(shades)
        at += 2 + len(rows)
        assert shown[at - 1] == ""
    assert at == len(shown)


def test_pictures_in_files(model, tmp_path):
    folder = tmp_path / "new" / "looked"
    done = run("predict", model, "--pictures", folder, given=TEXT.encode())
    assert (done.returncode, done.stderr, done.stdout) == (0, b"", run("predict", model, given=TEXT.encode()).stdout)
    found = as_json(model, "--alignments=matrix")
    assert {f.name for f in folder.iterdir()} == {f"{one['line']}.svg" for one in found if one.get("alignment")}
    one = next(one for one in found if one.get("alignment"))
    drawing = (folder / f"{one['line']}.svg").read_text()
    weights = [w for row in one["alignment"] for w in row]
    assert drawing.count('class="on"') == sum(w >= 0.0049 for w in weights) + 5  # and the legend
    # Beside what --json says.
    assert as_json(model, "--pictures", folder, "--alignments=matrix") == found
    png = run("predict", model, "--pictures", folder, "--picture-format", "png", "--scale", "1", given=TEXT.encode())
    if b"built without Pango" not in png.stderr:
        assert png.returncode == 0, png.stderr
        assert (folder / f"{one['line']}.png").read_bytes().startswith(b"\x89PNG")


def test_alignments_of_one_head(model):
    """An rnn has one layer with one head: to ask for it changes nothing, to ask for another is refused at once."""
    usual = answers("predict", model, "--json", "--alignments=matrix", given=TEXT)
    assert answers("predict", model, "--json", "--alignments=matrix", "--layer", 1, "--head", 1, given=TEXT) == usual
    for wrong, word in ((["--layer", 2], "--layer 2: the decoder has 1"), (["--head", 2], "--head 2: layer 1")):
        done = run("predict", model, "--alignments", *wrong, given=TEXT.encode())
        assert done.returncode == USAGE and word in done.stderr.decode() and done.stdout == b""


def test_mean_score_is_the_mean_of_the_tokens(model):
    for said in as_json(model, "--beam", 3, "--nbest", 3, "--mean-score", "--scores"):
        for output in said["outputs"]:
            logs = output["token_log_probabilities"]
            assert math.isclose(output["score"], sum(logs) / len(logs), rel_tol=1e-5)
    done = run("predict", model, "--mean-score", "--length-penalty", 1, given=TEXT.encode())
    assert done.returncode == USAGE and "--mean-score" in done.stderr.decode()
