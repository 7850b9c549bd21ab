"""No number of the list is left out, and what proves each exists."""

from __future__ import annotations

import pytest

from tests.faults.test_table import TESTS, names_in
from tests.inputs.table import LIST, PAGE, page
from tests.inputs.test_doors import GROUPS

ENTRIES = {number: entry for entries in LIST.values() for number, entry in entries.items()}


def test_the_table_has_every_number_once() -> None:
    assert sorted(number for entries in LIST.values() for number in entries) == list(range(1, 133))


def test_every_number_of_files_goes_through_the_doors() -> None:
    assert {int(case.number.split()[0]) for cases in GROUPS.values() for case in cases} == set(range(1, 102))


@pytest.mark.parametrize("number", ENTRIES)
def test_each_has_proofs_that_exist(number: int) -> None:
    assert ENTRIES[number].proofs
    proofs = [proof.partition("::") for proof in ENTRIES[number].proofs]
    assert [name for file, _, name in proofs if name not in names_in(TESTS / file)] == []


def test_tests_that_name_a_number_are_in_the_table() -> None:
    known = {proof for entry in ENTRIES.values() for proof in entry.proofs}
    for path in (TESTS / "inputs").glob("test_*.py"):
        numbered = {f"inputs/{path.name}::{name}" for name in names_in(path) if name[5:6].isdigit()}
        assert numbered <= known


def test_the_page_about_inputs_is_made_of_the_table() -> None:
    assert PAGE.read_text() == page()
