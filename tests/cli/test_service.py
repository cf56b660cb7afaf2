"""The unit for systemd: it is what the documents show, and systemd finds little to criticise."""
import re
import shutil
import subprocess

import pytest
from heed_program import SOURCE

UNIT = SOURCE / "packaging" / "systemd" / "heed.service"


def test_the_documents_show_it():
    assert f"```ini\n{UNIT.read_text()}```" in (SOURCE / "docs" / "serve.md").read_text()


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze judges it, and is not installed")
def test_it_is_hardened():
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", str(UNIT)], capture_output=True,
                          text=True, check=False)
    if "exposure level" not in done.stdout:  # an old systemd, or one that cannot work here
        pytest.skip(f"systemd-analyze cannot judge a file here: {done.stderr.strip()}")
    exposure = float(re.search(r"Overall exposure level for heed.service: ([0-9.]+)", done.stdout)[1])
    assert exposure < 3
