"""heed itself: help, version, messages and exit codes."""
import os
import re
import subprocess

import pytest
from heed_program import CANNOT_CREATE, OUTPUT, PROGRAM, SOURCE, USAGE, heed, on_terminal, text


def test_version_is_that_of_the_project():
    version = re.search(r'#define HEED_VERSION "([\d.]+)"', (SOURCE / "heed/version.h").read_text())[1]
    assert text("--version").startswith(f"heed {version} (")


def test_help_has_examples_and_names_the_verbs():
    said = text("--help")
    assert "Examples:" in said and "  mechanisms " in said
    assert text("-h") == said
    assert "--part" in text("mechanisms", "--help")


@pytest.mark.parametrize("arguments, says", [
    ((), "Usage: heed"),
    (("mechnisms",), "there is no command 'mechnisms'; did you mean 'mechanisms'?"),
    (("--jsn",), "there is no option '--jsn'"),
    (("mechanisms", "aditive"), "there is no mechanism 'aditive'; did you mean 'additive'?"),
    (("mechanisms", "--jsn"), "there is no option '--jsn'; did you mean '--json'?"),
    (("mechanisms", "--part", "scores"), "there is no part 'scores'; did you mean 'score'?"),
    (("mechanisms", "--part"), "--part"),
    (("mechanisms", "dot", "additive"), "'additive' was not expected"),
    (("mechanisms", "dot", "--part", "score"), "NAME and --part cannot be combined"),
    (("mechanisms", "dot", "--names"), "NAME and --names cannot be combined"),
    (("mechanisms", "--names", "--json"), "--names and --json cannot be combined"),
])
def test_wrong_usage(arguments, says):
    done = heed(*arguments)
    assert done.returncode == USAGE
    assert done.stdout == ""
    assert says in done.stderr
    if arguments:
        assert done.stderr.startswith("heed: ")


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = heed("mechanisms", "--markdown", str(tmp_path / "file" / "pages"))
    assert done.returncode == CANNOT_CREATE
    assert "could not be created" in done.stderr


def test_a_full_disk_is_an_error():
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([PROGRAM, "mechanisms"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == OUTPUT
    assert "could not be written" in done.stderr


def test_a_reader_that_goes_away_is_none():
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        done = subprocess.run([PROGRAM, "mechanisms", "--json"], stdout=closed, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0
    assert done.stderr == b""


def test_colours_on_a_terminal_only_and_not_with_no_color():
    assert "\033[1m" in on_terminal("mechanisms", "dot")
    assert "\033[" not in on_terminal("mechanisms", "dot", NO_COLOR="1")
    assert "\033[" not in on_terminal("mechanisms", "dot", TERM="dumb")
    assert "\033[" not in text("mechanisms", "dot")
