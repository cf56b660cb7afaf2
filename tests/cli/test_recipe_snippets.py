# slow: 5 s
"""The recipes in docs/mechanisms: each that is shown is trained, and where none is shown there is none."""
import re

import pytest
from heed_program import CONFIG, SOURCE, from_json, heed, text

ENTRIES = {entry["name"]: entry for entry in from_json("mechanisms", "--json")}
TINY = """
[data]
task = "reverse"
examples = 8
valid_examples = 2
[stop]
steps = 1
[validate]
decode = 0
"""
LABELS = """
[data]
tsv = "FILE"
[stop]
steps = 1
[validate]
decode = 0
"""
TEXT = """
[data]
text = "FILE"
[stop]
steps = 1
[validate]
decode = 0
"""
SIZE = "model.width=16"


def shown(name):
    """The recipe on a page; None where there is none."""
    page = (SOURCE / "docs" / "mechanisms" / f"{name}.md").read_text()
    found = re.findall(r"In a recipe:\n\n```toml\n(.*?)```", page, re.S)
    assert len(found) == page.count("```toml") <= 1
    return found[0] if found else None


def trained(recipe, folder):
    """The finished process of one update."""
    (folder / "texts.tsv").write_text("".join(f"A text. Number {i}!\t{'ab'[i % 2]}\n" for i in range(20)))
    rest = TINY
    if 'task = "classification"' in recipe:
        rest = LABELS.replace("FILE", str(folder / "texts.tsv"))
    if 'task = "language_model"' in recipe:
        rest = TEXT.replace("FILE", str(folder / "texts.tsv"))
    (folder / "recipe.toml").write_text(recipe + rest)
    return heed("train", str(folder / "recipe.toml"), "--output", str(folder / "out"), "--threads", "1", "--set", SIZE)


@pytest.mark.parametrize("name", [name for name in ENTRIES if shown(name)])
def test_a_recipe_that_is_shown_trains(name, tmp_path):
    assert ENTRIES[name]["recipe"] == shown(name)
    assert name in shown(name)
    assert " ".join(shown(name).split()) in " ".join(text("mechanisms", name).split())
    done = trained(shown(name), tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ['kind = "rnn"', 'kind = "transformer"', 'task = "classification"',
                                  'task = "language_model"\nkind = "rnn"', 'task = "language_model"\nkind = "transformer"'])
@pytest.mark.parametrize("name", [name for name in ENTRIES if not shown(name)])
def test_without_a_recipe_no_model_takes_it(name, kind, tmp_path):
    assert ENTRIES[name]["recipe"] == ""
    page = (SOURCE / "docs" / "mechanisms" / f"{name}.md").read_text()
    said = re.search(r"^(A recipe has no key for it|No model in heed uses it): .*$", page, re.M)[0]
    assert said in " ".join(text("mechanisms", name).split())
    setting = f'{ENTRIES[name]["part"]} = "{name}"'
    done = trained(f'[model]\n{kind}\n[attention]\n{setting}\n', tmp_path)
    assert done.returncode == CONFIG
    assert "classification" in kind or setting.split()[0] in done.stderr


def test_most_have_one():
    assert sum(shown(name) is not None for name in ENTRIES) >= 37
