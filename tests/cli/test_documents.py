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

PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md")), *sorted((SOURCE / "docs" / "models").glob("*.md")),
         *sorted((SOURCE / "docs" / "zh").glob("*.md")), *sorted((SOURCE / "recipes").rglob("*.md"))]


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


# ------------------------------------------------------------------------------------------------------ two languages

def skeleton(page):
    """What a page and its translation share: the levels of headings, all code, and where links lead, in order."""
    text = page.read_text()
    blocks = re.findall(r"^```.*?^```$", text, re.M | re.S)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return {"headings": [len(marks) for marks in re.findall(r"^(#+) ", prose, re.M)], "blocks": blocks,
            "commands": re.findall(r"^    (heed .+)$", prose, re.M),
            "links": [link.removeprefix("../") for link in re.findall(r"\]\((?!zh/|\.\./what_)([^)]+)\)", prose)]}


@pytest.mark.parametrize("page", sorted((SOURCE / "docs" / "zh").glob("*.md")), ids=lambda page: page.name)
def test_a_translation_keeps_step(page):
    mine, english = skeleton(page), skeleton(SOURCE / "docs" / page.name)
    for part in english:
        assert english[part], part
        assert mine[part] == english[part], f"docs/zh/{page.name} and docs/{page.name} differ in their {part}"
    for language in (page, SOURCE / "docs" / page.name):
        for section in re.split(r"^## ", language.read_text(), flags=re.M)[1:]:
            assert "\n    heed " in section or "```" in section, f"{language}: no command in: {section.splitlines()[0]}"


def anchors(page):
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.+)$", page.read_text(), re.M)}


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent.name in ("docs", "models", "zh")],
                         ids=lambda path: str(path.relative_to(SOURCE)))
def test_links_between_documents_lead_somewhere(page):
    for link, heading in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", page.read_text()):
        target = (page.parent / link) if link else page
        assert target.exists(), link
        if heading and target.suffix == ".md":
            assert heading in anchors(target), f"{link}#{heading}"
