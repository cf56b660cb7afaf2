"""The package itself: types, docstrings, and what an installation holds."""

import ast
import importlib
import inspect
import os
import pathlib
import py_compile
import re
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


def explained(module):
    """Every public thing of a module with its own words, and what belongs to it, by name."""
    for name in module.__all__:
        thing = getattr(module, name)
        if not callable(thing):
            assert name in module.__doc__, f"{name}: a constant, explained in the module's own words"
            continue
        yield name, inspect.getdoc(thing), thing


def parts_of(thing):
    """Public methods and properties, and attributes that a class declares or its constructor makes."""
    own = {c: vars(c) for c in inspect.getmro(thing) if c.__module__.startswith("heed")}
    for space in own.values():
        for name, part in space.items():
            if not name.startswith("_") and (callable(part) or isinstance(part, property)):
                yield name, inspect.getdoc(part)
        for name in space.get("__annotations__", {}):
            yield name, None
    made = thing.__init__ if "__init__" in vars(thing) else None
    if hasattr(made, "__code__") and made.__code__.co_filename.endswith(".py"):  # else written by dataclass, or in C++
        tree = ast.parse("if True:\n" + inspect.getsource(thing.__init__))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                if isinstance(node.value, ast.Name) and node.value.id == "self":
                    yield node.attr, None


@pytest.mark.parametrize("module", ("heed", "heed.torch"))
def test_every_public_name_is_explained(module):
    if module == "heed.torch":
        pytest.importorskip("torch")
    module = importlib.import_module(module)
    assert module.__doc__ and sorted(module.__all__) == module.__all__
    for name, words, thing in explained(module):
        assert words and len(words) > 10, name
        if not inspect.isclass(thing):
            continue
        assert not words.startswith(f"{name}("), f"{name}: what dataclass writes by itself says nothing"
        for part, own in parts_of(thing):
            if not part.startswith("_"):
                assert own or re.search(rf"\b{part}\b", words), f"{name}.{part}"
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
    assert f'#define HEED_VERSION "{heed.__version__}"' in (root / "heed/version.h").read_text(encoding="utf-8")


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
    program = tmp_path / "heed" / "bin" / "heed"
    assert not (PACKAGE / "bin").exists() or os.access(program, os.X_OK)
    code = "import heed, numpy; x = numpy.ones((2, 3), 'f'); print(heed.__file__); assert heed.attend(x, x).sum() == 6"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path))


def test_the_program():
    """python -m heed is the program beside the module, with its arguments and its answer."""
    if not (PACKAGE / "bin" / "heed").exists():
        pytest.skip("the program heed is not built: this module was built without it")
    done = subprocess.run([sys.executable, "-m", "heed", "--version"], capture_output=True, text=True, check=True)
    assert heed.__version__ in done.stdout
    wrong = subprocess.run([sys.executable, "-m", "heed", "trian"], capture_output=True, text=True, check=False)
    assert wrong.returncode != 0 and "train" in wrong.stderr


def test_private_modules_are_private():
    for source in SOURCES:
        assert source.stem in ("__init__", "__main__", "torch") or source.stem.startswith("_")
    for name in heed.__all__:
        assert importlib.import_module("heed").__dict__[name] is getattr(heed, name)
