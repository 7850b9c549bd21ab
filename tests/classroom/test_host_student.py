"""Ada looks after one student: place, files, more time, a link for a forgotten password."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone

from leaderboard.accounts import people as accounts_people
from leaderboard.accounts.models import User
from leaderboard.boards import reveal
from leaderboard.classroom import roles
from leaderboard.classroom.models import HostingRole
from leaderboard.common.models import AuditEntry
from leaderboard.competitions.models import Competition, Extension
from tests.conftest import answers, close, enter, make_competition, submit
from tests.pages import link_in, signed_in

COURSE_SIZES = (1, 3)

WAITS = {"waits": "everyone"}


def page_of(user: User) -> str:
    return f"/host/pets/people/{user.pk}/"


@pytest.fixture
def client(ada: User) -> Client:
    return signed_in(ada)


@pytest.fixture
def without_mail(settings: LazySettings) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "none"


def figure(page: str, testid: str) -> str:
    inside = page.partition(f'data-testid="{testid}"')[2].partition("</li>")[0]
    return re.sub(r"<[^>]+>", "", inside.partition('class="figure"')[2].partition(">")[2].partition("\n")[0])


def test_ada_sees_place_best_and_files_of_a_student(pets: Competition, client: Client, bo: User, cy: User) -> None:
    enter(pets, bo)
    enter(pets, cy)
    submit(pets, bo, answers(public=3))
    submit(pets, cy, answers())
    submit(pets, bo, b"id,label\n1,cat\n")
    page = client.get(page_of(bo)).content.decode()
    assert (figure(page, "rank"), figure(page, "best"), figure(page, "submissions")) == ("2", "0.500", "2")


def test_ada_moves_a_student_to_another_section(pets: Competition, client: Client, bo: User) -> None:
    enter(pets, bo)
    assert client.post(page_of(bo), {"action": "section", "section": "B"}).status_code == 403, "not on the roster"
    entry = pets.course.roster.create(name="Bo Berg", user=bo, section="A")
    pets.course.roster.create(name="Cyra", section="C")
    assert 'value="A"' in client.get(page_of(bo)).content.decode()
    assert client.post(page_of(bo), {"action": "section", "section": " B "}).status_code == 303
    entry.refresh_from_db()
    assert entry.section == "B"
    assert AuditEntry.objects.filter(event="roster_changed").count() == 1


def test_an_assistant_moves_nobody(pets: Competition, bo: User, cy: User) -> None:
    enter(pets, bo)
    pets.assistants.add(cy)
    entry = pets.course.roster.create(name="Bo Berg", user=bo, section="A")
    refused = signed_in(cy).post(page_of(bo), {"action": "section", "section": "B"})
    entry.refresh_from_db()
    assert (refused.status_code, entry.section) == (403, "A")


def test_ada_moves_everybody_she_ticks(pets: Competition, client: Client) -> None:
    ticked = [pets.course.roster.create(name=name, section="A").pk for name in ("Bo", "Cy")]
    left = pets.course.roster.create(name="Dee", section="A")
    address = "/host/pets/people/left/"
    assert client.post(address, {"action": "section", "to_section": "B", "entry": ticked}).status_code == 303
    assert set(pets.course.roster.filter(section="B").values_list("pk", flat=True)) == set(ticked)
    client.post(address, {"action": "section", "to_section": "C"})
    left.refresh_from_db()
    assert left.section == "A"


def test_the_page_asks_at_most_twelve_questions(
    pets: Competition, client: Client, bo: User, django_assert_max_num_queries: object
) -> None:
    enter(pets, bo)
    for public in (3, 2, 1):
        submit(pets, bo, answers(public=public))
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        client.get(page_of(bo))


def test_who_does_not_compete_has_no_page(pets: Competition, client: Client, cy: User, dee: User) -> None:
    enter(make_competition(cy, slug="others"), dee)
    assert client.get(page_of(dee)).status_code == 404


@pytest.mark.parametrize("days", [1, 3])
def test_one_click_gives_the_team_more_days(pets: Competition, client: Client, bo: User, days: int) -> None:
    team = enter(pets, bo).team
    assert client.post(page_of(bo), {"action": "extend", "days": days, **WAITS}).status_code == 303
    given = team.extensions.get()
    assert given.closes_at == pets.closes_at + timedelta(days=days)
    assert given.reason
    client.post(page_of(bo), {"action": "extend", "days": 1, **WAITS})
    assert team.extensions.filter(closes_at=pets.closes_at + timedelta(days=days + 1)).exists(), "on top of the first"


def test_after_the_deadline_more_days_are_counted_from_now(pets: Competition, client: Client, bo: User) -> None:
    enter(pets, bo)
    close(pets)
    client.post(page_of(bo), {"action": "extend", "days": 1, **WAITS})
    left = Extension.objects.get().closes_at - timezone.now()  # type: ignore[operator]
    assert timedelta(hours=23) < left <= timedelta(days=1)


def test_once_the_final_ranking_is_open_nobody_gets_more_time(pets: Competition, client: Client, bo: User) -> None:
    enter(pets, bo)
    close(pets)
    reveal.reveal_private_board(pets, timezone.now())
    page = client.get(page_of(bo)).content.decode()
    assert 'value="extend"' not in page
    assert 'name="closes_at"' not in page
    assert "/host/pets/settings/#limits" in page, "where late files are accepted instead"
    assert client.post(page_of(bo), {"action": "extend", "days": 1, **WAITS}).status_code == 422
    assert not Extension.objects.exists()


def test_a_password_link_leads_bo_to_a_new_password_once(
    pets: Competition, client: Client, bo: User, without_mail: None
) -> None:
    enter(pets, bo)
    answer = client.post(page_of(bo), {"action": "password"})
    assert "no-store" in answer["Cache-Control"]
    link = link_in(answer.content.decode())
    entry = AuditEntry.objects.order_by("-pk").first()
    assert entry is not None
    assert (entry.event, entry.account) == ("password_link", bo.pk)
    assert link not in str(entry.after)
    browser = Client()
    choose = browser.get(link, follow=True).request["PATH_INFO"]
    new = "quite another horse"
    browser.post(choose, {"password1": new, "password2": new})
    bo.refresh_from_db()
    assert bo.check_password(new)
    assert Client().get(link).status_code == 410, "it works once"


def test_a_password_link_ends_after_a_day_and_with_a_sign_in(
    pets: Competition, bo: User, without_mail: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = accounts_people.password_link_for(bo)
    assert accounts_people.account_behind(token) == bo
    assert accounts_people.account_behind(token + "x") is None
    signed_in(bo)
    assert accounts_people.account_behind(token) is None
    bo.refresh_from_db()
    token = accounts_people.password_link_for(bo)
    monkeypatch.setattr(accounts_people, "PASSWORD_LINK_LIFETIME", timedelta(seconds=-1))
    assert accounts_people.account_behind(token) is None


def test_who_may_do_more_than_compete_gets_no_password_link(
    pets: Competition, client: Client, bo: User, cy: User, dee: User, olga: User, without_mail: None
) -> None:
    for user in (bo, cy, dee, olga):
        enter(pets, user)
    User.objects.filter(pk=bo.pk).update(can_host=True)
    make_competition(cy, slug="of-cy")
    roles.give_role(competition=make_competition(cy, slug="more"), name="dee", role=HostingRole.ASSISTANT, user=cy)
    for user in (bo, cy, dee, olga):
        assert 'value="password"' not in client.get(page_of(user)).content.decode()
        assert client.post(page_of(user), {"action": "password"}).status_code == 403
    assert not AuditEntry.objects.filter(event="password_link").exists()


def test_where_the_site_sends_mail_students_help_themselves(
    pets: Competition, client: Client, bo: User, settings: LazySettings
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    enter(pets, bo)
    assert client.post(page_of(bo), {"action": "password"}).status_code == 403


def test_assistants_give_time_but_no_password_links(
    pets: Competition, ada: User, bo: User, dee: User, without_mail: None
) -> None:
    enter(pets, bo)
    roles.give_role(competition=pets, name="dee", role=HostingRole.ASSISTANT, user=ada)
    helper = signed_in(dee)
    assert helper.post(page_of(bo), {"action": "password"}).status_code == 403
    assert helper.post(page_of(bo), {"action": "extend", "days": 1, **WAITS}).status_code == 303
