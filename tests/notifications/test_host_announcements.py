"""Ada writes to her class: to everybody, or to those who need the word."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import LazySettings
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.classroom import extensions, roles
from leaderboard.classroom.models import HostingRole, RosterEntry
from leaderboard.common import outbox
from leaderboard.common.models import AuditEntry
from leaderboard.competitions.models import Competition
from leaderboard.notifications import queries, services
from leaderboard.notifications.models import Announcement, Notice
from leaderboard.submissions import score
from tests.conftest import answers, enter, make_competition, submit
from tests.pages import signed_in

PAGE = "/host/pets/announcements/"


def write(host: User, **fields: Any) -> Any:
    given = {"title": "New file", "text": "See **data**.", "audience": "all", **fields}
    return signed_in(host).post(PAGE, given, follow=True)


def overview(user: User) -> str:
    return str(signed_in(user).get("/c/pets/").content.decode())


def test_everybody_reads_it_on_the_overview_on_their_page_and_by_mail(
    pets: Competition, ada: User, bo: User, cy: User, settings: LazySettings
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    enter(pets, bo), enter(pets, cy)
    assert "Sent to 2 people." in write(ada).content.decode()
    assert "See <strong>data</strong>." in overview(bo)
    assert "See <strong>data</strong>." in signed_in(bo).get("/notifications/").content.decode()
    outbox.send_due_emails()
    assert sorted(email.to[0] for email in mail.outbox) == ["bo@example.org", "cy@example.org"]
    assert "See **data**." in mail.outbox[0].body


def test_an_email_is_signed_by_who_wrote_it_and_tells_no_address_of_theirs(
    pets: Competition, ada: User, bo: User, cy: User, post: list[mail.EmailMessage]
) -> None:
    """Answers go where the competition says whom to ask, if that is an address."""
    enter(pets, bo)
    roles.give_role(role=HostingRole.HOST, competition=pets, name="cy", user=ada)

    def email(host: User, **fields: str) -> mail.EmailMessage:
        Competition.objects.update(**fields)
        post.clear()
        write(host, text="See the data.")
        outbox.send_due_emails()
        return next(email for email in post if email.to == [bo.email])

    first = email(ada)
    assert "See the data.\n\n– ada\n\nhttps://class.example/c/pets/" in first.body
    assert first.reply_to == []
    User.objects.filter(pk=cy.pk).update(first_name="Cy", last_name="Clay")
    second = email(cy, contact="Room 5, help@class.example")
    assert "– Cy Clay\n" in second.body
    assert second.reply_to == []
    User.objects.filter(pk=ada.pk).update(username="ada@example.org")
    third = email(User.objects.get(pk=ada.pk), contact="help@class.example")
    assert "–" not in third.body
    assert third.reply_to == ["help@class.example"]
    assert "ada@example.org" not in str(third.message()) + str(first.message())


def test_an_email_of_the_site_itself_is_signed_by_nobody(
    pets: Competition, ada: User, bo: User, post: list[mail.EmailMessage]
) -> None:
    team = enter(pets, bo).team
    Competition.objects.update(contact="help@class.example")
    write(ada)
    extensions.grant_extension(team=team, user=ada, reason="Ill", extra_attempts=1)
    outbox.send_due_emails()
    announced, extended = post
    assert "– ada" in announced.body
    assert "– ada" not in extended.body
    assert (announced.reply_to, extended.reply_to) == (["help@class.example"], [])


def test_strangers_read_nothing_of_it(ada: User, bo: User, dee: User) -> None:
    pets = make_competition(ada, is_listed=True)
    enter(pets, bo)
    write(ada)
    assert "New file" not in overview(dee)
    assert dee.notices.filter(read_at=None).count() == 0


def test_who_joins_later_reads_what_was_written_to_all(pets: Competition, ada: User, bo: User, cy: User) -> None:
    enter(pets, bo)
    write(ada)
    write(ada, title="Where is your file?", audience="no_valid_file")
    enter(pets, cy)
    assert "New file" in overview(cy)
    assert "Where is your file?" not in overview(cy)
    assert "Where is your file?" in overview(bo)


def test_the_form_says_how_many_get_it_before_it_is_sent(pets: Competition, ada: User, bo: User, cy: User) -> None:
    enter(pets, bo), enter(pets, cy)
    submit(pets, bo, answers())
    page = " ".join(signed_in(ada).get(PAGE).content.decode().split())
    assert "Everyone in the competition (2 people)" in page
    assert "Teams without a valid file (1 person)" in page


def test_a_message_to_one_team_reaches_its_members_alone(pets: Competition, ada: User, bo: User, cy: User) -> None:
    team = enter(pets, bo).team
    enter(pets, cy)
    assert f'value="team:{team.pk}"' in signed_in(ada).get(f"{PAGE}?team={team.pk}").content.decode()
    assert f'value="team:{team.pk}"' not in signed_in(ada).get(PAGE).content.decode()
    assert write(ada, audience=f"team:{team.pk}").status_code == 200
    sent = Announcement.objects.get()
    assert (sent.audience, sent.section, sent.reached) == ("team", "bo", 1)
    assert "New file" in overview(bo)
    assert "New file" not in overview(cy)


def test_a_team_of_another_competition_gets_no_message(pets: Competition, ada: User, dee: User) -> None:
    other = make_competition(dee, slug="others")
    team = enter(other, ada).team
    assert f"team:{team.pk}" not in signed_in(ada).get(f"{PAGE}?team={team.pk}").content.decode()
    assert write(ada, audience=f"team:{team.pk}").status_code == 422
    assert not Announcement.objects.exists()


def test_the_reminder_is_written_for_the_host_to_check(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    page = signed_in(ada).get(f"{PAGE}?for=no_valid_file").content.decode()
    assert "checked" in page.partition('value="no_valid_file"')[2].partition(">")[0]
    assert "sample submission" in page.partition("<textarea")[2].partition("</textarea>")[0]
    assert not Announcement.objects.exists(), "nothing was sent yet"


def test_only_those_without_a_valid_file_are_asked_for_one(pets: Competition, ada: User, bo: User, cy: User) -> None:
    enter(pets, bo), enter(pets, cy)
    submit(pets, bo, answers())
    submit(pets, cy, b"id,label\n1,cat\n")  # invalid: it has not all rows
    write(ada, audience="no_valid_file")
    assert (bo.notices.filter(read_at=None).count(), cy.notices.filter(read_at=None).count()) == (0, 1)


def test_only_those_below_the_best_baseline_are_encouraged(pets: Competition, ada: User, bo: User, cy: User) -> None:
    enter(pets, bo), enter(pets, cy)
    submit(pets, bo, answers())
    submit(pets, cy, answers(public=5))
    for name, wrong in (("Weak", 6), ("Strong", 2)):
        baseline = boards.add_baseline(
            competition=pets, user=ada, name=name, file_name="b.csv", chunks=[answers(public=wrong)]
        )
        score.score_one(baseline.pk)
    assert list(queries.announcement_readers(pets, "below_baseline")) == [cy]
    assert "beat the best baseline (1 person)" in signed_in(ada).get(PAGE).content.decode()


def test_without_a_baseline_nobody_can_be_below_it_and_nothing_is_sent(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    assert "below the best baseline" not in signed_in(ada).get(PAGE).content.decode()
    response = write(ada, audience="below_baseline")
    assert response.status_code == 422
    page = response.content.decode()
    assert 'id="id_audience_error"' in page
    assert "See **data**." in page  # nothing typed is lost
    assert not Announcement.objects.exists()


def test_where_everybody_has_a_valid_file_nothing_is_sent(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    response = write(ada, audience="no_valid_file")
    assert response.status_code == 409
    assert "This audience is empty right now, so nothing was sent" in response.content.decode()
    assert not Announcement.objects.exists()


def test_a_hidden_board_tells_nobody_who_is_below(ada: User, bo: User) -> None:
    pets = make_competition(ada, hides_scores=True)
    enter(pets, bo)
    submit(pets, bo, answers(public=5))
    baseline = boards.add_baseline(competition=pets, user=ada, name="B", file_name="b.csv", chunks=[answers()])
    score.score_one(baseline.pk)
    assert not queries.announcement_readers(pets, "below_baseline").exists()


def test_one_section_is_written_to_alone(pets: Competition, ada: User, bo: User, cy: User) -> None:
    enter(pets, bo), enter(pets, cy)
    for user, section in ((bo, "Monday"), (cy, "Friday: late")):
        RosterEntry.objects.filter(course=pets.course, user=user).delete()
        RosterEntry.objects.create(course=pets.course, user=user, name=user.username, section=section)
    page = " ".join(signed_in(ada).get(PAGE).content.decode().split())
    assert "Section “Monday” (1 person)" in page
    write(ada, title="Room 5", audience="section:Friday: late")
    assert (bo.notices.filter(read_at=None).count(), cy.notices.filter(read_at=None).count()) == (0, 1)
    assert "Room 5" in overview(cy)
    assert "Room 5" not in overview(bo)
    assert write(ada, audience="section:Sunday").status_code == 422


def test_a_double_click_sends_once(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    key = re.search(r"announcement:[0-9a-f]{32}", signed_in(ada).get(PAGE).content.decode())
    assert key
    write(ada, key=key.group()), write(ada, key=key.group())
    assert Announcement.objects.count() == bo.notices.filter(read_at=None).count() == 1


@pytest.mark.parametrize("wrong", [{"title": ""}, {"text": " "}, {"audience": "strangers"}, {"key": "mine"}])
def test_what_is_missing_is_said_and_nothing_is_sent(
    pets: Competition, ada: User, bo: User, wrong: dict[str, str]
) -> None:
    enter(pets, bo)
    assert write(ada, **wrong).status_code == 422
    assert bo.notices.filter(read_at=None).count() == 0


def test_a_change_reaches_the_page_and_leaves_its_trace(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    write(ada)
    sent = Announcement.objects.get()
    signed_in(ada).post(f"{PAGE}{sent.pk}/", {"title": "New file", "text": "It is *corrected*.", "is_pinned": "on"})
    page = overview(bo)
    assert "<em>corrected</em>" in page
    assert "Pinned" in page
    assert "edited" in page
    assert "corrected" in signed_in(bo).get("/notifications/").content.decode()
    assert bo.notices.filter(read_at=None).count() == 1
    assert list(AuditEntry.objects.values_list("event", flat=True)[:2]) == ["announcement_edited", "announced"]


def test_what_is_withdrawn_leaves_the_overview_and_is_not_mailed(
    pets: Competition, ada: User, bo: User, settings: LazySettings
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    enter(pets, bo)
    write(ada)
    sent = Announcement.objects.get()
    signed_in(ada).post(f"{PAGE}{sent.pk}/", {"action": "withdraw"})
    outbox.send_due_emails()
    assert mail.outbox == []
    assert "See <strong>data" not in overview(bo)
    assert Notice.objects.get().title == "Withdrawn: New file"
    assert "Withdrawn" in signed_in(ada).get(PAGE).content.decode()
    again = signed_in(ada).post(f"{PAGE}{sent.pk}/", {"action": "withdraw"}, follow=True)
    assert "has been withdrawn" in again.content.decode()


def test_hal_cannot_change_what_ada_wrote(pets: Competition, ada: User, dee: User) -> None:
    other = make_competition(dee, slug="other", title="Another")
    sent = services.send_announcement(competition=pets, user=ada, title="Hello", text="There")
    assert (
        signed_in(dee).post(f"/host/{other.slug}/announcements/{sent.pk}/", {"action": "withdraw"}).status_code == 404
    )
    sent.refresh_from_db()
    assert sent.withdrawn_at is None


def test_a_script_in_it_stays_text(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    write(ada, text="<script>alert(1)</script> [x](javascript:alert(1))")
    assert "<script>alert" not in overview(bo)
    assert "javascript:alert" not in re.sub(r">[^<]*<", "><", overview(bo))


def test_the_page_costs_few_queries_however_long_the_list(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    for number in range(30):
        services.send_announcement(competition=pets, user=ada, title=f"No. {number}", text="Text")
    for number in range(8):
        RosterEntry.objects.create(course=pets.course, name=f"N {number}", section=f"Section {number}")
    client, student = signed_in(ada), signed_in(bo)
    with CaptureQueriesContext(connection) as queries:
        client.get(PAGE)
    assert len(queries) <= 12
    with CaptureQueriesContext(connection) as queries:
        page = student.get("/c/pets/").content.decode()
    assert len(queries) <= 12
    assert "Earlier announcements" in page
