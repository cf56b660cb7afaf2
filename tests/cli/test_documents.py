"""The documents against the program: every option is told, and every option that is told exists."""
import re

import pytest
from heed_program import SOURCE, text
from test_pages import complete

VERBS = {word: set(complete("heed", word, "--")) for word in complete("heed", "") if not word.startswith("-")}
OF_THE_PROGRAM = {"--help", "--version"}
FOR_SHELLS = {"completions": {"--help"}, "manual": {"--help"}, "openapi": {"--help"}}  # known, and listed nowhere but in docs/cli.md
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
COMMAND = re.compile(r"(?:^|(?<=[\s/|]))heed +([a-z]\w*)")

PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md")), *sorted((SOURCE / "recipes").rglob("*.md"))]


def spoken_code(page):
    """(line number, code) of what stands between backticks, in indented blocks and in blocks for a shell."""
    language, found = None, []
    for number, line in enumerate(page.split("\n"), 1):
        if line.startswith("```"):
            language = line[3:].strip() if language is None else None
        elif language is not None or line.startswith("    "):
            if language in (None, "", "sh", "bash"):
                before = found.pop()[1][:-1] if found and found[-1][1].endswith("\\") else ""
                found.append((number, before + line))
        else:
            found += [(number, code) for code in re.findall(r"`([^`]+)`", line)]
    return found


def commands(code):
    """(verb, options) of each heed that a line of code runs. The comment behind it tells options too."""
    starts = list(COMMAND.finditer(code.split(" # ")[0]))
    for start, after in zip(starts, [*starts[1:], None]):
        yield start[1], OPTION.findall(code[start.end():after.start() if after else None])


def test_code_is_found_where_it_is_spoken():
    page = "Say `heed info --json`.\n\n    a | heed score m \\\n      --per-token   # --json, once more by heed twice\n\n```python\nheed train\n```\n"
    assert [(n, *command) for n, code in spoken_code(page) for command in commands(code)] == [
        (1, "info", ["--json"]), (4, "score", ["--per-token", "--json"])]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_commands_in_documents_exist(path):
    for number, code in spoken_code(path.read_text()):
        for verb, options in commands(code):
            assert verb in VERBS or verb in FOR_SHELLS, f"{path.name}:{number}: there is no heed {verb}"
            for option in options:
                assert option in VERBS.get(verb, FOR_SHELLS.get(verb)), f"{path.name}:{number}: heed {verb} has no {option}"


def sections():
    parts = re.split(r"^## (.+)\n", (SOURCE / "docs" / "cli.md").read_text(), flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2]))


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_is_in_the_document(verb):
    told = set(OPTION.findall(sections()[f"heed {verb}"]))
    shared = set(OPTION.findall(sections()["What all commands share"]))
    assert VERBS[verb] - told - shared == set(), f"docs/cli.md says nothing of these options of heed {verb}"


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_of_the_document_exists(verb):
    """Those that stand alone between backticks are of the verb whose section it is."""
    for _, code in spoken_code(sections()[f"heed {verb}"]):
        if code.startswith("--"):
            assert set(OPTION.findall(code)) <= VERBS[verb], f"heed {verb} has no {code}"


def test_what_is_shared_is_shared():
    for option in OPTION.findall(sections()["What all commands share"]):
        assert sum(option in options for options in VERBS.values()) > 1, option


def test_the_options_of_the_program():
    assert {word for word in complete("heed", "-") if word.startswith("--")} == OF_THE_PROGRAM
    before = (SOURCE / "docs" / "cli.md").read_text().split("\n## ")[0]
    assert OF_THE_PROGRAM <= set(OPTION.findall(before)), "docs/cli.md"
    assert text("--version")
