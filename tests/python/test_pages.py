"""The Python of README.md and of every page in docs/mechanisms runs."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md"] + sorted(p for p in (ROOT / "docs" / "mechanisms").glob("*.md") if p.stem != "README")


@pytest.mark.parametrize("page", PAGES, ids=[p.stem for p in PAGES])
def test_a_page(page):
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks
    names = {}
    exec("import heed", names)
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)
    assert names["attention"].context_width > 0
