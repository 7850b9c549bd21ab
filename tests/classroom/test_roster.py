"""Ada reads her class list, prints join cards, and the right people get in."""

from __future__ import annotations

import re

import pytest
import segno
from allauth.account.models import EmailAddress
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard.accounts.models import User
from leaderboard.classroom import joining, people, roster, teams
from leaderboard.classroom.models import RosterEntry, RosterList, join_card_digest
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, Course, Membership
from tests.conftest import enter, make_competition, person
from tests.pages import save_settings, signed_in, text_of, tidy

COURSE_SIZES = (1, 3)

LIST = "Name,Email,Student ID,Section\nBo Berg,bo@example.org,7,Lab 1\nCy Clay,cy@example.org,8,Lab 2\n"
ROSTER = "/host/pets/people/roster/"


def confirm(user: User) -> None:
    EmailAddress.objects.create(user=user, email=user.email, verified=True)


def read(client: Client, text: str = LIST) -> None:
    client.post(ROSTER, {"text": text})
    client.post(ROSTER, {"action": "take"})


def join_cards_of(client: Client, **data: object) -> list[str]:
    page = client.post("/host/pets/people/slips/", data).content.decode()
    return re.findall(r'join-card-code">([A-Z2-9-]+)<', page)


def test_ada_sees_what_a_list_would_do_before_anything_is_stored(hers: Client, pets: Competition) -> None:
    file = SimpleUploadedFile("class.csv", (LIST + "Dee,nonsense,9,\n").encode("utf-16"))
    assert hers.post(ROSTER, {"file": file}).status_code == 303
    page = text_of(hers.get(ROSTER))
    assert "Preview of “class.csv”" in page
    assert "New 2" in page
    assert "4 Dee, nonsense, 9 “nonsense” isn't an e-mail address" in page
    assert not RosterEntry.objects.exists()
    hers.post(ROSTER, {"action": "take"})
    assert RosterEntry.objects.count() == 2
    assert AuditEntry.objects.filter(event=AuditEvent.ROSTER_READ.value).count() == 1


def test_the_preview_says_what_was_guessed_and_what_is_left_out(hers: Client, pets: Competition) -> None:
    text = "Name;Vorname;Matrikelnr.;Rolle;Fach\nMüller;Jürgen;00123;Student;Bio\nLang;Eva;;Tutor/in;\n"
    hers.post(ROSTER, {"file": SimpleUploadedFile("liste.csv", text.encode("cp1252"))})
    page = text_of(hers.get(ROSTER))
    for words in ("Windows-1252", "Columns that aren't imported: Fach", "Jürgen Müller – 00123", "Row 3: Tutor/in"):
        assert words in page
    hers.post(ROSTER, {"action": "take"})
    assert [(entry.name, entry.student_id) for entry in RosterEntry.objects.all()] == [("Jürgen Müller", "00123")]


@pytest.mark.parametrize("is_confirmed", [True, False])
def test_the_preview_says_who_has_joined_already(hers: Client, pets: Competition, bo: User, is_confirmed: bool) -> None:
    enter(pets, bo)
    EmailAddress.objects.create(user=bo, email="BO@example.org", verified=is_confirmed, primary=True)
    hers.post(ROSTER, {"text": LIST})
    page = hers.get(ROSTER).content.decode()
    assert page.partition('data-testid="joined"')[2].startswith(">1<")
    hers.post(ROSTER, {"action": "take"})
    assert RosterEntry.objects.get(email="bo@example.org").user == bo


def test_who_joined_before_the_list_came_is_matched_by_address_and_shown(
    hers: Client, pets: Competition, bo: User, dee: User
) -> None:
    """Bo's address is unconfirmed, so Ada reads that he was matched by it, and may part the two again."""
    enter(pets, dee)
    hers.post(ROSTER, {"text": LIST})
    assert hers.post(ROSTER, {"action": "take"})["Location"] == "/host/pets/people/"
    enter(pets, bo)
    hers.post(ROSTER, {"text": LIST})
    following = hers.post(ROSTER, {"action": "take"})["Location"]
    page = text_of(hers.get(following))
    assert "1 matched by an unconfirmed e-mail address." in page
    assert "Bo Berg" in page
    assert "Cy Clay" not in page
    entry = RosterEntry.objects.get(user=bo)
    hers.post("/host/pets/people/who/", {"action": "part", "entry": entry.pk})
    assert RosterEntry.objects.get(pk=entry.pk).user is None


