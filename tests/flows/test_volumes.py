"""`VAR_DIR` on any volume: of another user, of a group, of no use; then Olga reads what is wrong with it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leaderboard.operations.supervisor.place import SiteFolders, Trouble

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="folders of several users are made by root alone")

STRANGER, OLGA, GROUP = 54321, 64321, 0
"""Who owns the volume, and who operates the site: without a name in /etc/passwd, as in a container."""


@pytest.fixture
def volume() -> Iterator[Path]:
    """A folder that every user can reach; those of pytest are closed."""
    outer = Path(tempfile.mkdtemp(dir="/tmp"))
    outer.chmod(0o755)
    (outer / "volume").mkdir()
    yield outer / "volume"
    shutil.rmtree(outer)


def given(path: Path, user: int, group: int, mode: int) -> None:
    os.chown(path, user, group)
    path.chmod(mode)


def as_olga(act: Callable[[], object], *, group: int = OLGA) -> str:
    """What came of an act of a process without root's rights: `done`, or the words of the trouble."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # threads of the test's own process are no matter here
        child = os.fork()
    if not child:
        try:
            os.umask(0o022)
            os.setgroups([])
            os.setresgid(group, group, group)
            os.setresuid(OLGA, OLGA, OLGA)
            words = str(act() or "done")
        except Trouble as trouble:
            words = str(trouble)
        except BaseException as error:
            words = f"{type(error).__name__}: {error}"
        os.write(writing, words.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as said_to_user:
        words = said_to_user.read().decode()
    os.waitpid(child, 0)
    return words


def start(var: Path) -> str:
    """What `up` does before it starts anything; a second time as after a restart."""
    for _ in range(2):
        place = SiteFolders(var)
        place.make()
        assert place.take_lock()
        place.leave()
    return place.warning()


@pytest.mark.parametrize(
    ("owner", "owning_group", "mode", "group"),
    [
        (STRANGER, GROUP, 0o770, GROUP),  # a random user of the group 0, as OpenShift has it
        (STRANGER, GROUP, 0o2775, GROUP),
        (0, OLGA, 0o2770, OLGA),  # a volume with fsGroup
        (STRANGER, STRANGER, 0o1777, OLGA),
        (OLGA, OLGA, 0o755, OLGA),
    ],
)
def test_a_volume_that_olga_can_write_is_taken_and_what_is_made_in_it_is_closed(
    volume: Path, owner: int, owning_group: int, mode: int, group: int
) -> None:
    given(volume, owner, owning_group, mode)
    assert as_olga(lambda: start(volume), group=group) == "done"
    for name in ("run", "log"):
        facts = (volume / name).stat()
        assert (facts.st_uid, stat.S_IMODE(facts.st_mode) & 0o777) == (OLGA, 0o700)
    is_hers = owner == OLGA
    assert stat.S_IMODE(volume.stat().st_mode) == (0o700 if is_hers else mode)


def test_a_folder_that_everybody_can_write_is_taken_with_a_warning(volume: Path) -> None:
    given(volume, STRANGER, STRANGER, 0o777)
    assert "All users of this machine may write" in as_olga(lambda: start(volume))


def test_the_database_in_an_open_volume_is_closed_to_others(volume: Path) -> None:
    """Commands run without `up`, which would close what it makes."""
    given(volume, STRANGER, GROUP, 0o775)
    code = "from leaderboard.settings import DATABASES; open(DATABASES['default']['NAME'], 'w').close()"
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        env={**environment, "VAR_DIR": str(volume)},
        umask=0o022,
        check=True,
    )
    for name in ("leaderboard.sqlite3", "secret_key"):
        assert stat.S_IMODE((volume / name).stat().st_mode) == 0o600


def test_olga_reads_whose_a_folder_is_that_she_cannot_write(volume: Path) -> None:
    given(volume, STRANGER, STRANGER, 0o755)
    words = as_olga(lambda: start(volume))
    assert words.startswith(f"{volume} cannot be written.")
    assert f"user id {STRANGER} and group id {STRANGER} with mode 755" in words
    assert f"this process has user id {OLGA} and group ids {OLGA}" in words
    assert f"chown -R {OLGA} {volume}" in words
    assert ".venv" not in words
    words = as_olga(lambda: start(volume / "var"))
    assert words.startswith(f"{volume / 'var'} cannot be made. {volume} belongs to user id {STRANGER}")


@pytest.mark.parametrize("name", ["run", "files", "leaderboard.sqlite3"])
def test_olga_reads_which_part_was_left_by_another_user(volume: Path, name: str) -> None:
    """As after a pod that came back under another user id."""
    given(volume, STRANGER, GROUP, 0o770)
    left = volume / name
    left.mkdir() if "." not in name else left.touch()
    given(left, STRANGER, GROUP, 0o700)
    words = as_olga(lambda: start(volume), group=GROUP)
    assert words.startswith(f"{left} cannot be ")
    assert f"chown -R {OLGA} {left}" in words
