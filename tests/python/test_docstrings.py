# slow: 30 s
"""Every public function has an example in its docstring, and it runs."""
import doctest
import importlib
import inspect
import json

import numpy as np
import pytest

import heed

RESULTS = ("Error", "State")  # raised and returned by the compiled part


def modules():
    yield heed
    try:
        yield importlib.import_module("heed.torch")
    except ImportError:
        pass


def public_things():
    for module in modules():
        for name in module.__all__:
            if callable(getattr(module, name)) and name not in RESULTS:
                yield f"{module.__name__}.{name}", getattr(module, name)


def methods_of(thing):
    """Of a class, those that heed itself defines."""
    own = [c for c in inspect.getmro(thing) if c.__module__.startswith("heed.") and c.__module__ != "heed._heed"]
    return {name: part for c in own for name, part in vars(c).items() if inspect.isfunction(part) and name[0] != "_"}


THINGS = dict(public_things())


@pytest.mark.parametrize("name", THINGS)
def test_it_has_an_example(name):
    thing = THINGS[name]
    words = inspect.getdoc(thing) or ""
    if not inspect.isclass(thing):
        assert ">>> " in words, f"{name}: no example"
        return
    example = "\n".join(line for line in words.splitlines() if line.lstrip().startswith((">>>", "...")))
    for method, part in methods_of(thing).items():
        said = ">>> " in (inspect.getdoc(part) or "") or f".{method}(" in example
        assert said or method in ("extra_repr", "forward") and "torch" in name, f"{name}.{method}: no example"


@pytest.fixture(name="names", scope="module")
def what_examples_may_use():
    days = [(f"{d}.{m}.", f"{m:02}-{d:02}") for m in range(1, 13) for d in range(1, 29)]
    model = heed.train(days, settings={"model.width": 16, "stop.steps": 40}, progress=False)
    names = {"heed": heed, "np": np, "json": json, "model": model}
    if any(module.__name__ == "heed.torch" for module in modules()):
        names["torch"] = importlib.import_module("torch")
    return names


def examples_of(name, thing):
    finder = doctest.DocTestFinder(recurse=False)
    parts = {name: thing}
    if inspect.isclass(thing):
        parts.update({f"{name}.{method}": part for method, part in methods_of(thing).items()})
    for path, part in parts.items():
        yield from (test for test in finder.find(part, path, module=False, globs={}) if test.examples)


@pytest.mark.parametrize("name", [name for name, thing in THINGS.items() if list(examples_of(name, thing))])
def test_examples_run(name, names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = []
    for test in examples_of(name, THINGS[name]):
        test.globs = dict(names)
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert not said, "".join(said)
