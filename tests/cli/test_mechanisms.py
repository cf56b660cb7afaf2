"""heed mechanisms: the list, each of them, JSON and pages."""
import re

import pytest
from heed_program import SOURCE, from_json, heed, text

PARTS = ["score", "normalise", "region", "time", "input", "structure"]
NAMES = text("mechanisms", "--names").split()
# The list in the source, read by other means. static_query is there for `static`, which is a word of C++.
LISTED = [name.replace("static_query", "static")
          for name in re.findall(r"X\((\w+)\)", (SOURCE / "heed" / "attend" / "all.h").read_text())]


def test_every_entry_is_listed_once():
    assert NAMES == LISTED
    assert len(set(NAMES)) == len(NAMES)


def test_the_list_has_a_line_for_each():
    lines = [line.split() for line in text("mechanisms").splitlines() if line.startswith("  ")]
    assert sorted(line[1] for line in lines) == sorted(NAMES)
    assert all(re.fullmatch(r"[SNRTIL]\d+", line[0]) for line in lines)


@pytest.mark.parametrize("columns", [60, 80, 130, 200])
@pytest.mark.parametrize("name", ["", "key_value", "multi_head", "hard_sampled"])
def test_text_fits_the_terminal(columns, name):
    said = text(*["mechanisms", name][: 2 if name else 1], COLUMNS=str(columns))
    assert max(map(len, said.splitlines())) <= columns


def test_wide_terminals_see_formulas():
    assert "e_ij = q_i . k_j / sqrt(D)" in text("mechanisms", COLUMNS="160")
    assert "e_ij = q_i . k_j / sqrt(D)" not in text("mechanisms", COLUMNS="80")


def test_parts_split_the_list():
    by_part = [text("mechanisms", "--names", "--part", part).split() for part in PARTS]
    assert sorted(sum(by_part, [])) == sorted(NAMES)
    for part, names in zip(PARTS, by_part):
        assert [entry["name"] for entry in from_json("mechanisms", "--part", part, "--json")] == names
        lines = [line.split()[1] for line in text("mechanisms", "--part", part).splitlines() if line.startswith("  ")]
        assert lines == names


@pytest.mark.parametrize("name", NAMES)
def test_each_one(name):
    said, entry = text("mechanisms", name), from_json("mechanisms", name, "--json")
    assert entry["name"] == name and entry["part"] in PARTS
    together = " ".join(said.split())
    for field in ("title", "formula", "paper", "time", "memory", "combines", "page"):
        assert entry[field], field
        assert " ".join(entry[field].split()) in together, field
    for option in entry["options"]:
        assert option["name"] in said and option["meaning"]
        assert isinstance(option["default"], {"string": str, "boolean": bool, "integer": int,
                                              "number": float}[option["type"]])
    for parameter in entry["parameters"]:
        assert f"{parameter['name']} " in said and str(parameter["shape"]) in said
        assert all(n > 0 for n in parameter["shape"])
    assert entry["settings"]


def test_aliases_lead_to_the_same_place():
    assert text("mechanisms", "concat") == text("mechanisms", "additive")
    assert from_json("mechanisms", "han", "--json")["name"] == "hierarchical"


def test_parameters_are_those_of_a_real_model():
    entry = from_json("mechanisms", "additive", "--json")
    assert entry["sample"] == {"query_width": 12, "key_width": 8, "hidden": 6}
    assert {p["name"]: p["shape"] for p in entry["parameters"]} == {
        "score.query.weight": [6, 12], "score.key.weight": [6, 8], "score.bias": [6], "score.v": [6]}


def test_settings_are_what_the_name_stands_for():
    assert from_json("mechanisms", "additive", "--json")["settings"] == {"score": "additive"}
    assert from_json("mechanisms", "multi_head", "--json")["settings"] == {
        "structure": "multi_head", "heads": 4, "project": True, "project_output": True}
    depth = [o for o in from_json("mechanisms", "mlp", "--json")["options"] if o["name"] == "depth"][0]
    assert depth["default"] == 1 and depth["by_name"] == 2


def test_all_as_json():
    assert [entry["name"] for entry in from_json("mechanisms", "--json")] == NAMES


# ------------------------------------------------------------------------------------------------------------- pages

def test_pages_in_the_tree_are_those_that_are_generated(tmp_path):
    made = tmp_path / "new" / "pages"
    assert text("mechanisms", "--markdown", str(made)) == ""
    kept = SOURCE / "docs" / "mechanisms"
    expected = [f"{name}.md" for name in NAMES + ["README"]] + [f"{name}.svg" for name in NAMES]
    assert sorted(p.name for p in made.iterdir()) == sorted(expected)
    assert sorted(p.name for p in kept.iterdir()) == sorted(p.name for p in made.iterdir()), "run make docs"
    for page in made.iterdir():
        assert (kept / page.name).read_text() == page.read_text(), f"{page.name} is out of date: run make docs"
        if page.suffix == ".md":
            assert page.read_text().startswith("<!-- generated from heed/attend by `make docs`; do not edit -->")
            assert "```math" in page.read_text() and "## Worked example" in page.read_text() or page.stem == "README"


def test_links_of_the_index_lead_somewhere():
    folder = SOURCE / "docs" / "mechanisms"
    for page in folder.glob("*.md"):
        for link in re.findall(r"\]\(([^)#]+)", page.read_text()):
            assert (folder / link).exists(), f"{page.name}: {link}"


def test_every_option_of_the_catalogue_is_in_the_index():
    index = (SOURCE / "docs" / "mechanisms" / "README.md").read_text()
    options = re.findall(r"^  X\([\w:]+, +(\w+),", (SOURCE / "heed" / "attend" / "options.h").read_text(), re.M)
    assert len(options) > 30
    for option in options:
        assert f"| `{option}` |" in index


def test_nothing_is_said_where_a_page_is_written_twice(tmp_path):
    for _ in range(2):
        done = heed("mechanisms", "--markdown", str(tmp_path))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
