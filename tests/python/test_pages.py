"""The Python of README.md and of every page in docs/mechanisms runs."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md"] + sorted(p for p in (ROOT / "docs" / "mechanisms").glob("*.md") if p.stem != "README")


def test_the_model_of_the_readme(folder, monkeypatch, capsys):
    blocks = re.findall(r"^```python model\n(.*?)^```$", PAGES[0].read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    if folder is not None:
        monkeypatch.chdir(folder.parent)
        exec("import heed\n" + blocks[0], {})
        assert capsys.readouterr().out.count("\n") == 2


@pytest.mark.parametrize("page", PAGES, ids=[p.stem for p in PAGES])
def test_a_page(page):
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks
    names = {}
    exec("import heed", names)
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)
    assert names["attention"].context_width > 0
