"""What is written is true: commands exist, paths exist, the example is the real file, variables are read."""

from __future__ import annotations

import argparse
import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from leaderboard.operations.supervisor import up
from metrics.__main__ import main as run_home_scorer

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
HOME_SCORER = (ROOT / "docs" / "home-scorer.md").read_text()
OPERATING = (ROOT / "docs" / "operating.md").read_text()
MAPS = [ROOT / "CONTRIBUTING.md", ROOT / "docs" / "architecture.md"]
OWN_COMMANDS = {"test"}
FOR_DEVELOPERS = {"DEBUG", "SQLITE_STATEMENTS"}


def shell_lines(text: str) -> list[str]:
    """Lines of the shell blocks and of inline code that start a command of ours."""
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", text, flags=re.S)).replace("\\\n", " ")
    inline = "\n".join(re.findall(r"`([^`\n]+)`", text))
    return [line.strip() for line in f"{blocks}\n{inline}".splitlines() if re.search(r"manage\.py \w|-m metrics", line)]


def parser_of(name: str) -> argparse.ArgumentParser:
    """The options of a command; `up` runs without Django."""
    if name == "up":
        parser = argparse.ArgumentParser()
        up.add_arguments(parser)
        return parser
    return load_command_class(get_commands()[name], name).create_parser("manage.py", name)


@pytest.mark.parametrize("document", PAGES, ids=lambda document: document.name)
def test_every_command_exists_with_its_options(document: Path) -> None:
    for line in shell_lines(document.read_text()):
        words = [word for word in shlex.split(line) if "=" not in word or word.startswith("-")]
        if "metrics" in words:
            continue
        name, options = words[2], [word.split("=")[0] for word in words[3:] if word.startswith("--")]
        if name in OWN_COMMANDS:
            continue
        assert set(options) <= set(parser_of(name)._option_string_actions), line


def test_the_options_of_up_that_the_readme_names_exist() -> None:
    named = re.search(r"^Options: (.*?)\. Stop", README, flags=re.S | re.M)
    assert named
    for option in re.findall(r"`(--[a-z-]+)", named.group(1)):
        assert option in parser_of("up")._option_string_actions


@pytest.mark.parametrize("document", PAGES, ids=lambda document: document.name)
def test_every_path_exists(document: Path) -> None:
    text = document.read_text()
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", text)
    named = re.findall(r"`((?:leaderboard|metrics|templates|tests|docs|bench|deploy)/[\w./]*)`", text)
    commands = " ".join(re.findall(r"`([^`]+)`", text) + shell_lines(text))
    named += re.findall(r"(?<![\w./])(tests/[\w./]+)", commands)
    missing = [path for path in links + named if not ((ROOT / path).exists() or (document.parent / path).exists())]
    assert missing == []


def anchors(page: str) -> set[str]:
    """What links into a page may name after the #, as GitHub makes it from headings."""
    headings = re.findall(r"^#+ (.+)$", page, flags=re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", PAGES, ids=lambda document: document.name)
def test_every_link_into_a_page_leads_to_a_heading(document: Path) -> None:
    links = re.findall(r"\]\(((?!https?:)[^)#]*)#([^)]+)\)", document.read_text())
    targets = [(document.parent / path if path else document, name) for path, name in links]
    assert [name for target, name in targets if name not in anchors(target.read_text())] == []


def named_functions(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """The files and the functions of each row of a table that ends with them."""
    for row in re.findall(r"^\| .+ \| .+ \| .+\|$", text, flags=re.M):
        *_, files, functions = row.strip("|").split(" | ")
        if names := re.findall(r"`(\w+)`", functions):
            yield re.findall(r"`([\w/.]+\.py)`", files), names


@pytest.mark.parametrize("document", MAPS, ids=lambda document: document.name)
def test_a_newcomer_finds_every_named_function_in_its_file(document: Path) -> None:
    rows = list(named_functions(document.read_text()))
    assert len(rows) >= 12
    for files, names in rows:
        defined = {
            node.name
            for file in files
            for node in ast.walk(ast.parse((ROOT / file).read_text()))
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
        }
        assert set(names) <= defined, files


def test_the_whole_metric_of_the_readme_is_the_file_itself() -> None:
    shown = re.search(r"```python\n# metrics/(\w+\.py)\n(.*?)```", README, flags=re.S)
    assert shown
    assert shown.group(2) == (ROOT / "metrics" / shown.group(1)).read_text()


def test_the_table_of_variables_has_every_setting_and_no_other() -> None:
    sources = (
        "\n".join(path.read_text() for path in (ROOT / "leaderboard").rglob("*.py")) + (ROOT / "manage.py").read_text()
    )
    rows = re.findall(r"^\| (`[A-Z0-9_`, ]+`) \|", OPERATING, flags=re.M)
    named = {name for row in rows for name in re.findall(r"[A-Z_]{4,}", row)}
    assert {name for name in named if name not in sources} == set()
    settings = (ROOT / "leaderboard" / "settings.py").read_text()
    read = set(re.findall(r'\benv\.\w+\(\s*"([A-Z_]+)"', settings))
    assert read - named == FOR_DEVELOPERS


@pytest.mark.parametrize("text", [README, HOME_SCORER], ids=["README.md", "home-scorer.md"])
def test_the_home_scorer_commands_run(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "truth.csv").write_text("id,label,Usage\n1,a,Public\n2,b,Private\n")
    (tmp_path / "submission.csv").write_text("id,label\n1,a\n2,a\n")
    (tmp_path / "other.csv").write_text("id,label\n1,b\n2,b\n")
    lines = [line for line in shell_lines(text) if line.startswith("python -m metrics ") and "…" not in line]
    assert len(lines) >= 3
    for line in lines:
        assert run_home_scorer(shlex.split(line)[3:]) == 0, line


def test_no_page_names_a_machine() -> None:
    words = re.compile(r"(^|[^A-Za-z0-9_.])/(home|root|tmp|work)/")
    assert [page.name for page in PAGES if words.search(page.read_text())] == []