def test_who_joined_by_the_name_of_a_login_is_proposed_next(hers: Client, pets: Competition) -> None:
    enter(pets, User.objects.create(username="cclay"))
    hers.post(ROSTER, {"text": "name,login\nCy Clay,cclay\n"})
    following = hers.post(ROSTER, {"action": "take"})["Location"]
    assert following == "/host/pets/people/who/"
    assert RosterEntry.objects.get().user is None


def test_accounts_are_matched_beside_the_import(hers: Client, pets: Competition, bo: User) -> None:
    membership = enter(pets, bo)
    assert f'name="who-{membership.pk}"' not in hers.get(ROSTER).content.decode()  # nobody to match Bo with
    read(hers, "Name\nBo Berg\nCy Clay\n")
    page = hers.get(ROSTER).content.decode()
    assert f'name="who-{membership.pk}"' in page
    assert 'action="/host/pets/people/who/"' in page


@pytest.mark.parametrize(
    ("sort", "first"), [("name", "Bo Berg"), ("-name", "Cy Clay"), ("section", "Bo Berg"), ("nonsense", "Bo Berg")]
)
def test_the_class_is_sorted_by_the_heads_of_its_table(hers: Client, pets: Competition, sort: str, first: str) -> None:
    read(hers)
    page = tidy(hers.get(f"/host/pets/people/?sort={sort}").content.decode())
    rows = page.partition("<tbody>")[2]
    other = {"Bo Berg": "Cy Clay", "Cy Clay": "Bo Berg"}[first]
    assert rows.index(first) < rows.index(other)


def test_reading_a_list_twice_changes_nothing(hers: Client, pets: Competition) -> None:
    read(hers)
    before = list(RosterEntry.objects.values())
    hers.post(ROSTER, {"text": LIST})
    assert "New 0 Of these, joined 0 Changed 0 Unchanged 2" in text_of(hers.get(ROSTER))
    hers.post(ROSTER, {"action": "take"})
    assert list(RosterEntry.objects.values()) == before


def test_who_moved_is_changed_and_who_is_missing_stays(hers: Client, pets: Competition) -> None:
    read(hers)
    preview = text_of(hers.post("/host/pets/people/roster/", {"text": "Student ID,Section\n7,Lab 9\n"}, follow=True))
    assert "Section: " in preview
    assert "section:" not in preview
    read(hers, "Student ID,Section\n7,Lab 9\n")
    assert dict(RosterEntry.objects.values_list("student_id", "section")) == {"7": "Lab 9", "8": "Lab 2"}
    assert RosterEntry.objects.get(student_id="7").email == "bo@example.org"
    cy = RosterEntry.objects.get(student_id="8")
    hers.post("/host/pets/people/left/", {"entry": cy.pk, "action": "left"})
    assert "Left the course" in text_of(hers.get("/host/pets/people/?state=left"))
    hers.post("/host/pets/people/left/", {"entry": cy.pk, "action": "back"})
    cy.refresh_from_db()
    assert cy.left_at is None


def test_one_person_twice_and_a_line_of_two_people_are_bad_lines(hers: Client, pets: Competition) -> None:
    read(hers)
    twice = "Bo,bo@example.org,7\nBo,BO@example.org,\nX,bo@example.org,8\nDop,bo@example.org,\n"
    hers.post(ROSTER, {"text": f"Name,Email,Student ID\n{twice}"})
    page = text_of(hers.get(ROSTER))
    assert "same person as in row 2" in page
    assert "its address or one of its ids is already in row 2, for Bo" in page
    assert "its ids and addresses match several people on the roster:" in page


