"""Ground truths on the page: every finding shown, parameters judged by the metric, the board moved on purpose only."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards_module
from leaderboard.boards import services as boards
from leaderboard.competitions.models import BoardSettings, Competition, TruthDraft
from leaderboard.competitions.models.competition import Split
from leaderboard.ground_truths.services import checks, rescoring
from leaderboard.submissions import outside_queue
from tests.conftest import TRUTH, answers, close, enter, make_competition, save_truth, submit
from tests.pages import signed_in, text_of, upload

PHRASES = "id,words,Usage\n" + "".join(f"{i},alpha {i}|beta,{'Public' if i % 2 else 'Private'}\n" for i in range(1, 9))
DATA, METRIC = "/host/pets/truth/", "/host/pets/truth/metric/"
BINARY = "id,y,Usage\n" + "".join(f"{i},{int(i % 3 == 0)},{'Public' if i <= 6 else 'Private'}\n" for i in range(1, 13))


def look(client: Client, truth: str | bytes | None = TRUTH, **fields: Any) -> Any:
    """Send a correction, or look at the last file again; before the launch the answers are stored as they are."""
    competition = Competition.objects.get(slug="pets")
    if competition.launched_at is None:
        return save_truth(competition, truth, metric="", **fields) if truth is not None else None
    file = {} if truth is None else {"file": upload(truth)}
    return client.post(DATA, {"public_percent": "30", "seed": "0", "action": "check", **file, **fields})


def measure(client: Client, metric: str, action: str = "look", **fields: Any) -> Any:
    return client.post(METRIC, {"action": action, "metric": metric, "parameters_of": metric, **fields})


def check(client: Client, truth: str | bytes | None = TRUTH, metric: str = "accuracy", **fields: Any) -> Any:
    """Send a file and have it measured with a metric."""
    of_file = {name: fields.pop(name) for name in ("id_column", "group_column") if name in fields}
    look(client, truth, **of_file)
    return measure(client, metric, **fields)


def publish(client: Client, data: str = DATA, **fields: Any) -> Any:
    """Press the button on the page of the metric as it stands."""
    context = client.get(f"{data}metric/", follow=True).context
    shown = [field for form in (context["parameters"], context["secondary"]) for field in form]
    held = {field.html_name: field.value() for field in shown if field.value() is not None}
    chosen = {"metric": context["chosen"], "parameters_of": context["chosen"]}
    return client.post(f"{data}metric/", {"action": "use", **chosen, **held, **fields})


@pytest.mark.parametrize(
    ("truth", "fields", "words"),
    [
        ("id,label,Usage\n1,a,Public\n1,b,Private\n", {}, "there before"),
        ("id,label,Usage\n,a,Public\n2,b,Private\n", {}, "1 row"),
        ("id,label,Usage\n1,a,Public\n2,b,Hidden\n", {}, "none of Public, Private, Ignored"),
        ("id,label,Usage\n1,a,Public\n2,b,Public\n", {}, "No row is private"),
        ("id,label,Usage\n1,,Public\n2,b,Private\n", {}, "missing"),
        ("id\n1\n2\n", {}, "no target column"),
        ("id,a,b,Usage\n1,x,y,Public\n2,x,y,Private\n", {}, "reads 1 target column"),
        ("id,label\n1,a\n", {}, "at least two rows"),
        ("id,label,Usage\n1,a,Public\n2,b,Private\n", {"id_column": "key"}, "is missing"),
        ("id,y,Usage\n1,1,Public\n2,2,Private\n", {"metric": "binary_f1", "param-positive": "1"}, "neither 0 nor 1"),
        (
            "id,y,Usage\n1,1,Public\n2,1,Private\n",
            {"metric": "roc_auc", "param-average": "binary"},
            "all its answers are 1; both 0 and 1 are needed",
        ),
        ("\x89PNG\r\n", {}, ""),
        ("", {}, "empty"),
    ],
)
def test_what_blocks_is_shown_and_cannot_be_published(
    draft: Competition, ada: User, truth: str, fields: dict[str, str], words: str
) -> None:
    client = signed_in(ada)
    check(client, truth, **fields)
    page = text_of(client.get(DATA, follow=True))
    assert "Can't be used yet" in page
    assert words in page
    assert publish(client)["Location"].endswith("#check")
    assert not draft.ground_truths.exists()


def test_all_findings_are_shown_at_once(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    check(client, "id,label,Usage\n1,a,Public\n1,b,Hidden\n,c,Private\n4,,Public\n")
    page = client.get(DATA, follow=True).content.decode()
    assert page.count('data-testid="error"') == 4
    for code in ("repeated_ids", "blank_id", "missing_value", "unknown_usage"):
        assert f'data-code="{code}"' in page


def test_the_parameters_are_those_of_the_metric_and_it_judges_them(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    look(client, BINARY)
    page = client.get("/host/pets/truth/metric/?metric=fbeta").content.decode()
    assert 'name="param-beta"' in page
    assert 'name="param-positive"' in page
    response = check(client, BINARY, "fbeta", **{"param-beta": "minus one", "param-positive": "7"})
    page = text_of(response)
    assert response.status_code == 422
    assert '"minus one" is not a finite number' in page
    assert "Select a valid choice. 7" in page
    assert 'value="minus one"' in response.content.decode()
    assert 'href="#id_param-beta"' in response.content.decode()
    assert check(client, BINARY, "fbeta", **{"param-beta": "-1", "param-positive": "1"}).status_code == 422
    fields = {"param-beta": "0.5", "param-positive": "0", "param-average": "binary", "param-label": ""}
    assert check(client, BINARY, "fbeta", **fields).status_code == 303
    made = TruthDraft.objects.get()
    assert made.params == {"beta": 0.5, "positive": 0, "average": "binary", "label": None}


def test_choosing_a_metric_exchanges_the_parameters_alone(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    look(client)
    answer = client.get("/host/pets/truth/metric/?metric=word_jaccard", headers={"HX-Request": "true"})
    page = answer.content.decode()
    assert "param-lowercase" in page
    assert "<html" not in page


def test_without_a_script_the_metric_is_chosen_by_a_page_of_its_own(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    look(client, BINARY)
    before = TruthDraft.objects.get().metric
    page = client.post(METRIC, {"action": "parameters", "metric": "fbeta"}).content.decode()
    assert 'name="param-beta"' in page
    assert TruthDraft.objects.get().metric == before


def test_a_metric_whose_parameters_nobody_saw_shows_them_first(draft: Competition, ada: User) -> None:
    response = check(signed_in(ada), BINARY, "fbeta", parameters_of="accuracy")
    assert response.status_code == 422
    assert "F-beta has parameters" in text_of(response)
    assert 'name="param-beta" value="1.0"' in response.content.decode()
    assert TruthDraft.objects.get().metric != "fbeta"


def test_an_unknown_metric_is_refused(draft: Competition, ada: User) -> None:
    assert check(signed_in(ada), TRUTH, "magic").status_code == 422
    assert signed_in(ada).get("/host/pets/truth/metric/?metric=magic").status_code == 200


def test_a_choice_that_can_be_misread_wants_a_confirmation(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    fields = {"param-threshold": "0.5", "param-matching": "per_prediction", "param-beta": "0.5"}
    assert check(client, PHRASES, "coleridge_fbeta", **fields).status_code == 303
    assert "repeating one right phrase" in text_of(client.get(METRIC, follow=True))
    assert publish(client).status_code == 409
    assert publish(client, is_confirmed="on").status_code == 303


def test_the_file_is_kept_for_another_metric(pets: Competition, ada: User) -> None:
    client = signed_in(ada)
    assert (
        check(
            client, None, "multilabel_f1", **{"param-average": "micro", "param-separator": "", "param-beta": "1"}
        ).status_code
        == 303
    )
    publish(client)
    pets.refresh_from_db()
    assert pets.candidate is not None
    assert (pets.candidate.metric, pets.candidate.public_rows) == ("multilabel_f1", 6)


def test_a_correction_leads_from_its_file_to_who_would_move(pets: Competition, ada: User) -> None:
    client = signed_in(ada)
    look(client, TRUTH)
    assert "Same answers, same parts." in text_of(client.get(DATA))
    look(client, TRUTH.replace("3,dog", "3,bird"))
    assert 'name="action" value="discard"' in client.get(DATA).content.decode()
    pets.refresh_from_db()
    assert pets.candidate is not None
    assert (pets.candidate.metric, pets.candidate.number) == ("accuracy", 2)
    look(client, TRUTH.replace("3,dog", "3,cat"))
    assert client.post(DATA, {"action": "publish"})["Location"] == f"{DATA}#check", "one at a time"
    assert Competition.objects.get().ground_truths.count() == 2


def test_a_correction_that_cannot_be_used_goes_nowhere(pets: Competition, ada: User) -> None:
    client = signed_in(ada)
    look(client, "id,label,Usage\n1,a,Public\n1,b,Private\n")
    assert 'value="publish"' not in client.get(DATA).content.decode()
    assert client.post(DATA, {"action": "publish"})["Location"] == f"{DATA}#check"
    assert Competition.objects.get().candidate_id is None


@pytest.mark.parametrize("typed", ["4, dog\n\n 5,dog", "4\tdog\n5\tdog", "4;dog\r\n5;dog", "4;dog\n5, dog"])
def test_two_answers_are_corrected_by_their_ids(pets: Competition, ada: User, typed: str) -> None:
    client = signed_in(ada)
    assert client.post("/host/pets/truth/", {"action": "rows", "rows": typed}).status_code == 303
    page = text_of(client.get("/host/pets/truth/"))
    assert "Row Column Before After 4 label cat dog 5 label cat dog All" in page


@pytest.mark.parametrize(
    ("typed", "fault"),
    [("4", "“4” is not"), ("4,dog,dog", "“4,dog,dog” is not"), ("77,dog", "77"), ("", "required")],
)
def test_rows_that_cannot_be_corrected_are_named_and_stay_in_the_form(
    pets: Competition, ada: User, typed: str, fault: str
) -> None:
    answer = signed_in(ada).post("/host/pets/truth/", {"action": "rows", "rows": typed})
    assert answer.status_code in (409, 422)
    assert fault in text_of(answer)
    assert typed in answer.content.decode()
    assert not TruthDraft.objects.exists()


def test_what_counts_already_is_not_offered_for_publication(pets: Competition, ada: User) -> None:
    client = signed_in(ada)
    assert 'value="use"' not in client.get(METRIC).content.decode()
    measure(client, "error_rate")
    assert 'value="use"' in client.get(METRIC).content.decode()


def test_a_check_is_thrown_away(pets: Competition, ada: User) -> None:
    client = signed_in(ada)
    look(client)
    assert client.post(DATA, {"action": "discard"}).status_code == 303
    assert not TruthDraft.objects.exists()


def test_hosts_alone_download_the_answers(pets: Competition, ada: User) -> None:
    response = signed_in(ada).get("/host/pets/truth/1/file/")
    assert b"".join(response) == TRUTH.encode()
    assert "attachment" in response["Content-Disposition"]
    assert response["Cache-Control"] == "private, no-store"
    assert signed_in(ada).get("/host/pets/truth/2/file/").status_code == 404


@pytest.fixture
def moved(pets: Competition, ada: User, bo: User, cy: User) -> Competition:
    """Bo leads; under ground truth 2, which waits without_scores, Cy would."""
    for user, wrong in ((bo, 1), (cy, 2)):
        enter(pets, user)
        submit(pets, user, answers(public=wrong))
    client = signed_in(ada)
    # Rows 1, 3 and 5 become right for Cy's wrong answer on row 3 alone.
    check(client, TRUTH.replace("3,dog", "3,bird"))
    pets.refresh_from_db()
    return pets


def ranks(competition: Competition) -> dict[str, int | None]:
    competition.refresh_from_db()
    return {row.name: row.rank for row in boards_module.ranked_lines(competition, Split.PUBLIC)}


def test_the_board_stays_until_ada_applies(moved: Competition, ada: User) -> None:
    client = signed_in(ada)
    before = ranks(moved)
    page = text_of(client.get("/host/pets/truth/"))
    assert "0 of 2" in page
    assert "Apply" not in page.split("What changes")[0].replace("Apply or", "")
    early = client.post("/host/pets/truth/", {"action": "apply"}, follow=True)
    assert "still being scored" in text_of(early)
    assert ranks(moved) == before == {"bo": 1, "cy": 2}

    assert moved.candidate is not None
    outside_queue.rescore_batch(moved.candidate.pk)
    page = text_of(client.get("/host/pets/truth/"))
    assert "All submissions are scored" in page
    assert "0.833" in page
    assert ranks(moved) == before
    assert client.post("/host/pets/truth/", {"action": "apply"})["Location"] == "/host/pets/truth/"
    assert moved.ground_truth_id != Competition.objects.get().ground_truth_id
    assert Competition.objects.get().candidate_id is None


def test_a_correction_with_a_further_column_predicts_the_same_as_before(pets: Competition, ada: User) -> None:
    lines = TRUTH.replace("3,dog", "3,bird").splitlines()
    further = [lines[0] + ",checked by", *(line + ",Bo" for line in lines[1:])]
    assert look(signed_in(ada), "\n".join(further)).status_code == 303
    pets.refresh_from_db()
    assert pets.candidate is not None
    assert checks.target_columns(pets.candidate) == ["label"]


@pytest.mark.parametrize("hides_scores", [False, True])
def test_the_look_ahead_says_where_students_see_no_ranks(moved: Competition, ada: User, *, hides_scores: bool) -> None:
    BoardSettings.objects.update(hides_scores=hides_scores)
    assert moved.candidate is not None
    outside_queue.rescore_batch(moved.candidate.pk)
    page = text_of(signed_in(ada).get("/host/pets/truth/"))
    assert ("Students see no ranks and scores" in page) is hides_scores


def test_the_page_asks_until_all_is_measured_and_then_stops(moved: Competition, ada: User) -> None:
    client = signed_in(ada)
    asked = {"HX-Request": "true"}
    assert client.get("/host/pets/truth/", headers=asked).status_code == 200
    assert moved.candidate is not None
    outside_queue.rescore_batch(moved.candidate.pk)
    assert client.get("/host/pets/truth/", headers=asked).status_code == 286


def test_discarding_leaves_the_board_and_keeps_the_number(moved: Competition, ada: User) -> None:
    client = signed_in(ada)
    before = ranks(moved)
    assert "Discarded" not in text_of(client.get("/host/pets/truth/"))
    client.post("/host/pets/truth/", {"action": "discard"})
    assert text_of(client.get("/host/pets/truth/")).count("Discarded") == 1
    assert ranks(moved) == before
    assert moved.candidate is None
    check(client, None)
    publish(client)
    again = Competition.objects.get()
    assert again.candidate is not None
    assert again.candidate.number == 3
    assert client.get("/host/pets/truth/").status_code == 200


def test_a_second_one_waits_for_the_decision_on_the_first(moved: Competition, ada: User) -> None:
    client = signed_in(ada)
    check(client)
    assert publish(client).status_code == 409


def test_without_a_waiting_ground_truth_there_is_nothing_to_decide(pets: Competition, ada: User) -> None:
    client = signed_in(ada)
    assert 'value="apply"' not in client.get("/host/pets/truth/").content.decode()
    assert client.post("/host/pets/truth/", {"action": "apply"}).status_code == 303


def test_ranks_move_when_the_new_answers_are_applied(ada: User, bo: User, cy: User) -> None:
    competition = make_competition(ada)
    for user, data in ((bo, answers(public=1)), (cy, answers(public=2))):
        enter(competition, user)
        submit(competition, user, data)
    assert ranks(competition) == {"bo": 1, "cy": 2}
    client = signed_in(ada)
    # Both called row 1 a bird, Cy alone row 3: now both are birds.
    check(client, TRUTH.replace("1,cat,Public\n2", "1,bird,Public\n2").replace("3,dog", "3,bird"))
    publish(client)
    competition.refresh_from_db()
    assert competition.candidate is not None
    outside_queue.rescore_batch(competition.candidate.pk)
    page = text_of(client.get("/host/pets/truth/"))
    assert "2 of 2 teams would change rank" in page
    assert "aren't notified" not in page
    client.post("/host/pets/truth/", {"action": "apply"})
    assert ranks(competition) == {"cy": 1, "bo": 2}


def test_a_correction_of_private_rows_says_who_moves_on_the_board_that_decides(ada: User, bo: User, cy: User) -> None:
    competition = make_competition(ada)
    for user, data in ((bo, answers()), (cy, answers(private=2))):
        enter(competition, user)
        submit(competition, user, data)
    client = signed_in(ada)
    check(client, TRUTH.replace("2,cat,Private\n3", "2,bird,Private\n3").replace("4,cat", "4,bird"))
    published = publish(client)
    assert "The leaderboard stays unchanged until you apply it" in text_of(client.get(published["Location"]))
    competition.refresh_from_db()
    assert competition.candidate is not None
    outside_queue.rescore_batch(competition.candidate.pk)
    page = client.get("/host/pets/truth/")
    assert "0 of 2 teams would change rank. " in text_of(page)
    assert 'hx-get="/host/pets/truth/?board=private"' in page.content.decode()
    assert 'data-testid="affected-in-private"' in page.content.decode()
    private = text_of(client.get("/host/pets/truth/?board=private"))
    assert "which only hosts see, 2 teams would change rank." in private
    assert "Ranks and private scores now and with answers no. 2" in private
    assert "Discarded" not in text_of(client.get("/host/pets/truth/"))
    client.post("/host/pets/truth/", {"action": "discard"})
    assert text_of(client.get("/host/pets/truth/")).count("Discarded") == 1
    close(competition)
    competition.refresh_from_db()
    boards.reveal_competition(competition=competition)
    check(client, TRUTH.replace("8,cat", "8,bird"))
    publish(client)
    competition.refresh_from_db()
    outside_queue.rescore_batch(competition.candidate.pk)
    open_page = client.get("/host/pets/truth/").content.decode()
    assert "only hosts see" not in open_page
    assert "board=private" not in open_page
    assert "affected-in-private" not in open_page


def test_a_metric_that_cannot_score_a_perfect_file_is_told(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    check(client)
    made = TruthDraft.objects.get()
    failed = {"code": "self_test", "message": "It took longer than 45 s.", "blocking": True, "count": 1, "why": ""}
    made.report |= {"ok": False, "baselines": [], "findings": [failed], "self_test": {"best": None, "passed": False}}
    made.save()
    answer = client.get(DATA, follow=True)
    assert answer.status_code == 200
    assert "It took longer than 45 s." in text_of(answer)


def test_a_correction_says_which_answers_it_changes_before_and_after_it_is_published(ada: User, bo: User) -> None:
    """A wrong file is seen before anything is measured with it, and once more before it counts."""
    pets = make_competition(ada)
    enter(pets, bo)
    submit(pets, bo, answers())
    client = signed_in(ada)
    check(client, TRUTH.replace("4,cat,", "4,bird,").replace("6,dog,", "6,bird,"))
    page = text_of(client.get(DATA, follow=True))
    assert "Compared with answers no. 1" in page
    assert "Rows with a different answer 2 private" in page
    assert "4 label cat bird" in page
    publish(client)
    page = text_of(client.get("/host/pets/truth/"))
    assert "Rows with a different answer 2 private" in page
    rescoring.discard_candidate(competition=pets, user=ada)
    check(client)
    assert "Same answers, same parts." in text_of(client.get(DATA, follow=True))
