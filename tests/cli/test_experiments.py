"""experiments/: every script runs, in tiny sizes; those on real data on made-up files of the same form."""
# slow: 40 s
import random
import re
import subprocess
import sys

import pytest
from heed_program import PROGRAM, SOURCE

RUN = SOURCE / "experiments" / "run.py"
ON_MADE_UP_DATA = ("wrong_place", "hard_or_soft", "long_outputs")
ON_REAL_DATA = ("exposure_bias", "synthesizer", "pretraining")
WITH_THE_PYTHON_MODULE = {"scale_of_dot", "cost_of_local"}  # tests/python/test_experiments.py


def words(rng, count, vocabulary="abcdefgh"):
    return " ".join(rng.choice(vocabulary) * rng.randint(1, 3) for _ in range(count))


@pytest.fixture(name="data", scope="module")
def made_up_data(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("data"), random.Random(1)

    def write(name, line, count=60):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(line() + "\n" for _ in range(count)))

    for name in ("fre_train.tsv", "fre_dev.tsv"):
        write(f"sigmorphon2021-g2p/{name}", lambda: words(rng, 5).replace(" ", "") + "\t" + words(rng, 5))
    for part in ("train", "valid"):
        for side in ("en", "de"):
            write(f"multi30k-en-de-bpe10k/{part}.{side}", lambda: words(rng, 6), 120)
    write("cornell-dialogue/train.tsv", lambda: words(rng, 4) + "\t" + words(rng, 4))
    write("r8/train.txt", lambda: rng.choice(("earn", "ship")) + "\t" + words(rng, 30), 300)
    return folder


def run(*arguments):
    return subprocess.run([sys.executable, str(RUN), *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", [*ON_MADE_UP_DATA, *ON_REAL_DATA])
def test_it_runs(name, data, tmp_path):
    extra = ["--data", data] if name in ON_REAL_DATA else []
    done = run(name, "--quick", "--seeds", "1", "--heed", PROGRAM, "--output", tmp_path, "--pictures", tmp_path, *extra)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("|")]
    assert len(lines) > 3 and len({line.count("|") for line in lines}) == 1
    picture = (tmp_path / f"{name}.svg").read_text()
    assert picture.startswith("<svg") and "nan" not in picture


def test_all_are_listed_tested_and_told():
    listed = {line.split()[0] for line in run().stdout.splitlines()}
    assert listed == {*ON_MADE_UP_DATA, *ON_REAL_DATA, *WITH_THE_PYTHON_MODULE}
    told = (SOURCE / "docs" / "experiments.md").read_text()
    for name in listed:
        assert f"experiments/run.py {name}" in told, name
    shown = {path.stem for path in (SOURCE / "docs" / "pictures" / "experiments").iterdir()}
    assert shown == set(re.findall(r"pictures/experiments/(\w+)\.svg", told))


def test_what_is_missing_is_said(tmp_path):
    done = run("pretraining", "--heed", PROGRAM, "--output", tmp_path, "--pictures", tmp_path)
    assert "needs --data FOLDER" in done.stderr
    assert "there is no experiment 'pretrain'" in run("pretrain").stderr
