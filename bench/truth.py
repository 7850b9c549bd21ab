"""A teacher's ground truth in a browser: from the chosen file to what the site found in it, and on to the launch page.

    .venv/bin/python -m bench.truth [--rows 500000] [--times 3]

Chromium does what the teacher does. The baseline is one `pandas.read_csv` of the same file in a process that has pandas
already, with the two questions that everybody would ask: are the ids unique, is anything missing.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import pandas
from playwright.sync_api import Page, sync_playwright

from tests.site import CHROMIUM_ARGUMENTS, PASSWORD, running_site

GOAL = 5.0


def write_truth(path: Path, rows: int) -> None:
    with path.open("w") as file:
        file.write("id,label,Usage\n")
        file.writelines(f"row{i},{'abc'[i % 3]},{'Public' if i % 4 else 'Private'}\n" for i in range(rows))


def baseline(path: Path) -> float:
    begun = time.perf_counter()
    table = pandas.read_csv(path)
    assert table["id"].is_unique
    assert not table.isna().any(axis=None)
    return time.perf_counter() - begun


def sign_in(page: Page, address: str) -> None:
    page.goto(f"{address}/accounts/login/")
    page.fill("#id_login", "olga")
    page.fill("#id_password", PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()


def seconds_of_teacher(page: Page, address: str, path: Path, title: str) -> tuple[float, float, set[str]]:
    """Until the proposal, from there to the launch page, and what the page said meanwhile."""
    page.goto(f"{address}/host/new/")
    begun, said = time.perf_counter(), set()
    page.set_input_files("#id_files", str(path))
    while not (found := page.get_by_role("heading", name="Check what we found")).count():
        said |= {" ".join(text.split()) for text in page.locator("[role=status]:visible").all_inner_texts()}
        time.sleep(0.05)
    found.wait_for()
    proposed = time.perf_counter() - begun
    page.fill("#id_title", title)
    begun = time.perf_counter()
    page.get_by_role("button", name="Create competition").click()
    page.get_by_role("heading", name="Review and launch").wait_for(timeout=60_000)
    return proposed, time.perf_counter() - begun, said


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
        path = Path(folder) / "truth.csv"
        write_truth(path, options.rows)
        page = tools.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM_ARGUMENTS).new_page()
        sign_in(page, site.address)
        for number in range(options.times):
            proposed, created, said = seconds_of_teacher(page, site.address, path, f"Big {number}")
            print(
                f"{options.rows} rows: file chosen → what we found {proposed:.1f} s (goal ≤ {GOAL:g}; pandas alone "
                f"{baseline(path):.1f} s), then {created:.1f} s to the launch page; progress: {sorted(said) or 'none'}"
            )


if __name__ == "__main__":
    main()
