"""Sealed processes import what `PYTHONPATH` reaches, but for folders around the site."""

import os
from pathlib import Path

import pytest

import metrics
from metrics.core.custom_packages import import_folders


@pytest.mark.attack("code in a custom metric")
def test_a_folder_around_the_site_or_its_state_stays_closed(tmp_path: Path) -> None:
    site = Path(metrics.__file__).resolve().parents[1]
    state, good = tmp_path / "srv" / "var", tmp_path / "packages"
    for folder in (state, good, tmp_path / "home"):
        folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(state)
    closed = [site, site.parent, state, state.parent, tmp_path, tmp_path / "link", tmp_path / "home", Path("/")]
    folders = [*closed, good, tmp_path / "missing"]
    environment = {
        "PYTHONPATH": os.pathsep.join(["", *map(str, folders)]),
        "VAR_DIR": str(state),
        "HOME": str(tmp_path / "home"),
    }
    assert import_folders(environment) == [str(good)]
