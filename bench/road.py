"""The road of an upload: the files of ours whose functions run from its request to its row on the board.

    .venv/bin/python -m bench.road [--api] [--files]

A site is started in which every process notes its functions (`bench/road_tracer.py`). After a few uploads, when all is
loaded and warm, each of five more is followed: the form is sent, the file is scored, the board is read. A file
counts if a function of it ran in all five, so that a sweep during one of them adds none; importing it is not enough.
Lines are those of the whole files.
"""

from __future__ import annotations

import argparse
import asyncio
import mmap
import os
import tempfile
from pathlib import Path

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


async def walk(visitor: Visitor, site: Site, memory: Path, number: int, *, by_api: bool) -> set[tuple[str, str]]:
    """The upload of this number; the parts and files that ran from its request to its row on the board."""
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
    found = {(part, name) for part, name in names_in(noted) if part != "other"}
    noted[:] = bytes(len(noted))
    board = await visitor.get("/c/road/leaderboard/")
    assert "bo" in board.text
    return found | {(BOARD, name) for part, name in names_in(noted) if part == "web"}


def names_in(noted: mmap.mmap) -> set[tuple[str, str]]:
    files = road_tracer.own_files()
    places = [place for place, one in enumerate(noted[:]) if one]
    return {(road_tracer.PARTS[place // len(files)], files[place % len(files)]) for place in places}


async def walks(site: Site, code: str, memory: Path, *, by_api: bool) -> set[tuple[str, str]]:
    visitor = Visitor(site.address)
    await sign_up(visitor, code, "bo", "a-good-pass-phrase")
    if by_api:
        visitor.token = site.shell(TOKEN)
    found = [await walk(visitor, site, memory, number, by_api=by_api) for number in range(WARM_UPS + FOLLOWED)]
    visitor.hang_up()
    return set.intersection(*found[WARM_UPS:])


def lines_of(names: set[str]) -> int:
    return sum(len((road_tracer.ROOT / name).read_text().splitlines()) for name in names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--api", action="store_true", help="send the file as a program does")
    parser.add_argument("--files", action="store_true", help="name each file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        memory = Path(folder) / "noted"
        memory.write_bytes(bytes(len(road_tracer.own_files()) * len(road_tracer.PARTS)))
        (Path(folder) / "sitecustomize.py").write_text("from bench import road_tracer\nroad_tracer.install()\n")
        path, noted = os.pathsep.join([folder, str(road_tracer.ROOT)]), str(memory)
        with running_site(Path(folder) / "var", PYTHONPATH=path, ROAD_OF_AN_UPLOAD=noted) as site:
            found = asyncio.run(walks(site, site.shell(SET_UP), memory, by_api=options.api))
    print_road(found, names_files=options.files)


def print_road(found: set[tuple[str, str]], *, names_files: bool) -> None:
    report = Report()
    names, board = ({name for part, name in found if (part == BOARD) == is_board} for is_board in (False, True))
    for part in (*road_tracer.PARTS[:3], BOARD):
        own = {name for one, name in found if one == part}
        report.print_figure(f"road of an upload: {part}", f"{len(own)} files, {lines_of(own)} lines")
    if names_files:
        for name in sorted(names | board):
            parts = ", ".join(sorted(part for part, one in found if one == name))
            print(f"  {lines_of({name}):>5}  {name}  ({parts})")
    report.most("request to score: files", len(names), MOST_FILES, unit="files")
    report.most("request to score: lines", lines_of(names), MOST_LINES, unit="lines")
    both = names | board
    report.print_figure("with the page of the board", f"{len(both)} files, {lines_of(both)} lines")
    raise SystemExit(bool(report.missed))


if __name__ == "__main__":
    main()
