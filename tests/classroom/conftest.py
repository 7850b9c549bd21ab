"""A class of Ada's whose course has one competition. Modules with `COURSE_SIZES` run with several too: the people pages
show the same class list, however many competitions use it."""

from __future__ import annotations

import pytest

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition
from tests.conftest import make_competition


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "course_size" in metafunc.fixturenames:
        sizes = getattr(metafunc.module, "COURSE_SIZES", [1])
        metafunc.parametrize("course_size", sizes, ids=[f"of_{size}" for size in sizes])


@pytest.fixture
def pets(ada: User, course_size: int) -> Competition:
    pets = make_competition(ada)
    for number in range(1, course_size):
        make_competition(ada, slug=f"more-{number}", title=f"More {number}", course=pets.course, launched=number > 1)
    return pets
