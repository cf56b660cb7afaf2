"""The package itself: types, docstrings, and what an installation holds."""

import ast
import importlib
import inspect
import os
import pathlib
import py_compile
import subprocess
import sys

import pytest

import heed
from heed import _heed

PACKAGE = pathlib.Path(heed.__file__).parent
SOURCES = sorted(PACKAGE.glob("*.py"))


def names_of(tree):
    """Classes and functions, and the methods of classes, that a stub declares."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = set()
    return found


def test_the_stub_has_every_name():
    declared = names_of(ast.parse((PACKAGE / "_heed.pyi").read_text(encoding="utf-8")))
    public = {name for name in vars(_heed) if not name.startswith("_")}
    assert public == set(declared)
    for name, methods in declared.items():
        thing = getattr(_heed, name)
        assert inspect.isclass(thing) == (name[0].isupper())
        if not inspect.isclass(thing) or issubclass(thing, Exception):
            continue
        own = {m for m in vars(thing) if not m.startswith("_") or m == "__bool__"}
        assert own == methods - {"__init__"}, name


def test_types_are_marked_and_sources_compile(tmp_path):
    assert (PACKAGE / "py.typed").exists()
    for source in SOURCES:
        py_compile.compile(str(source), cfile=str(tmp_path / "compiled"), doraise=True)


@pytest.mark.parametrize("source", SOURCES, ids=[s.stem for s in SOURCES])
def test_every_argument_has_a_type(source):
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.FunctionDef):
            continue
        arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        untyped = [a.arg for a in arguments if a.annotation is None and a.arg not in ("self", "cls")]
        assert not untyped and node.returns is not None, f"{source.name}: {node.name} {untyped}"


def test_every_public_name_is_explained():
    assert heed.__doc__ and sorted(heed.__all__) == heed.__all__
    for name in heed.__all__:
        thing = getattr(heed, name)
        if not callable(thing):
            continue
        assert inspect.getdoc(thing), name
        if inspect.isclass(thing):
            for method, function in inspect.getmembers(thing, inspect.isfunction):
                if not method.startswith("_") and function.__module__.startswith("heed"):
                    assert inspect.getdoc(function), f"{name}.{method}"
    for name in ("attend", "Attention"):
        assert "[B, " in inspect.getdoc(getattr(heed, name))
    assert "[B, Tq, query_width]" in inspect.getdoc(heed.Attention.forward)


def test_heed_imports_without_torch():
    code = "import sys; sys.modules['torch'] = None; import heed; print(heed.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == heed.__version__


def test_versions_agree():
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    assert f'version = "{heed.__version__}"' in (root / "pyproject.toml").read_text(encoding="utf-8")
    assert f"VERSION {heed.__version__} " in (root / "CMakeLists.txt").read_text(encoding="utf-8")


def test_an_installation(tmp_path):
    """What goes into a wheel is complete, and works away from the build."""
    build = os.environ["HEED_BUILD"]
    subprocess.run(
        ["cmake", "--install", build, "--component", "python", "--prefix", str(tmp_path)],
        check=True,
        capture_output=True,
    )
    installed = {p.name for p in (tmp_path / "heed").iterdir()}
    assert installed == {p.name for p in PACKAGE.iterdir() if p.name != "__pycache__"}
    code = "import heed, numpy; x = numpy.ones((2, 3), 'f'); print(heed.__file__); assert heed.attend(x, x).sum() == 6"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path))


def test_private_modules_are_private():
    for source in SOURCES:
        assert source.stem in ("__init__", "torch") or source.stem.startswith("_")
    for name in heed.__all__:
        assert importlib.import_module("heed").__dict__[name] is getattr(heed, name)
