"""experiments/ that measure the Python module itself: they run, in tiny sizes."""
# slow: 10 s
import os
import pathlib
import subprocess
import sys

import pytest

RUN = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "run.py"


@pytest.mark.skipif("HEED" not in os.environ, reason="the program heed is not built")
@pytest.mark.parametrize("name", ["scale_of_dot", "cost_of_local"])
def test_it_runs(name, tmp_path):
    done = subprocess.run([sys.executable, str(RUN), name, "--quick", "--seeds", "1", "--heed", os.environ["HEED"],
                           "--output", str(tmp_path), "--pictures", str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n|") > 3
    assert (tmp_path / f"{name}.svg").read_text().startswith("<svg")
