"""A teacher's answers, sample submission and test set in a browser: from the chosen files to what the site found in
them, and on to the launch page.

    .venv/bin/python -m bench.truth [--rows 500000] [--times 3]

Chromium does what the teacher does. The baseline is one `pandas.read_csv` of each file in a process that has pandas
already, with the two questions that everybody would ask: are the ids unique, is anything missing.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import pandas
from playwright.sync_api import Page, sync_playwright

from tests.running_site import CHROMIUM_ARGUMENTS, PASSWORD, running_site

GOAL = 5.0


def written_files(folder: Path, rows: int) -> list[Path]:
    """Answers that are numbers, a sample submission of zeros, and a test set."""
    tables = {
        "answers": ("id,target", "row{row},{target:.3f}"),
        "sample_submission": ("id,target", "row{row},0"),
        "test": ("id,area,age", "row{row},{area},{age}"),
    }
    paths = []
    for name, (header, line) in tables.items():
        paths.append(folder / f"{name}.csv")
        with paths[-1].open("w") as file:
            file.write(f"{header}\n")
            for row in range(rows):
                cells = {"target": row * 7919 % 100_003 / 1000, "area": row * 31 % 997 / 10, "age": row % 83}
                file.write(line.format(row=row, **cells) + "\n")
    return paths


def baseline(paths: list[Path]) -> float:
    begun = time.perf_counter()
    for path in paths:
        table = pandas.read_csv(path)
        assert table["id"].is_unique
        assert not table.isna().any(axis=None)
    return time.perf_counter() - begun


def sign_in(page: Page, address: str) -> None:
    page.goto(f"{address}/accounts/login/")
    page.fill("#id_login", "olga")
    page.fill("#id_password", PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()


def seconds_of_teacher(page: Page, address: str, paths: list[Path], title: str) -> tuple[float, float]:
    """From the chosen files to the proposal, and from there to the launch page."""
    page.goto(f"{address}/host/new/")
    begun = time.perf_counter()
    page.set_input_files("#id_files", list(map(str, paths)))
    page.get_by_role("heading", name="Check what we found").wait_for(timeout=60_000)
    proposed = time.perf_counter() - begun
    page.fill("#id_title", title)
    begun = time.perf_counter()
    page.get_by_role("button", name="Create as draft").click()
    page.get_by_role("heading", name="Before the launch").wait_for(timeout=60_000)
    return proposed, time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        running_site(Path(folder) / "var") as site,
        sync_playwright() as tools,
    ):
        paths = written_files(Path(folder), options.rows)
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        page = tools.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGUMENTS).new_page()
        sign_in(page, site.address)
        for number in range(options.times):
            proposed, created = seconds_of_teacher(page, site.address, paths, f"Big {number}")
            print(
                f"{options.rows} rows: files chosen → what we found {proposed:.1f} s (goal ≤ {GOAL:g}; pandas alone "
                f"{baseline(paths):.1f} s), then {created:.1f} s to the launch page"
            )


if __name__ == "__main__":
    main()