def test_a_wrong_list_is_taken_back_but_for_who_has_joined_with_it(
    hers: Client, ada: User, pets: Competition, bo: User
) -> None:
    read(hers, "Name,Email\nDee,dee@example.org\n")
    confirm(bo)
    hers.post(ROSTER, {"file": SimpleUploadedFile("wrong.csv", LIST.encode())})
    hers.post(ROSTER, {"action": "take"})
    code = join_cards_of(hers, entry=RosterEntry.objects.get(name="Cy Clay").pk)[0]
    enter(pets, bo)
    page = text_of(hers.get(ROSTER))
    assert "wrong.csv" in page
    assert "2 people added, 1 not joined" in page
    wrong = RosterList.objects.get(file_name="wrong.csv")
    assert "1 person removed." in text_of(hers.post(ROSTER, {"action": "take_back", "list": wrong.pk}, follow=True))
    assert set(RosterEntry.objects.values_list("name", flat=True)) == {"Dee", "Bo Berg"}
    assert Client().get(f"/slip/{code}/").status_code == 404
    entry = AuditEntry.objects.get(event=AuditEvent.ROSTER_TAKEN_BACK.value)
    assert (entry.by, entry.about, entry.before) == (ada.pk, "wrong.csv", {"people": 1})
    for number in (wrong.pk, 10**6, "nonsense"):
        again = hers.post(ROSTER, {"action": "take_back", "list": number}, follow=True)
        assert "Everyone on this list has joined or is already gone" in text_of(again)


def test_nobody_takes_back_a_list_of_another_competition(hers: Client, pets: Competition, dee: User) -> None:
    read(hers)
    elsewhere = make_competition(dee, slug="elsewhere")
    with pytest.raises(competitions.CannotHost):
        roster.remove_roster_list(competition=elsewhere, number=RosterList.objects.get().pk, user=dee)
    assert RosterEntry.objects.count() == 2


def test_each_join_card_has_its_link_as_a_picture_for_telephones(hers: Client, pets: Competition) -> None:
    read(hers)
    page = hers.post("/host/pets/people/slips/", {}).content.decode()
    drawn = re.findall(r'<svg[^>]* class="qr">.*?</svg>', page)
    assert drawn == [
        segno.make(link, error="m", micro=False).svg_inline(omitsize=True, svgclass="qr", lineclass=None)
        for link in re.findall(r"http://testserver/slip/[A-Z2-9]+/", page)
    ]
    assert len(set(drawn)) == 2
    assert "style=" not in "".join(drawn)


def test_who_has_a_card_gets_another_only_when_ada_selects_that_person(hers: Client, pets: Competition) -> None:
    read(hers)
    hers.post("/host/pets/people/slips/", {})
    held = set(RosterEntry.objects.values_list("join_card_digest", flat=True))
    page = text_of(hers.post("/host/pets/people/slips/", {}, follow=True))
    assert "Select who needs a new card." in page
    assert set(RosterEntry.objects.values_list("join_card_digest", flat=True)) == held
    hers.post("/host/pets/people/slips/", {"entry": RosterEntry.objects.values_list("pk", flat=True)[0]})
    assert len(held & set(RosterEntry.objects.values_list("join_card_digest", flat=True))) == 1


@pytest.mark.parametrize("data", [{}, {"text": "  "}, {"text": "Points\n1\n"}])
def test_no_list_is_refused_in_words(hers: Client, pets: Competition, data: dict[str, str]) -> None:
    response = hers.post(ROSTER, data)
    assert response.status_code in (409, 422)
    assert "Please fix the following" in text_of(response)


def test_a_join_card_lets_exactly_one_person_in_once(hers: Client, pets: Competition, dee: User, cy: User) -> None:
    read(hers)
    bo_entry = RosterEntry.objects.get(student_id="7")
    (code,) = join_cards_of(hers, entry=bo_entry.pk)
    assert code.replace("-", "") not in str(RosterEntry.objects.values())
    competitions.change_competition(competition=pets, admission="roster")
    client = signed_in(dee)
    assert client.get(f"/join/{code}/")["Location"] == f"/slip/{code}/"
    assert "This link is for Bo Berg." in text_of(client.get(f"/slip/{code}/"))
    assert client.post(f"/slip/{code}/", {"accepted": "on"}).status_code == 303
    bo_entry.refresh_from_db()
    assert bo_entry.user == dee
    for late in (signed_in(cy), Client()):
        used = late.get(f"/slip/{code}/")
        assert used.status_code == 404
        assert not any(words in text_of(used) for words in ("Cats or dogs", "Bo Berg", "Host ada"))
    assert not Membership.objects.filter(user=cy).exists()


