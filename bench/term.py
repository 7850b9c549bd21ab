"""A believable class through the product's own verbs, in every state of a term: just begun, ready, new, live, ended.

`fill` makes it in the database at hand and scores in this process; `pages` names every page of the site with the person
who would look at it. Screenshots, costs and accessibility are all taken from these two.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from django.utils.text import slugify

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.boards import standings
from leaderboard.classroom import extensions, joining, people, queries, roster
from leaderboard.classroom import teams as teams_module
from leaderboard.classroom.models import RosterEntry
from leaderboard.competitions import services as competitions_services
from leaderboard.competitions.models import Competition, Membership, Submission, Team
from leaderboard.grades import services as grade_services
from leaderboard.ground_truths.services import copying, data_files, drafts, publishing, setup
from leaderboard.ground_truths.specs import GroundTruthSpec
from leaderboard.insights import hardest_rows
from leaderboard.notifications import emails, services
from leaderboard.notifications.kinds import NoticeKind
from leaderboard.submissions import outside_queue, score, submitting
from leaderboard.submissions import services as submission_services

PASSWORD = "correct horse"
SPECIES = ("newt", "toad", "frog")
ROWS = 240
TEAMS = {
    "Bo and the Toads": ("bo", "cy"),
    "The Overfitters": ("mei.tanaka", "jonas.keller"),
    "Null Hypothesis": ("priya.raman",),
    "Random Foresters": ("greta.vogel", "mateo.rios"),
    "Kernel Panic": ("anton.huber",),
    "Bayes Watch": ("sofia.petrova", "liam.murphy"),
    "Study Group 7": ("aisha.bello", "jan.dvorak"),
    "Residuals": ("emil.larsson",),
    "One Hot Mess with quite a long name": ("julia.horvat",),
    "Last Row": ("max.steiner",),
}
SILENT = "Last Row"
OVERVIEW = """Photographs of 240 pond animals, each measured by hand. **Tell newt from toad from frog.**

Every row is one animal: length, weight, warts and the hour it was seen. Half of the animals are yours to learn from.

