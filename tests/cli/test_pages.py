"""Completions and the manual: made from the options themselves."""
import re
import shutil
import subprocess

import pytest
from heed_program import SOURCE, USAGE, heed, text

VERBS = ["demo", "train", "predict", "chat", "look", "serve", "score", "evaluate", "compare", "distill", "average", "export",
         "import", "info", "mechanisms", "explain", "scenes"]


def options_in_help(verb):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", re.split(r"\n\n?(?:Examples|A recipe|The model is)",
                                                               text(verb, "--help").split("Options:")[1])[0]))


def complete(*words):
    """What bash offers for the last word."""
    script = text("completions", "bash") + f"""
COMP_WORDS=({' '.join(f"'{w}'" for w in words)}); COMP_CWORD={len(words) - 1}
_heed; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, timeout=30)
    return [line for line in done.stdout.split("\n") if line]


def test_every_verb_has_help_with_examples():
    listed = re.findall(r"^  (\w+)  ", text("--help").split("Commands:")[1].split("Examples:")[0], re.M)
    assert listed == VERBS
    for verb in VERBS:
        said = text(verb, "--help")
        assert "--help" in said and f"heed {verb}" in said.split("Options:")[1], verb


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_name_every_option(shell, tmp_path):
    made = text("completions", shell)
    for verb in VERBS:
        for option in options_in_help(verb):
            assert (option[2:] if shell == "fish" else option) in made, (verb, option)
    assert "manual" not in made.replace("heed manual", "")
    checker = shutil.which(shell)
    if checker:
        (tmp_path / "made").write_text(made)
        subprocess.run([checker, "-n", str(tmp_path / "made")], check=True, timeout=30)


def test_what_bash_offers(tmp_path):
    assert complete("heed", "") == [*VERBS, "--version", "-h", "--help"]
    assert complete("heed", "e") == ["evaluate", "export", "explain"]
    assert complete("heed", "predict", "--top") == ["--top-k", "--top-p"]
    assert complete("heed", "evaluate", "--metric", "bleu,ch") == ["bleu,chrf", "bleu,chrf++"]
    assert complete("heed", "evaluate", "--tokenise", "") == ["13a", "none", "char", "intl"]
    assert complete("heed", "compare", "--attention", "dot,spars") == ["dot,sparsemax"]
    assert complete("heed", "mechanisms", "--part", "s") == ["score", "structure"]
    assert complete("heed", "mechanisms", "additi") == ["additive"]
    assert complete("heed", "predict", "--checkpoint", "") == ["best", "last"]
    assert complete("heed", "predict", "m", "--beam", "") == []
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "two words").write_text("")
    assert complete("heed", "score", "m", f"{tmp_path}/t") == [f"{tmp_path}/two words"]
    here = f"{tmp_path}/f"
    assert sorted(complete("heed", "predict", here)) == [f"{tmp_path}/file", f"{tmp_path}/folder"]
    assert complete("heed", "average", "--output", here) == [f"{tmp_path}/folder"]
    for verb in VERBS:
        assert set(complete("heed", verb, "--")) == options_in_help(verb) | {"--help"}


def test_another_shell():
    done = heed("completions", "bsh")
    assert done.returncode == USAGE and "there is no shell 'bsh'; did you mean 'bash'?" in done.stderr


def test_the_manual(tmp_path):
    page = tmp_path / "heed.1"
    page.write_text(text("manual"))
    done = subprocess.run(["man", "--warnings", "-l", str(page)], capture_output=True, text=True, check=False, timeout=60,
                          env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "200", "MANROFFOPT": "-c"})
    assert done.returncode == 0 and done.stderr == "", done.stderr
    shown = re.sub(".\b", "", done.stdout)
    for section in ("NAME", "SYNOPSIS", "OPTIONS", "COMMANDS", "EXIT STATUS", "ENVIRONMENT", "EXAMPLES"):
        assert re.search(rf"^{section}$", shown, re.M), section
    for verb in VERBS:
        assert re.search(rf"^ +heed {verb}$", shown, re.M), verb
        for option in options_in_help(verb):
            assert option in shown
    assert "heed predict model < source.txt > output.txt" in shown


def test_the_document_says_what_the_manual_says():
    document = (SOURCE / "docs" / "cli.md").read_text()
    page = text("manual").replace("\\-", "-")
    codes = dict(re.findall(r"^\.TP\n(\d+)\n(.+)$", page, re.M))
    assert codes == dict(re.findall(r"^\| (\d+) \| (.+) \|$", document, re.M))
    variables = dict(re.findall(r"^\.TP\n\\fB([A-Z_]+)\\fR\n(.+)$", page.split(".SH ENVIRONMENT")[1], re.M))
    assert variables == {name: meaning.replace("`", "") for name, meaning in
                         re.findall(r"^\| `([A-Z_]+)` \| (.+) \|$", document, re.M)}
    known = text("--help") + "".join(text(verb, "--help") for verb in VERBS)
    for verb in VERBS:
        assert f"\n## heed {verb}\n" in document
        section = document.split(f"\n## heed {verb}\n")[1].split("\n## ")[0]
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", section):
            assert option in known, option
