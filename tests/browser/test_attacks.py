"""Scripts in everything people may write, in a real browser: none runs, and the policy has nothing to report."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from leaderboard.accounts.models import User
from leaderboard.classroom import teams
from leaderboard.competitions.models import Baseline, Competition, Course, Submission, Team
from leaderboard.ground_truths.services import data_files
from tests.browser.conftest import OpenPage
from tests.browser.waiting import until_page_says
from tests.conftest import answers, enter, make_competition, submit

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAYLOADS = [
    "<script>window.__xss=1</script>",
    "<img src=x onerror=window.__xss=1>",
    "<svg/onload=window.__xss=1>",
    "<svg><script>window.__xss=1</script></svg>",
    '"><script>window.__xss=1</script>',
    "' autofocus onfocus=window.__xss=1 x='",
    '" autofocus onfocus=window.__xss=1 x="',
    "<iframe srcdoc='<script>parent.__xss=1</script>'>",
    "<a href='javascript:window.__xss=1'>x</a>",
    "[x](javascript:window.__xss=1)",
    '![x](x" onerror="window.__xss=1)',
    '<https://x.y/"onmouseover=window.__xss=1>',
    "</title><script>window.__xss=1</script>",
    "</textarea><script>window.__xss=1</script>",
    "<style>@import '//evil.example/x.css'</style>",
    "<details open ontoggle=window.__xss=1>",
    "{{constructor.constructor('window.__xss=1')()}}",
    "$$\\href{javascript:window.__xss=1}{x}$$<!--<img src=x onerror=window.__xss=1>",
]
WATCH = """
window.__reports = [];
document.addEventListener(
  'securitypolicyviolation', e => window.__reports.push(e.violatedDirective + ' ' + e.blockedURI));
"""


@pytest.fixture
def infested(ada: User, bo: User) -> Competition:
    """A competition in which every text that people may write is all the payloads, or one of them where it is short."""
    everything = "\n\n".join(PAYLOADS)
    competition = make_competition(ada, is_listed=True, overview=everything, rules=everything, daily_attempts=50)
    membership = enter(competition, bo)
    for number, payload in enumerate(PAYLOADS):
        submit(competition, bo, answers(public=number % 3), file_name=f"{payload}.csv", note=payload)
        if number < 6:
            Baseline.objects.create(competition=competition, name=payload[:60])
    submit(competition, bo, f'id,label\n"{PAYLOADS[0]}","{PAYLOADS[1]}"\n'.encode(), file_name=PAYLOADS[2])
    data_files.add_data_file(
        competition=competition, file_name=f"{PAYLOADS[1]}.csv", chunks=[b"id,x\n1,<script>window.__xss=1</script>\n"],
        description=PAYLOADS[0],
    )  # fmt: skip
    teams.rename_team(membership=membership, name=PAYLOADS[0])
    for number, payload in enumerate(PAYLOADS[1:]):
        Team.objects.create(competition=competition, name=f"{number}{payload}"[:60])
    Competition.objects.update(title=PAYLOADS[4][:100], subtitle=PAYLOADS[5], contact=PAYLOADS[8][:60])
    Course.objects.update(title=PAYLOADS[6][:60])
    return Competition.objects.get()


@pytest.fixture
def pages(open_page: OpenPage, ada: User, bo: User) -> dict[str, Page]:
    found = {user.username: open_page(user, watched=False) for user in (ada, bo)}
    for page in found.values():
        page.add_init_script(WATCH)
    return found


@pytest.mark.attack("scripts in titles, Markdown, names, notes, file names (18 payloads in Chromium)")
def test_no_script_runs_from_anything_people_write(infested: Competition, pages: dict[str, Page]) -> None:
    bad = Submission.objects.get(status="invalid")
    paths = {
        "bo": [
            "/", "/c/pets/", "/c/pets/data/", "/c/pets/rules/", "/c/pets/leaderboard/", "/c/pets/submit/",
            "/c/pets/submissions/", f"/c/pets/submissions/{bad.pk}/", "/c/pets/team/", "/c/pets/finals/", "/teams/",
            "/metrics/accuracy/?q=<script>window.__xss=1</script>", "/?q=\"><script>window.__xss=1</script>",
            "/accounts/login/?next=javascript:window.__xss=1", "/join/<script>window.__xss=1<script>/",
        ],
        "ada": ["/host/", "/host/pets/", "/host/pets/submissions/", "/host/pets/settings/", "/host/pets/people/",
                "/host/pets/baselines/", "/host/pets/data/"],
    }  # fmt: skip
    found: list[str] = []
    for person, own in paths.items():
        page = pages[person]
        for path in own:
            page.goto(path)
            page.evaluate("document.querySelectorAll('[autofocus]').forEach(e => e.focus())")
            if page.evaluate("window.__xss") is not None:
                found.append(f"a script ran on {path}")
            found += [f"{path}: {report}" for report in page.evaluate("window.__reports")]
            if live := page.evaluate(
                "document.querySelectorAll('main [onerror],main [onload],main [onfocus],"
                'main iframe,a[href^="javascript:"]\').length'
            ):
                found.append(f"{live} living elements on {path}")
    assert found == []


def test_the_browser_would_tell(pages: dict[str, Page]) -> None:
    """The test above could not fail if nobody saw a report."""
    page = pages["bo"]
    page.goto("/metrics/")
    page.evaluate("document.querySelector('main').innerHTML = '<img src=x onerror=\"window.__xss=1\">'")
    until_page_says(page, "window.__reports.length > 0")
    assert page.evaluate("window.__xss") is None
    assert page.evaluate("window.__reports")[0].startswith("script-src")
