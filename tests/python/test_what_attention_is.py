"""docs/what_attention_is.md: its numbers are what the library computes, in both languages."""
import contextlib
import io
import math
import os
import pathlib
import re

import pytest

# The sources: two folders above this file, wherever the module itself is installed.
DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGES = [DOCS / "what_attention_is.md", DOCS / "zh" / "what_attention_is.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_programs_print_what_the_page_says(page):
    pairs = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    assert pairs
    for program, told in pairs:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program, os.fspath(page), "exec"), {})  # pylint: disable=exec-used
        assert printed.getvalue() == told


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_sums_by_hand(page):
    """Every "a . b = .. = c" and every quotient in the text is right, and agrees with the library's lines."""
    text = page.read_text(encoding="utf-8")
    products = re.findall(r"\((-?\d), (-?\d)\) \. \((-?\d), (-?\d)\) = (-?\d) ([+-]) (\d) = (-?\d)", text)
    assert len(products) == 3
    for a, b, c, d, first, sign, second, total in products:
        assert int(a) * int(c) == int(first) and int(b) * int(d) == int(sign + second)
        assert int(first) + int(sign + second) == int(total)
    scores = [int(product[-1]) for product in products]
    assert f"({', '.join(f'{score:.2f}' for score in scores)})" in re.search(r"^e .*$", text, re.M)[0]
    exps = [math.exp(score) for score in scores]
    for score, value in zip(scores, exps):
        assert f"exp({score}) = {value:.2f}" in text
        assert f"{value:.2f} / {sum(exps):.2f} = {value / sum(exps):.2f}" in text
    assert "= (1.97, 0.28)" in text and "(1.97, 0.28)" in re.search(r"^b .*$", text, re.M)[0]
