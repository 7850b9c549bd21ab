"""Files of our own: for Moodle, for Brightspace, and one with everything."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from leaderboard.common.csv_files import safe_cell

from .recipients import GradedPerson


def moodle_file(people: Iterable[GradedPerson], title: str) -> str:
    """As Moodle imports grades; “-” is its word for no grade."""
    header = ["Email address", "ID number", "First name", "Last name", title, f"{title} (feedback)"]
    rows = (
        [p.email, p.university_id, p.first_name, p.last_name, "-" if p.points is None else p.points, p.reasons]
        for p in without_claimed_identities(people)
    )
    return _csv_table(header, rows, numbers={4})


def brightspace_file(people: Iterable[GradedPerson], title: str) -> str:
    """As Brightspace imports grades; only who has an ID or a user name there can be found by it."""
    header = ["OrgDefinedId", "Username", f"{title} Points Grade", "End-of-Line Indicator"]
    rows = (
        [p.university_id, p.login, p.points or "", "#"]
        for p in without_claimed_identities(people)
        if brightspace_identifier(p)
    )
    return _csv_table(header, rows, numbers={2})


def without_claimed_identities(people: Iterable[GradedPerson]) -> list[GradedPerson]:
    """Without addresses and user names that somebody wrote into their account and that the class list has for another
    line: a platform would give both marks to one person, the last one for good."""
    everybody = list(people)
    emails = {p.email.casefold() for p in everybody if p.is_listed}
    logins = {p.login.casefold() for p in everybody if p.is_listed}
    return [
        p
        if p.is_listed
        else replace(
            p,
            email="" if p.email.casefold() in emails else p.email,
            login="" if p.login.casefold() in logins else p.login,
        )
        for p in everybody
    ]


def brightspace_identifier(person: GradedPerson) -> bool:
    return bool(person.university_id or person.login)


def full_file(people: Iterable[GradedPerson], title: str) -> str:
    """Everything that we know, one person a line."""
    names = ("name", "email", "student_id", "sis_user_id", "login", "section", "team")
    rows = ([*(getattr(p, name) for name in names), p.points or "", p.reasons] for p in people)
    return _csv_table([*names, title, "reasons"], rows, numbers={len(names)})


GRADE_FILES: Mapping[str, Callable[[Iterable[GradedPerson], str], str]] = {
    "moodle": moodle_file,
    "brightspace": brightspace_file,
    "plain": full_file,
}


def _csv_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: set[int]) -> str:
    """`numbers` are the places of points, which we wrote ourselves and which are never negative."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([safe_cell(name) for name in header])
    for row in rows:
        writer.writerow([cell if place in numbers else safe_cell(cell) for place, cell in enumerate(row)])
    return text.getvalue()
