"""heed explain: the formula with numbers, the page with sliders, and that the page computes what the library computes."""
# slow: 12 s
import json
import re
import shutil
import subprocess

import pytest
from heed_program import SOURCE, USAGE, from_json, heed, text

NAMES = text("mechanisms", "--names").split()
ATTENTION = SOURCE / "cli" / "explain" / "attention.js"
# Those that the page computes while its sliders move. The others show what the library computed.
WITH_SLIDERS = {"dot", "scaled_dot", "cosine", "general", "additive", "mlp", "projected", "self_scored", "intra", "softmax",
                "relu", "sigmoid", "identity", "hard", "hard_sampled", "sparsemax", "entmax15", "global", "local_m", "local_p",
                "causal", "masked", "sliding_window", "documents", "sinks", "dynamic", "forced_forward", "guided",
                "forward_only", "external", "self_attention", "cross_attention", "plain_mode", "key_value_mode", "single", "synthesizer_dense",
                "synthesizer_random", "synthesizer_mixture"}
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def computed_by_the_page(documents, temperature=1):
    """What attention.js makes of each document; None where it leaves it to the library."""
    program = (f"const a = require({json.dumps(str(ATTENTION))});"
               "const all = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
               f"console.log(JSON.stringify(all.map((d) => a.compute(d, {temperature}))));")
    done = subprocess.run(["node", "-e", program], input=json.dumps(documents), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def flat(numbers):
    return [x for each in numbers for x in flat(each)] if isinstance(numbers, list) else [numbers]


def expect_same(found, document):
    assert flat(found["weights"]) == pytest.approx(flat(document["weights"]), abs=2e-6)
    assert flat(found["context"]) == pytest.approx(flat(document["context"]), abs=5e-6)
    if document["scores"]:
        past_only = document["options"]["score"] == "intra"  # the library computes no other score
        for i, (mine, other) in enumerate(zip(found["scores"], document["scores"][0])):
            assert mine[: i if past_only else None] == pytest.approx(other[: i if past_only else None], abs=5e-6)


@needs_node
def test_the_page_computes_what_the_library_computes():
    documents = [from_json("explain", name, "--json") for name in NAMES]
    found = dict(zip(NAMES, computed_by_the_page(documents)))
    assert WITH_SLIDERS - {name for name in NAMES if found[name]} == set()
    for document in documents:
        if found[document["name"]]:
            expect_same(found[document["name"]], document)


SLIDERS = [("local_p", "window", "2"), ("local_p", "window", "4"), ("local_p", "sigma", "0.3"), ("local_p", "sigma", "2.5"),
           ("local_m", "window", "3"), ("sliding_window", "window", "4"), ("causal", "strict", "true"), ("sinks", "sinks", "3"),
           ("cosine", "temperature", "7.5"), ("self_scored", "form", "linear"), ("mlp", "depth", "3"),
           ("relu", "divide_by_visible", "true"), ("hard_sampled", "at_test", "argmax")]


@needs_node
@pytest.mark.parametrize("name,option,value", SLIDERS)
def test_sliders(name, option, value):
    document = from_json("explain", name, "--json", "--set", f"{option}={value}")
    (found,) = computed_by_the_page([document])
    expect_same(found, document)


@needs_node
@pytest.mark.parametrize("name", ["dot", "additive", "local_p", "sparsemax", "entmax15", "forced_forward", "forward_only"])
def test_a_query_that_moves(name):
    before = from_json("explain", name, "--json")
    for query in ([-1.3, 0.7], [2.0, -2.0], [0.0, 0.0]):
        document = from_json("explain", name, "--json", "--query", ",".join(map(str, query)))
        before["query_rows"][1] = query
        (found,) = computed_by_the_page([before])
        expect_same(found, document)


@needs_node
def test_the_temperature_divides_the_scores():
    """Of a dot product: a query that is divided by 4 instead."""
    hot = from_json("explain", "dot", "--json")
    (found,) = computed_by_the_page([hot], temperature=4)
    cool = from_json("explain", "dot", "--json", "--query", "0.125,0.4")
    assert found["weights"][1] == pytest.approx(cool["weights"][0][1], abs=2e-6)


@pytest.mark.parametrize("name", NAMES)
def test_three_words_on_the_terminal(name):
    said = text("explain", name)
    example = from_json("explain", name, "--json")
    assert "A worked example, computed by the library" in said and "Paper" in said
    assert not example["refused"], f"{name} has no worked example: {example['refused']}"
    assert "weight a" in said and "context c" in said


def test_numbers_by_hand():
    """(0.5, 1.6) . (0.4, 1.5) = 0.2 + 2.4"""
    said = text("explain", "dot")
    (scores,) = re.findall(r"^score e +(\S+) +(\S+) +(\S+)$", said, re.M)
    assert scores == ("0.82", "2.60", "0.84")
    (weights,) = re.findall(r"^weight a +(\S+) +(\S+) +(\S+)$", said, re.M)
    assert weights == ("0.13", "0.75", "0.13")


def test_a_picture(tmp_path):
    paths = [tmp_path / "a.svg", tmp_path / "b.svg"]
    text("explain", "local_m", "--svg", str(paths[0]))
    text("explain", "local_m", "--svg", str(paths[1]), "--set", "window=3")
    narrow, wide = (path.read_text() for path in paths)
    assert narrow == (SOURCE / "docs" / "mechanisms" / "local_m.svg").read_text()
    assert wide.count("<rect") > narrow.count("<rect")


@pytest.mark.parametrize("name", ["local_p", "multi_head", "transformer_encoder"])
def test_the_page_needs_nothing_else(name, tmp_path):
    path = tmp_path / "page.html"
    assert text("explain", name, "--html", str(path)) == ""
    page = path.read_text()
    assert page.startswith("<!DOCTYPE html>") and "<math" in page and "HEED_" not in page
    assert not re.findall(r"""(?:src|href)=|url\(|@import|https?://(?!www\.w3\.org)""", page)
    facts = json.loads(re.search(r'<script type="application/json" id="facts">(.*?)</script>', page, re.S)[1])
    assert (name == "transformer_encoder") == (facts == {})
    if facts:
        assert any(other["name"] == name for other in facts["others"])


def test_pages_of_models_in_the_tree_are_those_that_are_generated(tmp_path):
    made = tmp_path / "models"
    assert text("explain", "--markdown", str(made)) == ""
    kept = SOURCE / "docs" / "models"
    assert sorted(p.name for p in kept.iterdir()) == sorted(p.name for p in made.iterdir()), "run make docs"
    for page in made.iterdir():
        assert (kept / page.name).read_text() == page.read_text(), f"{page.name} is out of date: run make docs"
        for link in re.findall(r"\]\(([^)#]+)", page.read_text()):
            assert (kept / link).exists(), f"{page.name}: {link}"


def test_every_model_is_explained():
    for name in re.findall(r"^\| \w+ \| \[(\w+)\]", (SOURCE / "docs" / "models" / "README.md").read_text(), re.M):
        said = text("explain", name)
        assert all(heading in said for heading in ("Shapes", "Cost", "Paper", "Try")), name


@pytest.mark.parametrize("arguments,told", [
    (["adittive"], "additive"),
    ([], "NAME is missing"),
    (["local_p", "--set", "windw=2"], "window"),
    (["local_p", "--set", "window"], "OPTION=VALUE"),
    (["local_p", "--set", "window=wide"], "expected a number"),
    (["dot", "--set", "window=2"], "window"),
    (["dot", "--query", "1"], "expected 2 numbers"),
    (["dot", "--query", "1,x"], "two numbers"),
    (["positions", "--query", "1,2"], "model"),
    (["dot", "--json", "--html", "x.html"], "cannot be combined"),
])
def test_mistakes_are_named(arguments, told):
    done = heed("explain", *arguments)
    assert done.returncode == USAGE and told in done.stderr, done.stderr


def test_an_option_that_makes_no_sense_gives_the_reason():
    assert "local_p needs a window" in text("explain", "local_p", "--set", "window=0")