$$\\text{accuracy} = \\frac{\\text{right}}{\\text{all}}$$
"""
RULES = "1. One account per person.\n2. Teams of at most three.\n3. No data from outside."
# What is no page: files, answers for programs, and parts that htmx asks for.
NO_PAGES = (
    ".csv",
    ".zip",
    ".json",
    ".py",
    "/file/",
    "/attachment/",
    "healthz",
    "readyz",
    "prometheus",
    "/download/",
    "/files/",
    "/progress/",
    "lti/login/",
    "lti/launch/",
    "lti/jwks/",
)

# What may be asked of a page in its address, where the answer comes about in another way.
ASKED = {
    "leaderboard": ("page=99", "q=a", "section=Lab+1", "section=Lab+1&q=a", "board=private", "board=private&page=99"),
    "submissions": ("page=99", "show=scored"),
    "host_truth": ("board=private",),
    "host_teams": ("q=a", "show=nothing", "show=granted", "sort=-best", "page=99"),
    "host_people": ("q=a", "section=Lab+1", "state=joined", "state=guest", "page=99"),
    "host_submissions": ("q=a", "status=invalid", "sort=-public", "page=99"),
    "host_rows": ("row=nowhere",),
    "host_audit": ("page=99",),
    "host_announcements": ("page=99",),
    "host_similar": ("page=99",),
    "host_grades": ("q=a", "page=99"),
    "competitions": ("q=a", "show=live", "show=mine", "page=99"),
    "metrics": ("q=error", "direction=minimize"),
    "notifications": ("page=99",),
}

ENTRANCES = (
    "/accounts/login/", "/accounts/signup/", "/accounts/inactive/", "/accounts/password/reset/",
    "/accounts/password/reset/done/", "/accounts/password/reset/key/done/", "/accounts/3rdparty/login/cancelled/",
    "/api/v1/docs",
)  # fmt: skip
OWN_PAGES = (
    "/accounts/password/change/", "/accounts/sessions/", "/accounts/2fa/", "/accounts/3rdparty/",
    "/accounts/email/", "/accounts/reauthenticate/", "/accounts/logout/", "/c/pond-life/nowhere/",
)  # fmt: skip
OPERATORS_PAGES = ("people", "status", "remove_demo", "lti_platforms")


@dataclass
class Term:
    """The people by name, the competitions by state, what fills the routes of each, and what fills those of none."""

    people: dict[str, User]
    competitions: dict[str, Competition]
    arguments: dict[str, dict[str, object]] = field(default_factory=dict)
    doors: dict[str, dict[str, object]] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """A page as `who` would see it; `name` is that of its route with the state of the competition."""

    name: str
    path: str
    who: str


def fill() -> Term:
    """Make the class. It takes some seconds: 60 files are scored."""
    people = {name: _person(name) for team in TEAMS.values() for name in team}
    people |= {"ada": _person("ada", can_host=True), "ivy": _person("ivy"), "dee": _person("dee")}
    people["olga"] = _person("olga", can_host=True, is_staff=True, is_superuser=True)
    term = Term(people, {})
    for state in ("live", "ended"):
        term.competitions[state] = _course(term, state)
    _run(term, term.competitions["live"])
    _end(term, term.competitions["ended"])
    for state, title in (("draft", "Bird songs"), ("ready", "Leaf shapes"), ("new", "Stars and galaxies")):
        term.competitions[state] = _begun(people["ada"], state, title)
    joining.enter_competition(user=people["bo"], competition=term.competitions["new"])
    for state, competition in term.competitions.items():
        term.arguments[state] = arguments(competition, "bo")
    term.doors = _doors(term, term.competitions["live"])
    return term


def truth(seed: int = 4) -> bytes:
    """Ids, species, and which of them count for the public board."""
    dice = random.Random(seed)
    ids = dice.sample(range(1000, 9999), ROWS)
    rows = (f"{ids[i]},{dice.choice(SPECIES)},{'Public' if i % 3 == 0 else 'Private'}" for i in range(ROWS))
    return ("\n".join(["id,species,Usage", *rows]) + "\n").encode()


def predictions(right: float, seed: int, answers: bytes | None = None) -> bytes:
    """A file of which about that share is right."""
    dice = random.Random(seed)
    rows = [line.split(",") for line in (answers or truth()).decode().split()[1:]]
    given = (f"{row[0]},{row[1] if dice.random() < right else dice.choice(SPECIES)}" for row in rows)
    return ("\n".join(["id,species", *given]) + "\n").encode()


def _person(name: str, **fields: Any) -> User:
    first, _dot, last = name.title().partition(".")
    return User.objects.create_user(
        name, f"{name}@example.org", PASSWORD, first_name=first, last_name=last or "Berg", **fields
    )


def _course(term: Term, state: str) -> Competition:
    """A launched competition with its class, whose files came in over the last ten days."""
    ada, now = term.people["ada"], timezone.now()
    competition = competitions_services.create_competition(
        user=ada,
        slug={"live": "pond-life", "ended": "pond-life-last-term"}[state],
        title={"live": "Pond life", "ended": "Pond life, last term"}[state],
        subtitle="Biology 101: newt, toad or frog?",
        overview=OVERVIEW,
        rules=RULES,
        is_listed=True,
        shows_sections=True,
        allows_late=True,
        opens_at=now - timedelta(days=10),
        closes_at=now + timedelta(days=4),
    )
    drafts.save_draft(
        competition=competition,
        spec=GroundTruthSpec(
            metric="accuracy", file_name="answers.csv", chunks=[truth()], secondary=(("balanced_accuracy", {}),)
        ),
    )
    publishing.publish_draft(competition=competition, user=ada)
    train = b"id,length,weight,warts\n" + b"".join(b"%d,%d,%d,%d\n" % (i, i % 17, i % 40, i % 9) for i in range(50))
    data_files.add_data_file(
        competition=competition, file_name="train.csv", chunks=[train], description="Animals with their species."
    )
    publishing.launch_competition(competition=competition, user=ada)
    for name, right in (("Always frog", 0.0), ("Nearest neighbour", 0.55)):
        file = boards.add_baseline(
            competition=competition, user=ada, name=name, file_name="baseline.csv", chunks=[predictions(right, 3)]
        )
        score.score_one(file.pk)
    _enrol(term, competition)
    _submit(term, competition)
    return competition


def _begun(ada: User, state: str, title: str) -> Competition:
    """A competition without a class: an empty draft, one with a checked file, or one launched a moment ago."""
    competition = copying.create_default_draft(
        user=ada, title=title, slug=slugify(title), overview="Which is it?", is_listed=True
    )
    if state == "ready":
        brought = [("train.csv", [_leaves(40, 900)]), ("test.csv", [_leaves(7, 300)])]
        setup.add_files(competition=competition, user=ada, files=brought)
    if state == "new":
        drafts.save_draft(
            competition=competition,
            spec=GroundTruthSpec(metric="accuracy", file_name="answers.csv", chunks=[truth()]),
            suggests_metrics=True,
        )
        publishing.publish_draft(competition=competition, user=ada)
        publishing.launch_competition(competition=competition, user=ada)
        competitions_services.change_competition(competition=competition, user=ada, needs_code=False)
    return competition


def _leaves(seed: int, rows: int) -> bytes:
    """Leaves with their areas; the ids follow the area, which is worth a warning."""
    dice = random.Random(seed)
    leaves = sorted((round(dice.gauss(40, 12), 1), dice.randint(2, 30), dice.choice("abc")) for _ in range(rows))
    lines = (
        f"{seed * 1000 + i},{width},{kind},{area + width / 10:.1f}" for i, (area, width, kind) in enumerate(leaves)
    )
    return ("\n".join(["id,width,shape,area", *lines]) + "\n").encode()


def _enrol(term: Term, competition: Competition) -> None:
    for name, members in TEAMS.items():
        first = joining.enter_competition(user=term.people[members[0]], competition=competition)
        teams_module.rename_team(membership=first, name=name)
        team = Team.objects.get(pk=first.team_id)
        others = [joining.join_by_invitation(user=term.people[one], invitation=team.invitation) for one in members[1:]]
        for membership in (first, *others):
            joining.accept_rules(membership=membership)


def _submit(term: Term, competition: Competition) -> None:
    """Four files of each team, one of them with faults; only their times are set back, for verbs know only now. Every
    second team came further a moment ago, and has picked its first and its last file."""
    now = timezone.now()
    for place, (name, members) in enumerate(TEAMS.items()):
        if name == SILENT:
            continue
        made: list[str] = []
        for number in range(4):
            body = predictions(0.42 + 0.05 * (place % 7) + 0.07 * number, 100 * place + number)
            if number == 1:
                body = body.replace(b"newt", b"nute", 3).replace(b"toad", b"", 2)[: -30 * (place % 2) or None]
            file = submitting.submit_file(
                competition=competition,
                user=term.people[members[number % len(members)]],
                file_name=f"attempt-{number + 1}.csv",
                chunks=[body],
                note=("first try", "deeper trees", "", "mean of five models")[number],
            )
            score.score_one(file.pk)
            is_of_today = number == 3 and place % 2 == 0
            received = now - (timedelta(seconds=place) if is_of_today else timedelta(days=8 - 2 * number, hours=place))
            Submission.objects.filter(pk=file.pk).update(received_at=received, finished_at=received)
            made.append(str(file.pk))
        if place % 2 == 0:
            submission_services.select_finals(
                competition=competition, user=term.people[members[0]], submission_ids=[made[0], made[3]], at=now
            )
    assert competition.ground_truth is not None
    standings.rebuild_standings(competition.ground_truth)
    competition.bump_board_version()


def _run(term: Term, competition: Competition) -> None:
    """What a term brings: a class list, an assistant, words to the class, more time for one, another taken out."""
    ada = term.people["ada"]
    lines = "".join(
        f"{user.get_full_name()},{user.email},{place + 7001},{'Lab 1' if place % 2 else 'Lab 2'}\n"
        for place, user in enumerate(term.people[name] for team in TEAMS.values() for name in team)
    )
    roster.save_roster_draft(
        competition=competition, user=ada, file_name="class.csv", data="Name,Email,Student ID,Section\n" + lines
    )
    roster.apply_roster(competition=competition, user=ada)
    guests, _waiting = queries.unlinked_members(competition)
    pairs = {guest.membership.pk: guest.guess.pk for guest in guests[1:] if guest.guess}
    people.link_accounts(competition=competition, pairs=pairs, user=ada)
    competition.assistants.add(term.people["ivy"])
    services.send_announcement(
        competition=competition, user=ada, title="The data has a new column", text="See **train.csv**.", is_pinned=True
    )
    teams = {team.name: team for team in competition.teams.all()}
    extensions.grant_extension(
        team=teams["Null Hypothesis"], user=ada, reason="Ill last week", extra_attempts=3,
        closes_at=competition.closes_at + timedelta(days=2),
    )  # fmt: skip
    extensions.disqualify_team(team=teams["Kernel Panic"], user=ada, reason="Shared files with another team")
    submission = _file_of(competition, "Residuals")
    submission_services.hide_submission(submission=submission, user=ada, reason="Handed in by mistake")


def _end(term: Term, competition: Competition) -> None:
    """The deadline passes; the private board, grades, hardest rows, and a corrected ground truth that waits."""
    ada, now = term.people["ada"], timezone.now()
    Competition.objects.filter(pk=competition.pk).update(closes_at=now - timedelta(hours=1))
    competition.refresh_from_db()
    late = submitting.submit_file(
        competition=competition, user=term.people["bo"], file_name="late.csv", chunks=[predictions(0.9, 77)]
    )
    score.score_one(late.pk)
    boards.reveal_competition(competition=competition, user=ada)
    rows = [[{"baseline": "Nearest neighbour"}, 50], [{"score": 0.95}, 100]]
    by_score = {"name": "Score", "of": "score", "line": rows}
    values = {"terms": [by_score], "title": "Pond life", "late": {"off": [10], "then": "add"}}
    grade_services.set_grade_rules(graded=competition, user=ada, values=values)
    competition.refresh_from_db()
    grade_services.release_grades(graded=competition, user=ada)
    hardest_rows.find_hard_rows(competition=competition)
    corrected = truth().replace(b",newt,Private", b",toad,Private", 4)
    drafts.save_draft(
        competition=competition, spec=GroundTruthSpec(metric="accuracy", file_name="corrected.csv", chunks=[corrected])
    )
    candidate = publishing.publish_draft(competition=competition, user=ada, is_confirmed=True)
    outside_queue.rescore_batch(candidate.pk)


def _doors(term: Term, competition: Competition) -> dict[str, dict[str, object]]:
    """The ways in that a stranger of the course holds, and the link that ends somebody's letters."""
    late = RosterEntry.objects.create(course=competition.course, name="Dee Berg", email="late@example.org")
    join_cards = people.make_join_cards(competition=competition, entries=[late.pk], user=term.people["ada"])
    return {
        "join_code": {"code": competition.admission.join_code},
        "join_card": {"code": join_cards[0][1]},
        "invitation": {"invitation": competition.teams.get(name="Residuals").invitation},
        "stop_mail": {"token": emails.unsubscribe_token(term.people["bo"], NoticeKind.ANNOUNCEMENT)},
    }


