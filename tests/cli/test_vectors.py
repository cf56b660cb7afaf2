# slow: 5 s
"""heed train and predict: vectors of texts, learned from pairs and imported."""
import array
import ast
import json
import math

import pytest
from heed_program import SOURCE, run, text

GOLDEN = SOURCE / "tests" / "golden" / "imports"
NEAR = 1e-5


@pytest.fixture(name="imported", scope="module")
def imported_vectors(tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "bert.heed"
    said = text("import", str(GOLDEN / "bert_vectors"), "--output", str(path))
    assert "BERT of transformers" in said and "the mean of the states, of length 1" in said
    return path


def read_npy(file):
    """The rows of a file of NumPy, without NumPy."""
    data = file.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00" and (10 + int.from_bytes(data[8:10], "little")) % 64 == 0
    begin = 10 + int.from_bytes(data[8:10], "little")
    head = ast.literal_eval(data[10:begin].decode())
    assert head["descr"] == "<f4" and not head["fortran_order"]
    rows, width = head["shape"]
    numbers = array.array("f", data[begin:])
    assert len(numbers) == rows * width
    return [list(numbers[i * width:(i + 1) * width]) for i in range(rows)]


def expected(name):
    return json.loads((GOLDEN / name / "expected.json").read_text(encoding="utf-8"))["texts"]


def test_vectors_of_an_imported_model(imported, tmp_path):
    lines = [t for t in expected("bert_vectors") if "vector" in t and len(t["ids"]) > 2][:5]
    given = "".join(t["text"] + "\n" for t in lines).encode()
    printed = run("predict", imported, given=given).stdout.decode().splitlines()
    answers = [json.loads(line) for line in run("predict", imported, "--json", given=given).stdout.splitlines()]
    file = tmp_path / "vectors.npy"
    done = run("predict", imported, "--vectors", file, given=b"\n" + given + b"\n")
    assert done.returncode == 0 and done.stdout == b"", done.stderr
    rows = read_npy(file)
    assert len(rows) == len(lines) + 2 and all(len(row) == 24 for row in rows)
    assert all(math.isnan(x) for row in (rows[0], rows[-1]) for x in row)
    for wanted, row, line, answer in zip(lines, rows[1:], printed, answers):
        assert max(abs(a - b) for a, b in zip(row, wanted["vector"])) < NEAR
        assert json.loads(line) == answer["vector"]
        assert "output" not in answer and answer["source_tokens"][0] == "<s>"
    assert b"self-attention" in run("look", imported, lines[0]["text"]).stdout


def test_what_has_no_meaning_for_vectors_is_refused(imported, tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("a\tb\n")
    for words, why in ((("evaluate", imported, pairs), b"gives vectors"),
                       (("predict", imported, "--beam", "4"), b"beam"),
                       (("predict", imported, "--stream"), b"gives vectors"),
                       (("predict", imported, "--json", "--vectors", tmp_path / "x.npy"), b"--json")):
        done = run(*words, given=b"a\n")
        assert done.returncode != 0 and why in done.stderr, (words, done.stderr)


def test_pairs_of_texts_are_learned(tmp_path):
    words = ["red", "green", "blue", "black", "white", "old", "new", "big"]
    pairs = [(f"{a} {b}", f"{b.upper()} {a.upper()}") for a in words for b in words if a != b]
    (tmp_path / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
    done = run("train", tmp_path / "pairs.tsv", "--output", tmp_path / "model", "--set", "model.task=vectors",
               "--set", "data.text_tokens=words", "--set", "model.width=32", "--set", "stop.steps=60", "--set",
               "model.dropout=0", "--set", "train.learning_rate=0.01", "--set", "train.batch_tokens=256")
    assert done.returncode == 0, done.stderr
    file = tmp_path / "vectors.npy"
    run("predict", tmp_path / "model", "--vectors", file, given="".join(f"{a}\n{b}\n" for a, b in pairs).encode())
    rows = read_npy(file)
    right = 0
    for i, first in enumerate(rows[::2]):
        products = [sum(a * b for a, b in zip(first, second)) for second in rows[1::2]]
        right += sorted(products, reverse=True).index(products[i]) < 2  # "old red" and "red old" are alike
    assert right > 0.9 * len(pairs), right
