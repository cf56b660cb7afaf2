"""A wheel brings all that it needs: run in the environment that it was installed into (tests/wheel/run.sh)."""
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import heed
import pytest

WHEEL = pathlib.Path(os.environ["HEED_WHEEL"])
PACKAGES = pathlib.Path(heed.__file__).parent.parent
# What every Linux with that glibc has: PEP 600 (manylinux).
EVERYWHERE = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2",
              "ld-linux-aarch64.so.1", "libstdc++.so.6", "libgcc_s.so.1", "libz.so.1"}
LARGEST = 25 << 20  # bytes; some 22 MiB, of which 12 are the tables of ICU and 3 the program
PEERS = pathlib.Path(os.environ.get("HEED_PEERS", pathlib.Path.home() / ".cache" / "heed" / "peers"))

# Prints the libraries that `import heed` and some work bring into a process that has NumPy already.
LIBRARIES = """
import re, numpy
def mapped():
    return set(re.findall(r"(/\\S*\\.so[.\\d]*)$", open("/proc/self/maps").read(), re.M))
before = mapped()
import heed
x = numpy.ones((2, 3), "f")
assert heed.attend(x, x).sum() == 6
print(*sorted(mapped() - before), sep="\\n")
"""


def libraries():
    return [*PACKAGES.glob("heed/*.so"), *PACKAGES.glob("heed.libs/*"), PACKAGES / "heed" / "bin" / "heed"]


def dynamic(library, kind):
    said = subprocess.run(["readelf", "-d", str(library)], capture_output=True, text=True, check=True).stdout
    return re.findall(rf"\({kind}\).*\[(.*)\]", said)


def test_it_is_the_wheel_that_is_tested():
    assert PACKAGES.is_relative_to(sys.prefix)
    with zipfile.ZipFile(WHEEL) as wheel:
        names = [name for name in wheel.namelist() if not name.endswith("/") and "dist-info" not in name]
    assert {str(PACKAGES / name) for name in names} <= {str(path) for path in PACKAGES.rglob("*")}


def test_every_library_is_inside():
    inside = {library.name for library in libraries()}
    assert len(inside) > 5
    for library in libraries():
        needed = set(dynamic(library, "NEEDED"))
        assert needed <= inside | EVERYWHERE, f"{library.name} needs {needed - inside - EVERYWHERE}"
        for path in dynamic(library, "RPATH") + dynamic(library, "RUNPATH"):
            assert path.startswith("$ORIGIN"), f"{library.name} looks into {path}"


def test_nothing_else_is_loaded():
    done = subprocess.run([sys.executable, "-c", LIBRARIES], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = [pathlib.Path(line) for line in done.stdout.split()]
    assert any(path.name.startswith("libicudata") for path in loaded)
    outside = {path.name for path in loaded if not path.is_relative_to(PACKAGES) and "lib-dynload" not in path.parts}
    assert outside <= EVERYWHERE


def test_it_runs_where_the_system_has_none_of_them(tmp_path):
    """In a view of the system of its own (unshare) where those files are empty."""
    names = {re.match(r"lib[a-z_0-9+]*", library.name)[0] for library in PACKAGES.glob("heed.libs/*")}
    found = [path for folder in ("/lib", "/usr/lib") for path in pathlib.Path(folder).glob("*-linux-gnu*/lib*.so*")]
    hidden = sorted({str(path.resolve()) for path in found if path.name.split(".so")[0] in names and path.exists()})
    assert hidden, "the machine that compiled the wheel has them"
    empty = tmp_path / "empty"
    empty.write_text("")
    hide = "".join(f"mount --bind {empty} {path} && " for path in hidden)
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    try:
        subprocess.run([*alone, hide + "true"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no program may hide files here")
    done = subprocess.run([*alone, f'{hide} exec "$0" -c "$1"', sys.executable, LIBRARIES],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", [["heed"], ["python", "-m", "heed"]], ids=["heed", "python -m heed"])
def test_the_command(command):
    first = str(pathlib.Path(sys.prefix) / "bin" / command[0])
    done = subprocess.run([first, *command[1:], "--version"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and heed.__version__ in done.stdout, done.stderr


def test_its_name_and_its_size():
    assert re.fullmatch(r"heed-[\d.]+-cp\d+-cp\d+-manylinux_2_\d+_\w+\.whl", WHEEL.name)
    assert WHEEL.stat().st_size < LARGEST


@pytest.mark.parametrize("order", ["torch, heed", "heed, torch"])
def test_beside_pytorch(order, tmp_path):
    """Which brings an OpenMP of its own."""
    python = PEERS / "bin" / "python3"
    code = f"import {order}, numpy; x = numpy.ones((2, 3), 'f'); y = torch.ones(300, 300)\n" \
           "assert heed.attend(x, x).sum() == 6 and (y @ y)[0, 0] == 300 and heed.attend(x, x).sum() == 6"
    asked = "import sys; print('cp%d%d' % sys.version_info[:2]); import torch"
    try:
        known = subprocess.run([str(python), "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        known = "none"
    if known not in WHEEL.name:
        pytest.skip("there is no PyTorch for this Python: make bench-peers")
    with zipfile.ZipFile(WHEEL) as wheel:
        wheel.extractall(tmp_path)
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == 0, done.stderr
