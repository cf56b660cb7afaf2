# slow: 25 s
"""An allocation that fails, one after the other: the program says so and ends with its code, or does without."""
import os

import pytest
from faulty import EVERY, RECIPE, heed, some, train
from heed_program import MEMORY, small_recipe

SHIM = os.environ["HEED_MEMORY_FAULTS"]
SOME = 40


@pytest.fixture(name="folder", scope="session")
def trained_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("memory")
    (folder / "recipe.toml").write_text(RECIPE)
    assert train(folder / "recipe.toml", folder / "model").returncode == 0
    (folder / "pairs.tsv").write_text("ab\tba\ncde\tedc\n")
    (folder / "labels.tsv").write_text("".join(f"good {i}\tyes\nbad {i}\tno\n" for i in range(20)))
    return folder


def faulty(folder, at, arguments):
    count = folder / "count"
    count.unlink(missing_ok=True)
    done = heed(*[folder / a[1:] if a.startswith("@") else a for a in arguments], given=b"ab\n",
                LD_PRELOAD=SHIM, FAULT_AT=str(at), FAULT_COUNT=str(count))
    return done, int(count.read_text()) if count.exists() else None


@pytest.mark.parametrize("arguments", [
    ("--version",), ("mechanisms", "additive"), ("info", "@model"), ("predict", "@model", "--json", "--threads", "1"),
    ("score", "@model", "@pairs.tsv", "--threads", "1"), ("evaluate", "@model", "@pairs.tsv", "--threads", "1"),
    ("look", "@model", "ab", "--threads", "1"), ("train", "@labels.tsv", "--show"), ("train", "@recipe.toml", "--show")],
    ids=lambda arguments: arguments[0])
def test_every_single_failure(folder, arguments):
    good, calls = faulty(folder, 0, arguments)
    assert good.returncode == 0, good.stderr
    for at in some(range(1, calls + 1), SOME):
        done, _ = faulty(folder, at, arguments)
        if done.returncode == 0:  # what was not needed, or was asked for again
            assert done.stdout == good.stdout, at
            continue
        if b"libgomp: Out of memory" in done.stderr:  # OpenMP's own end, of which nobody is asked
            continue
        assert done.returncode == MEMORY and b"heed: " in done.stderr and b"not enough memory" in done.stderr, (
            at, done.returncode, done.stderr)


def test_little_memory_ends_with_its_code(tmp_path):
    """Inside of ICU, too, which the dates of many languages need before anything large is allocated."""
    recipe = tmp_path / "dates.toml"
    recipe.write_text(small_recipe(data={"task": "dates", "examples": 2000}, stop={"steps": 1}))

    def run(kilobytes, *arguments):
        return heed(*arguments, limit=kilobytes * 1024, timeout=60)
    codes = set()
    for kilobytes in range(70_000, 170_000, 2_000 if EVERY else 8_000):
        if run(kilobytes, "--version").returncode not in (0, MEMORY):  # not even the libraries could be loaded
            continue
        done = run(kilobytes, "train", recipe, "--output", tmp_path / str(kilobytes), "--threads", "1")
        codes.add(done.returncode)
        assert done.returncode in (0, MEMORY), (kilobytes, done.returncode, done.stderr)
        assert done.returncode == 0 or b"not enough memory" in done.stderr, (kilobytes, done.stderr)
    assert MEMORY in codes