def test_a_new_join_card_ends_the_one_before_and_an_old_one_ends_by_itself(
    hers: Client, pets: Competition, bo: User
) -> None:
    read(hers)
    first, second = join_cards_of(hers)
    assert join_cards_of(hers) == []  # all are invited, so nobody is left without a tick
    entry = RosterEntry.objects.get(student_id="7")
    (newer,) = join_cards_of(hers, entry=entry.pk)
    client = signed_in(bo)
    statuses = {code: client.get(f"/slip/{code}/").status_code for code in (first, second, newer)}
    assert statuses == {first: 404, second: 200, newer: 200}
    RosterEntry.objects.update(join_card_expires_at="2020-01-01T00:00:00+00:00")
    assert client.get(f"/slip/{newer}/").status_code == 404


def test_join_cards_without_a_tick_are_for_the_list_that_is_shown(hers: Client, pets: Competition) -> None:
    read(hers)
    page = hers.get("/host/pets/people/?section=Lab+2").content.decode()
    sent = dict(re.findall(r'<input type="hidden" name="(section|state|q)" value="([^"]*)"', page))
    assert sent == {"section": "Lab 2", "state": "", "q": ""}
    assert len(join_cards_of(hers, **sent)) == 1
    assert [entry.name for entry in RosterEntry.objects.exclude(invited_at=None)] == ["Cy Clay"]
    assert join_cards_of(hers, q="nobody of this name") == []
    assert RosterEntry.objects.get(name="Bo Berg").invited_at is None


def test_a_join_card_is_a_way_to_an_account(hers: Client, pets: Competition, client: Client) -> None:
    assert client.get("/accounts/signup/").content.decode().count("password1") == 0
    read(hers)
    code = join_cards_of(hers)[0]
    asked = text_of(client.get(f"/slip/{code}/"))
    assert "Join “Cats or dogs”" in asked
    assert "Your name" not in asked  # the list has it
    # Who invites, in the host's own words or by name, and what for; whom of the class the link is for is not said.
    assert "Host ada" in asked
    Competition.objects.update(contact="Ms Hale")
    Course.objects.update(title="BIO 101")
    asked = text_of(client.get(f"/slip/{code}/"))
    assert "Course BIO 101" in asked
    assert "Host Ms Hale" in asked
    assert not any(entry.name in asked for entry in RosterEntry.objects.all())
    assert "password1" in client.get(f"/slip/{code}/").content.decode()
    assert "password1" in client.get("/accounts/signup/").content.decode()


def test_only_the_roster_may_join_where_ada_says_so(pets: Competition, ada: User, bo: User, dee: User) -> None:
    read(signed_in(ada))
    competitions.change_competition(competition=pets, admission="roster")
    refused = signed_in(bo).post(f"/join/{pets.admission.join_code}/", {"accepted": "on"})
    assert "Confirm your e-mail address" in text_of(refused)
    confirm(dee)
    assert "on the roster: dee@example.org" in text_of(signed_in(dee).get(f"/join/{pets.admission.join_code}/"))
    confirm(bo)
    assert signed_in(bo).post(f"/join/{pets.admission.join_code}/", {"accepted": "on"}).status_code == 303
    assert RosterEntry.objects.get(user=bo).state == "joined"
    team = Membership.objects.get(user=bo).team
    with pytest.raises(teams.CannotJoin, match="on the roster"):
        joining.join_by_invitation(user=dee, invitation=team.invitation)


