"""The road of an upload: the files of ours whose functions run from its request to its row on the board.

    .venv/bin/python -m bench.road [--api] [--files]

A site is started in which every process notes the lines that it runs (`bench/road_tracer.py`). After a few uploads,
when all is loaded and warm, each of five more is followed: the form is sent, the file is scored, the board is read.
A file counts if lines of its functions ran in all five, so that a sweep during one of them adds none; importing it is
not enough. Lines are those of the whole files; those that ran are printed beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import mmap
import os
import tempfile
from pathlib import Path
from statistics import median

from tests.running_site import Site, running_site, until
from tests.visitors import Visitor, encode_form, sign_up

from . import road_tracer, sites
from .figures import Report
from .flow import submission

MOST_FILES, MOST_LINES = 30, 5000
WARM_UPS, FOLLOWED = 4, 5
BOARD = "board page"
COUNT = "SELECT count(*) FROM competitions_submission WHERE status = "
SET_UP = """
from bench.sites import TRUTHS
from tests.conftest import make_competition, person
competition = make_competition(
    person("ada", can_host=True), slug="road", truth=TRUTHS["small"], is_listed=True, daily_attempts=1000)
print(competition.admission.join_code)
"""
TOKEN = """
from leaderboard.accounts.models import ApiToken, User
print(ApiToken.issue(User.objects.get(username="bo"), "road")[1])
"""


Line = tuple[str, str, int]
"""A part of the site, a file, and the number of a line."""


async def walk(visitor: Visitor, site: Site, memory: Path, number: int, *, by_api: bool) -> set[Line]:
    """The upload of this number; the lines that ran from its request to its row on the board."""
    data = submission(1000).replace(b"row%d,a" % (5 * number), b"row%d,c" % (5 * number))
    page = await visitor.get("/c/road/submit/")
    form, noted = page.form_with("file", "upload_key"), road_tracer.opened_memory(memory)
    database = site.folder / "leaderboard.sqlite3"
    until(lambda: not sites.rows_in(database, COUNT + "'pending'"), what="a site at rest")
    before = sites.rows_in(database, COUNT + "'scored'")
    noted[:] = bytes(len(noted))
    if by_api:
        answer = await visitor.upload("road", data)
    else:
        body, kind = encode_form(form.values, ("mine.csv", data))
        answer = await visitor.ask("POST", "/c/road/submit/", body, {"Content-Type": kind})
    assert answer.status in (201, 302, 303), answer.status
    until(lambda: sites.rows_in(database, COUNT + "'scored'") > before, what="the score")
    found = {line for line in lines_in(noted) if line[0] != "other"}
    noted[:] = bytes(len(noted))
    board = await visitor.get("/c/road/leaderboard/")
    assert "bo" in board.text
    return found | {(BOARD, name, line) for part, name, line in lines_in(noted) if part == "web"}


def lines_in(noted: mmap.mmap) -> set[Line]:
    lines = road_tracer.own_lines()
    places = [place for place, one in enumerate(noted[:]) if one]
    return {(road_tracer.PARTS[place // len(lines)], *lines[place % len(lines)]) for place in places}


async def walks(site: Site, code: str, memory: Path, *, by_api: bool) -> set[Line]:
    visitor = Visitor(site.address)
    await sign_up(visitor, code, "bo", "a-good-pass-phrase")
    if by_api:
        visitor.token = site.shell(TOKEN)
    found = [await walk(visitor, site, memory, number, by_api=by_api) for number in range(WARM_UPS + FOLLOWED)]
    visitor.hang_up()
    return set.intersection(*found[WARM_UPS:])


def lines_of(name: str) -> int:
    return len((road_tracer.ROOT / name).read_text().splitlines())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--api", action="store_true", help="send the file as a program does")
    parser.add_argument("--files", action="store_true", help="name each file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        memory = Path(folder) / "noted"
        memory.write_bytes(bytes(len(road_tracer.own_lines()) * len(road_tracer.PARTS)))
        (Path(folder) / "sitecustomize.py").write_text("from bench import road_tracer\nroad_tracer.install()\n")
        path, noted = os.pathsep.join([folder, str(road_tracer.ROOT)]), str(memory)
        with running_site(Path(folder) / "var", PYTHONPATH=path, ROAD_OF_AN_UPLOAD=noted) as site:
            found = asyncio.run(walks(site, site.shell(SET_UP), memory, by_api=options.api))
    print_road(found, names_files=options.files)


def print_road(found: set[Line], *, names_files: bool) -> None:
    report, whole = Report(), {name: lines_of(name) for _part, name, _line in found}
    way = {line for line in found if line[0] != BOARD}
    for part in (*road_tracer.PARTS[:3], BOARD):
        print_lines(report, f"road of an upload: {part}", {line for line in found if line[0] == part}, whole)
    for name in sorted(whole) if names_files else ():
        parts = ", ".join(sorted({part for part, one, _line in found if one == name}))
        ran = len({line for _part, one, line in found if one == name})
        print(f"  {ran:>5} of {whole[name]:>5}  {name}  ({parts})")
    print_lines(report, "request to score", way, whole)
    print_lines(report, "with the page of the board", found, whole)
    names = {name for _part, name, _line in way}
    report.print_figure("a file from request to score", f"median {median(whole[name] for name in names):.0f} lines")
    report.most("request to score: files", len(names), MOST_FILES, unit="files")
    report.most("request to score: lines", sum(whole[name] for name in names), MOST_LINES, unit="lines")
    raise SystemExit(bool(report.missed))


def print_lines(report: Report, title: str, found: set[Line], whole: dict[str, int]) -> None:
    names, ran = {name for _part, name, _line in found}, {line[1:] for line in found}
    lines = sum(whole[name] for name in names)
    report.print_figure(title, f"{len(names)} files, {lines} lines, of which {len(ran)} ran")


if __name__ == "__main__":
    main()
