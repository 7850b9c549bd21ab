"""Ada's way from an empty list to a launched competition, and who stays outside."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import reveal
from leaderboard.classroom import roles
from leaderboard.classroom.models import HostingRole
from leaderboard.common import network
from leaderboard.competitions.models import Competition, DataFile, Membership
from leaderboard.ground_truths.services import copying
from leaderboard.notifications.models import Notice
from tests.conftest import close, enter, make_competition, person
from tests.pages import save_settings, signed_in, text_of, upload

FILLED = {
    "title": "Pond life",
    "slug": "",
    "overview": "What swims there?",
    "opens_at": "2026-03-01T08:00",
    "closes_at": "2030-11-24T23:59",
    "zone": "Europe/Vienna",
    "daily_attempts": "5",
    "final_count": "2",
    "team_size": "4",
    "max_megabytes": "20",
    "attachments": "off",
    "attachment_hours": "48",
    "needs_code": "on",
    "reveals_itself": "on",
}
# A removal after its question.
MEANT = {"action": "remove", "is_meant": "yes"}


def save_all(client: Client, slug: str, /, **fields: str) -> Any:
    """Save the sections of the settings, one after the other; returns the first refusal, or the last answer."""
    for section in ("limits", "admission", "texts"):
        sent = {**FILLED, "admission": "code", **fields, "section": section}
        answer = client.post(f"/host/{slug}/settings/", sent)
        if answer.status_code != 303:
            break
    return answer


def test_ada_hosts_a_competition_from_the_first_line_to_the_launch(hers: Client, bo: User) -> None:
    assert "Create a competition" in text_of(hers.get("/host/"))
    answers_file = "id,label\n" + "".join(f"{i},{'cat' if i % 3 else 'dog'}\n" for i in range(1, 31))
    made = hers.post("/host/new/", {"files": upload(answers_file)})
    assert (made.status_code, made["Location"]) == (303, "/host/predict-label/setup/")
    assert save_all(hers, "predict-label", slug="pond-life").status_code == 303
    assert "Grades" in text_of(hers.get("/host/pond-life/"))
    split = {"split": "yes", "public_percent": "40", "seed": "3", "split_by": "stratified"}
    assert hers.post("/host/pond-life/setup/", split).status_code == 303
    page = text_of(hers.get("/host/pond-life/setup/"))
    assert "12 public 18 private" in page
    assert "Perfect file the answers 1.000" in page
    created = hers.post("/host/pond-life/setup/", {"create": "yes"})
    assert (created.status_code, created["Location"]) == (303, "/host/pond-life/")
    assert hers.post("/host/pond-life/setup/", {"launch": "yes"}).status_code == 303
    pond = Competition.objects.get(slug="pond-life")
    assert pond.launched_at is not None
    assert pond.closes_at == datetime(2030, 11, 24, 22, 59, tzinfo=UTC)
    assert pond.limits.max_bytes == 20 * 1024 * 1024
    dashboard = hers.get("/host/pond-life/").content.decode()
    assert f"http://testserver/join/{pond.admission.join_code}/" in dashboard
    assert signed_in(bo).post(f"/join/{pond.admission.join_code}/", {"accepted": "on"}).status_code == 303
    board = hers.get("/host/pond-life/board.csv?board=public")
    assert board.content.decode("utf-8-sig").startswith("rank,team,score")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("title", "", "Title: This field is required"),
        ("slug", "new", "Another page uses the address “"),
        ("slug", "no spaces", "valid “slug”"),
        ("slug", "pets", "Another competition has this address"),
        ("closes_at", "2026-02-01T08:00", "must open before it closes"),
        ("opens_at", "soon", "Enter a date and time"),
        ("opens_at", "2026-03-29T02:30", "exist in this zone:"),
        ("opens_at", "0001-01-01T00:00", "Enter a year between 1970 and 9000"),
        ("closes_at", "9999-12-31T23:59", "Enter a year between 1970 and 9000"),
        ("zone", "Europe/Atlantis", "Select a valid choice"),
        ("daily_attempts", "0", "greater than or equal to 1"),
        ("max_megabytes", "4000", "This site accepts files up to"),
        ("join_code", "A1", "at least six"),
    ],
)
def test_a_wrong_value_is_shown_at_its_field_and_what_was_typed_is_kept(
    hers: Client, ada: User, pets: Competition, field: str, value: str, words: str
) -> None:
    copying.create_default_draft(user=ada, title="Pond life", slug="pond-life")
    response = save_all(hers, "pond-life", **{field: value})
    page = response.content.decode()
    assert response.status_code == 422
    assert words in text_of(response)
    assert f'href="#id_{field}"' in page
    assert value in page
    assert "What swims there?" not in Competition.objects.get(slug="pond-life").overview


def test_a_title_without_letters_asks_for_an_address(hers: Client, pets: Competition) -> None:
    refused = save_settings(hers, "pets", title="???", slug="")
    assert "Enter an address" in text_of(refused)


def test_a_missing_title_is_one_mistake_and_not_two(hers: Client, pets: Competition) -> None:
    text = text_of(save_settings(hers, "pets", title="", slug=""))
    assert "can't be derived from this title" not in text


def test_an_address_in_use_is_told_in_our_words(hers: Client, ada: User, pets: Competition) -> None:
    copying.create_default_draft(user=ada, title="Other", slug="new-competition")
    text = text_of(save_settings(hers, "new-competition", slug="pets"))
    assert "Another competition has this address" in text
    assert "Slug" not in text


def test_an_untouched_deadline_keeps_its_seconds(hers: Client, pets: Competition) -> None:
    """The form shows minutes; saving it for another reason must not move the dates."""
    assert save_settings(hers, "pets", final_count="3").status_code == 303
    changed = Competition.objects.get()
    assert (changed.limits.final_count, changed.opens_at, changed.closes_at) == (3, pets.opens_at, pets.closes_at)


def test_a_section_is_saved_without_the_others(hers: Client, pets: Competition) -> None:
    wrong = save_settings(hers, "pets", daily_attempts="0")
    assert wrong.status_code == 422
    assert "Please fix the following" in text_of(wrong).partition("Dates and limits")[2].partition("Who can join")[0]
    assert save_settings(hers, "pets", uses_pseudonyms="on")["Location"] == "/host/pets/settings/#board"
    changed = Competition.objects.get()
    assert (changed.board.uses_pseudonyms, changed.limits.daily_attempts) == (True, pets.limits.daily_attempts)
    assert hers.post("/host/pets/settings/", {"section": "none", "title": "?"}).status_code == 422
    assert hers.post("/host/pets/settings/", {"action": "none"}).status_code == 422
    assert Competition.objects.get().title == pets.title


def test_the_deadline_of_a_running_competition_is_changed_where_its_question_is(
    hers: Client, pets: Competition
) -> None:
    page = hers.get("/host/pets/settings/").content.decode()
    assert 'href="/host/pets/deadline/"' in page
    assert 'name="closes_at"' not in page
    assert "midnight, GMT." in page, "the zone of the competition is named"


def test_a_section_of_the_settings_has_at_most_sixty_words(hers: Client, pets: Competition) -> None:
    page = hers.get("/host/pets/settings/").content.decode()
    for name in ("texts", "limits", "admission", "board", "copy"):
        section = page[page.index(f' id="{name}"') :]
        section = section[: section.index("</form>" if section.startswith(f' id="{name}" method') else "</section>")]
        section = re.sub(r"</summary>.*?</details>|<span class=.visually-hidden.*?</span>", " ", section, flags=re.S)
        section = re.sub(r"<select.*?</select>|<textarea.*?</textarea>|<[^>]+>|^[^>]*>", " ", section, flags=re.S)
        words = re.findall(r"[^\W_][\w’'-]*", html.unescape(section))
        assert len(words) <= 60, (name, len(words), " ".join(words))


def test_new_rules_ask_students_again(hers: Client, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    save_settings(hers, "pets", rules="Be fairer.")
    assert not Membership.objects.get(user=bo).has_accepted_rules()


def test_the_dashboard_leads_to_joining_while_it_runs_and_to_grades_afterwards(hers: Client, pets: Competition) -> None:
    running = hers.get("/host/pets/").content.decode()
    assert f"/join/{pets.admission.join_code}/" in running
    assert 'href="/host/pets/settings/?copy#copy"' not in step_of(running)
    close(pets)
    ended = hers.get("/host/pets/").content.decode()
    assert pets.admission.join_code not in ended
    reveal.reveal_private_board(pets, timezone.now())
    ended = hers.get("/host/pets/").content.decode()
    assert 'href="/host/pets/grades/"' in step_of(ended)
    assert 'href="/host/pets/settings/?copy#copy"' in step_of(ended)


def step_of(page: str) -> str:
    """The next step on the dashboard."""
    return page.partition('data-testid="next-step"')[2].partition("</section>")[0]


def test_a_drafts_page_has_no_numbers_that_are_all_zero(hers: Client, ada: User) -> None:
    make_competition(ada, launched=False)
    page = hers.get("/host/pets/").content.decode()
    assert "Before the launch" in page
    assert 'id="pulse"' not in page


def test_an_incomplete_draft_is_not_launched_and_says_what_is_missing(hers: Client, ada: User) -> None:
    copying.create_default_draft(user=ada, title="Other", slug="new-competition")
    page = text_of(hers.post("/host/new-competition/setup/", {"launch": "yes"}, follow=True))
    assert "Add the answer file first." in page
    assert Competition.objects.get().launched_at is None


def test_a_second_host_is_added_by_name_and_the_last_one_stays(
    hers: Client, pets: Competition, bo: User, cy: User
) -> None:
    enter(pets, bo)
    assert "Hosts see the private scores, so" in text_of(
        hers.post("/host/pets/people/roles/", {"action": "add", "name": "bo", "role": "host"})
    )
    assert "The person needs to sign up first" in text_of(
        hers.post("/host/pets/people/roles/", {"action": "add", "name": "nobody", "role": "host"})
    )
    claimed = EmailAddress.objects.create(user=cy, email="cy@example.org", verified=False)
    refusal = hers.post("/host/pets/people/roles/", {"action": "add", "name": "cy@example.org", "role": "host"})
    assert "Ask the person for their username" in text_of(refusal)
    EmailAddress.objects.filter(pk=claimed.pk).update(verified=True)
    assert (
        hers.post("/host/pets/people/roles/", {"action": "add", "name": "CY@example.org", "role": "host"}).status_code
        == 303
    )
    assert signed_in(cy).get("/host/pets/").status_code == 200
    gone = hers.post("/host/pets/people/roles/", {**MEANT, "name": "ada", "role": "host"})
    assert gone["Location"] == "/host/"
    assert hers.get("/host/pets/").status_code == 404
    last = signed_in(cy).post("/host/pets/people/roles/", {**MEANT, "name": "cy", "role": "host"})
    assert "A competition needs a host" in text_of(last)


def test_nobody_becomes_a_host_by_taking_an_address_as_a_name(hers: Client, pets: Competition) -> None:
    person("prof@uni.example")
    refusal = hers.post("/host/pets/people/roles/", {"action": "add", "name": "prof@uni.example", "role": "host"})
    assert "Ask the person for their username" in text_of(refusal)
    assert pets.hosts.count() == 1


def test_data_files_are_added_replaced_and_removed(hers: Client, pets: Competition) -> None:
    assert hers.post("/host/pets/data/", {"action": "add"}).status_code == 422
    for text in ("id,x\n1,2\n", "id,x\n1,2\n2,3\n"):
        answer = hers.post("/host/pets/data/", {"file": upload(text, "train.csv"), "description": "To learn from"})
        assert answer.status_code == 303
    assert [(file.name, file.rows) for file in DataFile.objects.all()] == [("train.csv", 2)]
    asked = hers.post("/host/pets/data/", {"action": "remove", "name": "train.csv"})
    assert "Remove “train.csv”?" in text_of(asked)
    assert DataFile.objects.exists()
    hers.post("/host/pets/data/", {"action": "remove", "name": "train.csv", "is_meant": "yes"})
    assert not DataFile.objects.exists()


def test_an_upload_over_the_sites_limit_is_refused(hers: Client, pets: Competition, settings: LazySettings) -> None:
    settings.MAX_UPLOAD_BYTES = 10
    for page in ("data", "baselines", "truth"):
        fields = {"file": upload("x" * 20), "name": "x", "metric": "accuracy", "public_percent": "30", "seed": "0"}
        response = hers.post(f"/host/pets/{page}/", fields)
        assert response.status_code == 413, page
        assert "larger than" in text_of(response)


def test_whoever_gets_or_loses_rights_is_told(pets: Competition, ada: User, cy: User) -> None:
    roles.give_role(competition=pets, name="cy", role=HostingRole.ASSISTANT, user=ada)
    roles.give_role(role=HostingRole.HOST, competition=pets, name="cy", user=ada)
    roles.take_role(role=HostingRole.HOST, competition=pets, name="cy", user=ada)
    said_to_user = [(notice.user, notice.kind, notice.title) for notice in Notice.objects.order_by("pk")]
    assert said_to_user == [
        (cy, "role", "You're now an assistant in “Cats or dogs”"),
        (cy, "role", "You're now a host of “Cats or dogs”"),
        (cy, "role", "You're no longer a host of “Cats or dogs”"),
    ]


@pytest.mark.parametrize(
    ("site", "host", "address", "command"),
    [
        ("", "127.0.0.1:8000", "http://127.0.0.1:8000/join/", ">python3 manage.py up --host 0.0.0.0<"),
        ("", "[::1]:9001", "http://[::1]:9001/join/", ">python3 manage.py up --host 0.0.0.0 --port 9001<"),
        ("", "testserver", "http://testserver/join/", ""),
        ("https://board.example.org", "127.0.0.1:8000", "https://board.example.org/join/", ""),
    ],
)
def test_a_join_link_that_opens_on_this_computer_alone_says_so(
    ada: User, pets: Competition, settings: LazySettings, site: str, host: str, address: str, command: str
) -> None:
    settings.SITE_URL, settings.ALLOWED_HOSTS = site, ["*"]
    client = Client(headers={"host": host})
    client.force_login(ada)
    page = client.get("/host/pets/").content.decode()
    assert f"{address}{pets.admission.join_code}/" in page
    assert ("Only this computer can open this link" in page) is bool(command)
    assert command in page


def test_a_laptop_in_the_network_hands_out_the_address_of_the_network_it_is_in(
    ada: User, pets: Competition, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ada looks at `localhost`; the link, the code for phones and the wall show what her class can open."""
    settings.NETWORK_PORT = "8000"
    settings.ALLOWED_HOSTS = network.AllowedHosts(["127.0.0.1"])
    client = Client(headers={"host": "127.0.0.1:8000"})
    client.force_login(ada)
    for address in ("192.168.7.5", "10.1.2.3"):  # at home, then in the classroom
        monkeypatch.setattr(network, "own_addresses", lambda address=address: [address])
        page = client.get("/host/pets/").content.decode()
        assert f"http://{address}:8000/join/{pets.admission.join_code}/" in page
        assert "Only this computer can open this link" not in page
        assert f"<strong>{address}:8000</strong>" in client.get("/host/pets/projector/?show=join").content.decode()
        assert Client(headers={"host": f"{address}:8000"}).get("/").status_code == 200
    assert Client(headers={"host": "192.168.7.5:8000"}).get("/").status_code == 400