@pytest.mark.parametrize(
    ("allowed", "gets_in"), [("@example.org", True), ("bo@example.org", True), ("@other.org", False)]
)
def test_a_list_of_addresses_and_domains_decides(
    hers: Client, pets: Competition, bo: User, allowed: str, gets_in: bool
) -> None:
    save_settings(hers, "pets", admission="addresses", allowed_addresses=allowed)
    confirm(bo)
    response = signed_in(bo).post(f"/join/{pets.admission.join_code}/", {"accepted": "on"})
    assert (response.status_code == 303) == gets_in


def test_who_is_refused_reads_why_and_where_to_go(
    hers: Client, pets: Competition, bo: User, settings: LazySettings
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    competitions.change_competition(competition=pets, contact="ada@uni.example")
    save_settings(hers, "pets", admission="addresses", allowed_addresses="@uni.example")
    confirm(bo)
    page = signed_in(bo).get(f"/join/{pets.admission.join_code}/").content.decode()
    assert "bo@example.org" in page
    assert 'href="/accounts/email/"' in page
    assert "Contact ada@uni.example." in page
    assert "What others will see" not in page
    mine = signed_in(bo).get("/accounts/email/").content.decode()
    assert "Confirm yours so it counts" in mine
    assert "Resend confirmation" not in mine


def test_an_empty_roster_that_lets_nobody_in_is_pointed_out(hers: Client, pets: Competition) -> None:
    save_settings(hers, "pets", admission="roster")
    page = hers.get("/host/pets/settings/").content.decode()
    assert "The roster is empty, so students can't join yet." in page
    read(hers)
    assert "The roster is empty, so students can't join yet" not in hers.get("/host/pets/settings/").content.decode()


def test_a_list_without_an_address_is_refused(hers: Client, pets: Competition) -> None:
    for words in ("", "nonsense@", "a@b", "*.uni.example", "@*.uni.example"):
        response = save_settings(hers, "pets", admission="addresses", allowed_addresses=words)
        assert response.status_code == 422, words


def test_members_with_a_confirmed_address_are_found_on_the_list(hers: Client, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    confirm(bo)
    User.objects.filter(pk=bo.pk).update(email="")
    read(hers)
    assert RosterEntry.objects.get(student_id="7").user == bo
    assert "Cy Clay" not in text_of(hers.get("/host/pets/people/?section=Lab+1"))


def test_the_join_card_of_whom_a_list_found_works_no_more_not_even_once_they_are_parted(
    hers: Client, pets: Competition, bo: User, dee: User
) -> None:
    enter(pets, bo)
    User.objects.filter(pk=bo.pk).update(email="")
    read(hers)
    entry = RosterEntry.objects.get(student_id="7")
    [(_, code)] = people.make_join_cards(competition=pets, entries=[entry.pk], user=None)
    confirm(bo)
    read(hers)
    assert people.unlink_accounts(competition=pets, entries=[entry.pk], user=None) == 1
    with pytest.raises(teams.CannotJoin, match="This link no longer works"):
        joining.join_by_card(user=dee, digest=join_card_digest(code))


def test_an_assistant_sees_people_and_changes_nothing(hers: Client, pets: Competition, dee: User) -> None:
    read(hers)
    hers.post("/host/pets/people/roles/", {"name": "dee", "role": "assistant"})
    client = signed_in(dee)
    assert "Bo Berg" in text_of(client.get("/host/pets/people/"))
    for page in (ROSTER, "/host/pets/people/slips/", "/host/pets/people/left/", "/host/pets/people/roles/"):
        assert client.post(page, {"action": "take"}).status_code == 403, page
    with pytest.raises(teams.CannotJoin, match="assistant"):
        joining.enter_competition(user=dee, competition=pets)


def test_a_class_of_fifty_costs_no_more_queries_than_one_of_two(hers: Client, pets: Competition) -> None:
    read(hers)
    hers.get("/host/pets/people/")
    with CaptureQueriesContext(connection) as few:
        hers.get("/host/pets/people/")
    read(hers, "Name,Email\n" + "".join(f"P {n},p{n}@example.org\n" for n in range(50)))
    for number in range(20):
        enter(pets, person(f"m{number}"))
    hers.get("/host/pets/people/")
    with CaptureQueriesContext(connection) as many:
        hers.get("/host/pets/people/")
    assert len(many) == len(few) <= 12