def _file_of(competition: Competition, team: str) -> Submission:
    return Submission.objects.filter(competition=competition, team__name=team, status="scored").earliest("received_at")


def arguments(competition: Competition, student: str) -> dict[str, object]:
    """What fills the routes of one competition: the student's newest file and team, the last announcement."""
    known: dict[str, object] = {"slug": competition.slug, "course": competition.course.slug, "key": "accuracy"}
    team = Membership.objects.filter(competition=competition, user__username=student).first()
    if team:
        known |= {"team_id": team.team_id, "user_id": team.user_id}
        if mine := Submission.objects.filter(team=team.team_id).order_by("-received_at").first():
            known["submission_id"] = mine.pk
    if announcement := competition.announcements.last():
        known["number"] = announcement.pk
    return known


def routes() -> Iterator[tuple[str, str]]:
    """Names and routes of the site's own pages."""

    def student_preview(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[tuple[str, str]]:
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                if not route.startswith(("admin/", "api/", "accounts/")):
                    yield from student_preview(pattern.url_patterns, route)
            elif pattern.name:
                yield pattern.name, route

    yield from student_preview(get_resolver().url_patterns, "")


def pages(
    term: Term, *, student: str = "bo", stranger: str = "dee", host: str = "ada", assistant: str = "ivy"
) -> Iterator[Page]:
    """Every page and who looks at it. Some answer with a redirect or with 404 in a state they do not fit."""
    yield from (Page(path.strip("/").replace("/", "-"), path, "") for path in ENTRANCES)
    yield from (Page(path.strip("/").replace("/", "-"), path, student) for path in OWN_PAGES)
    for name, route in routes():
        if any(part in f"/{route}" for part in NO_PAGES):
            continue
        if "<slug:slug>" not in route:
            readers = {"host": host, "host_new": host} | dict.fromkeys(OPERATORS_PAGES, "olga")
            people = (readers[name],) if name in readers else ("", student)
            if name in term.doors:
                people = ("", stranger)
            if path := _filled(route, {"key": "accuracy", "guide": "students", **term.doors.get(name, {})}):
                yield from (Page(f"{name}-{one or 'visitor'}", path, one) for one in people)
            continue
        people = (host,) if route.startswith("host/") else (student, stranger)
        is_of_course = route.startswith("course/")
        if is_of_course:
            people = (host, *people)
        for state, known in term.arguments.items():
            known = {**known, "slug": known["course"]} if is_of_course else known
            if path := _filled(route, known):
                yield from (Page(f"{name}-{state}-{one}", path, one) for one in people)


def asked(pages: Iterable[Page]) -> Iterator[Page]:
    """Pages, each followed by itself with what may be asked of it."""
    for page in pages:
        yield page
        yield from (
            Page(f"{page.name}?{query}", f"{page.path}?{query}", page.who)
            for query in ASKED.get(page.name.partition("-")[0], ())
        )


def _filled(route: str, known: dict[str, object]) -> str | None:
    """The path of a route, or None where a part of it is not known."""
    parts = []
    for part in route.split("/"):
        if part.startswith("<"):
            name = part.strip("<>").partition(":")[2]
            if name not in known:
                return None
            part = str(known[name])
        parts.append(part)
    return "/" + "/".join(parts)
