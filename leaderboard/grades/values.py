"""Facts from the database that rules use, as plain data: deciding values, late files, points by hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from leaderboard.boards import ranking
from leaderboard.boards.queries import baseline_scores, baseline_scores_by_ground_truth
from leaderboard.competitions import hooks as competitions_hooks
from leaderboard.competitions.models import (
    Competition,
    Course,
    GroundTruth,
    Membership,
    Score,
    Standing,
    Submission,
    Team,
)
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.models.extension import extended_deadline

from .marks import Field, Key, LateFile, Person, ScoreScale
from .models import HandPoints, owner_of
from .reading import BadRules, RuleFault
from .rules import GradeRules, Late, Term
from .students import Student

MICROSECOND = timedelta(microseconds=1)
NOT_FROM_SCORES = ("by_hand", "members", "attached")


def fraction_of(value: float) -> Fraction:
    """A score as the decimal that people read."""
    return Fraction(repr(value))


@dataclass(frozen=True)
class ClassValues:
    """A competition's class as the rules see it under one ground truth."""

    scale: ScoreScale
    late: Mapping[int, Sequence[LateFile]]
    """Team → its late files, one of each period."""


def needs_of(terms: Iterable[Term], slug: str) -> dict[Key, set[str]]:
    """The fields that terms read, and what of each: `values`, `files`, `baselines`."""
    needs: dict[Key, set[str]] = defaultdict(set)
    for term in terms:
        if term.of in NOT_FROM_SCORES:
            continue
        for source in term.sources or (slug,):
            need = needs[source, term.board, term.until]
            need.add("files" if term.of == "files" else "values")
            if term.baselines or term.of == "baselines":
                need.add("baselines")
    return needs


def class_values(
    competition: Competition, ground_truths: Sequence[GroundTruth], rules: GradeRules, split: Split, largest_team: int
) -> list[ClassValues]:
    """The values for each ground truth, in their order. Raises `BadRules` for a baseline or source that is gone."""
    slug = competition.slug
    needs = needs_of(rules.all_terms.values(), slug)
    needs[slug, "private", None].add("values")
    elsewhere = {key: need for key, need in needs.items() if key[0] != slug}
    others = fields_of_sources(competition.course_id, elsewhere, split)
    late = _late_files(competition, ground_truths, split, rules.late) if rules.late else {}
    own_needs = {key: need for key, need in needs.items() if key[0] == slug}
    sides = {_choose_split(split, board) for (_slug, board, _until), need in own_needs.items() if "baselines" in need}
    baselines = {side: baseline_scores_by_ground_truth(ground_truths, side) for side in sides}
    files = _file_counts(competition, [key for key, need in own_needs.items() if "files" in need])
    found = []
    for ground_truth in ground_truths:
        ground_truth.competition = competition
        known = {side: scores.get(ground_truth.pk, {}) for side, scores in baselines.items()}
        own = {
            key: _read_field(
                ground_truth, key, split, known, files.get(key), _read_values(ground_truth, key, need, split)
            )
            for key, need in own_needs.items()
        }
        _check_baselines(rules.all_terms.values(), own | others, slug)
        found.append(ClassValues(ScoreScale(slug, own | others, largest_team), late.get(ground_truth.pk, {})))
    return found


def fields_of_sources(course_id: int, needs: Mapping[Key, set[str]], split: Split) -> dict[Key, Field]:
    """The fields of competitions of the course. Raises `BadRules` for one that is not there or has no answers.

    Hosts of one competition need not host the others. So before its final ranking is open, a competition has the values
    of its public board, and of a hidden one none.
    """
    if not (slugs := {slug for slug, _board, _until in needs}):
        return {}
    there = Competition.objects.filter(slug__in=slugs, course=course_id).select_related("ground_truth")
    disqualified = Team.objects.filter(competition=OuterRef("pk"), disqualified_at__isnull=False)
    there = there.annotate(has_disqualified=Exists(disqualified))
    sources = {source.slug: source.ground_truth for source in there if source.ground_truth is not None}
    if missing := sorted(slugs - set(sources)):
        text = _("The course has no competition “%(name)s” with answers.")
        raise BadRules([RuleFault("", text % {"name": name}) for name in missing])
    for source in there:
        if source.slug in sources:
            sources[source.slug].competition = source
    revealed = _revealed_values(sources.values())
    found = {}
    for key, need in needs.items():
        ground_truth = sources[key[0]]
        shown = split if ground_truth.pk in revealed else Split.PUBLIC
        side = _choose_split(shown, key[1])
        known = {side: baseline_scores(ground_truth, side)} if "baselines" in need else {}
        files = _file_counts(ground_truth.competition, [key]).get(key) if "files" in need else None
        need = need - {"values"} if ground_truth.competition.board_is_hidden else need
        is_final = side == Split.PRIVATE and key[2] is None
        values = revealed[ground_truth.pk] if is_final else _read_values(ground_truth, key, need, shown)
        outside = {}
        if getattr(ground_truth.competition, "has_disqualified", True):
            outside = _read_values(ground_truth, key, need, shown, is_disqualified=True)
        found[key] = _read_field(ground_truth, key, shown, known, files, values, outside)
    return found


def sources_not_revealed(course_id: int, terms: Iterable[Term]) -> list[Competition]:
    """The competitions of the course whose scores these terms tell to students, who may not see them yet."""
    sources = {
        (slug, term.board) for term in terms if term.of not in ("files", *NOT_FROM_SCORES) for slug in term.sources
    }
    there = Competition.objects.filter(course=course_id, revealed_at=None, slug__in={slug for slug, _board in sources})
    return [one for one in there.order_by("pk") if (one.slug, "private") in sources or one.board.hides_scores]


def _revealed_values(ground_truths: Iterable[GroundTruth]) -> dict[int, dict[int, float]]:
    """Ground truth → team → deciding private score, for those whose final ranking is open; one query."""
    values: dict[int, dict[int, float]] = {one.pk: {} for one in ground_truths if one.competition.revealed_at}
    rows = Standing.objects.filter(ground_truth__in=values, split=Split.PRIVATE).order_by()
    for ground_truth, team, value in rows.values_list("ground_truth", "team", "value"):
        values[ground_truth][team] = value
    return values


def _moment_of(competition: Competition, key: Key) -> datetime | None:
    """The moment until which files were received; None for the deadline of each team."""
    return None if key[2] is None else competition.closes_at + timedelta(seconds=float(key[2] * 3600))


def _file_counts(competition: Competition, keys: Sequence[Key]) -> dict[Key, dict[int, int]]:
    """Key → team → number of files scored in time; one query."""
    if not keys:
        return {}
    moments = [_moment_of(competition, key) for key in keys]
    counts = [Count("pk", filter=Q() if moment is None else Q(received_at__lte=moment)) for moment in moments]
    in_time = Submission.objects.filter(ranking.ranked_files(), competition=competition, team__isnull=False).order_by()
    by_name = {f"count_{place}": count for place, count in enumerate(counts)}
    rows: list[Any] = list(in_time.values_list("team").annotate(**by_name))
    return {key: {row[0]: row[place] for row in rows} for place, key in enumerate(keys, start=1)}


def _choose_split(split: Split, board: str) -> Split:
    """The board whose scores are read: before the deadline always the public one."""
    return Split.PUBLIC if split == Split.PUBLIC else Split(board)


def _read_field(
    ground_truth: GroundTruth,
    key: Key,
    split: Split,
    baselines: Mapping[Split, Mapping[str, float]],
    files: Mapping[int, int] | None,
    values: Mapping[int, float],
    outside: Mapping[int, float] | None = None,
) -> Field:
    """A field from values of the database. Before the deadline all boards are the public one.

    Disqualified teams (`outside`) are nobody's measure, but they have a value where another competition of theirs asks
    for it.
    """
    competition, outside = ground_truth.competition, outside or {}
    moment, side = _moment_of(competition, key), _choose_split(split, key[1])
    return Field(
        values={team: fraction_of(value) for team, value in {**values, **outside}.items()},
        outside=frozenset(outside),
        higher_is_better=ground_truth.sort_sign < 0,
        baselines={name: fraction_of(value) for name, value in baselines.get(side, {}).items()},
        files=files or {},
        board=side.value,
        decimals=competition.score_decimals,
        day="" if moment is None else competition.day_of(moment).isoformat(),
    )


def _read_values(
    ground_truth: GroundTruth, key: Key, need: set[str], split: Split, *, is_disqualified: bool = False
) -> dict[int, float]:
    """Team → best public score, or the best private score of its final submissions; {} where they are not needed."""
    if "values" not in need:
        return {}
    side, until = _choose_split(split, key[1]), _moment_of(ground_truth.competition, key)
    which: dict[str, Any] = {"until": until, "is_disqualified": is_disqualified}
    if side == Split.PUBLIC:
        return ranking.best_values(ground_truth, **which)
    if until is None and not is_disqualified:
        found = ranking.deciding_standings(ground_truth)
    else:
        found = ranking.final_standings(ground_truth, **which)
    return {best.team_id: best.value for split, best in found if split == Split.PRIVATE}


def _check_baselines(terms: Iterable[Term], fields: Mapping[Key, Field], slug: str) -> None:
    """Raise `BadRules` for a baseline that was deleted or has no score."""
    text = _("The baseline “%(name)s” no longer exists or has no score yet.")
    missing = []
    for term in (term for term in terms if term.baselines):
        known = [fields[source, term.board, term.until].baselines for source in term.sources or (slug,)]
        missing += [name for name in sorted(term.baselines) if not any(name in scores for scores in known)]
    if missing:
        raise BadRules([RuleFault("", text % {"name": name}) for name in dict.fromkeys(missing)])


def _late_files(
    competition: Competition, ground_truths: Sequence[GroundTruth], split: Split, rules: Late
) -> dict[int, dict[int, list[LateFile]]]:
    """Ground truth → team → one late file of each period: the one with the best public score, the earlier of equals.

    The choice is by public score, so that trying many files on the private rows cannot improve a grade. Periods are
    counted from the team's deadline, with its extension.
    """
    signs = {ground_truth.pk: ground_truth.sort_sign for ground_truth in ground_truths}
    columns = [(ground_truth, side) for ground_truth in signs for side in Split]
    # The query starts at the teams, because the index on teams covers `is_late`, and reads each score by its file: a
    # join would read all scores of the ground truth. A file with a score is scored, so the status is not needed.
    late = Submission.objects.filter(team__in=competition.teams.order_by().values("pk"), is_late=True, hidden_at=None)
    scores_of_file = Score.objects.filter(submission=OuterRef("pk"))
    rows = (
        late.order_by()
        .annotate(extended_to=extended_deadline())
        .values_list(
            "team",
            "pk",
            "received_at",
            "extended_to",
            *(
                Subquery(scores_of_file.filter(ground_truth=ground_truth, split=side).values("value")[:1])
                for ground_truth, side in columns
            ),
        )
    )
    chosen: dict[tuple[int, int, int], tuple[tuple[Any, ...], dict[str, Fraction]]] = {}
    for team, submission, received_at, extended_to, *values in rows:
        assert team is not None
        late_by = received_at - max(competition.closes_at, extended_to or competition.closes_at)
        period = rules.periods(Fraction(late_by // MICROSECOND, 1_000_000))
        scores = dict(zip(columns, values, strict=True))
        for ground_truth, sign in signs.items():
            public, private = scores[ground_truth, Split.PUBLIC], scores[ground_truth, Split.PRIVATE]
            if public is None or private is None:
                continue
            order = (sign * public, received_at, str(submission))
            if (ground_truth, team, period) not in chosen or order < chosen[ground_truth, team, period][0]:
                shown = public if split == Split.PUBLIC else private
                both = {"public": fraction_of(public), "private": fraction_of(shown)}
                chosen[ground_truth, team, period] = (order, both)
    files: dict[int, dict[int, list[LateFile]]] = {ground_truth: defaultdict(list) for ground_truth in signs}
    for (ground_truth, team, period), (_order, both) in sorted(chosen.items(), key=lambda item: item[0]):
        files[ground_truth][team].append(LateFile(period, both))
    return files


# --- people -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PeopleFacts:
    """The facts about people, besides their scores, that rules use."""

    members: Mapping[int, int]
    teams: Mapping[int, Mapping[str, int]]
    """User → slug of another competition → team."""
    by_hand: Mapping[int, Mapping[str, Fraction]]
    attached: frozenset[int]

    @property
    def largest_team(self) -> int:
        return max(self.members.values(), default=1)

    def person(self, student: Student, slug: str, late: Mapping[int, Sequence[LateFile]]) -> Person:
        team, user = student.team_id or 0, student.key
        return Person(
            teams={**self.teams.get(user, {}), slug: team},
            members=self.members.get(team, 1),
            is_attached=team in self.attached,
            by_hand=self.by_hand.get(user, {}),
            late=late.get(team, ()),
            disqualified=student.disqualified,
            is_awaited=student.is_awaited,
            has_joined=student.has_joined,
        )


def people_facts(competition: Competition, students: Sequence[Student], rules: GradeRules) -> PeopleFacts:
    sources = {slug for _where, slug in rules.named_competitions} - {competition.slug}
    attached: set[int] = set()
    if any(term.of == "attached" for term in rules.all_terms.values()):
        attached = set().union(*competitions_hooks.attached_teams(competition=competition))
    return PeopleFacts(
        members=Counter(student.team_id for student in students if student.team_id is not None),
        teams=teams_in(competition.course_id, sources),
        by_hand=hand_points(competition) if rules.hand_names else {},
        attached=frozenset(attached),
    )


def teams_in(course_id: int, slugs: Iterable[str]) -> dict[int, dict[str, int]]:
    """User → competition of the course → team; no query without competitions."""
    teams: dict[int, dict[str, int]] = defaultdict(dict)
    if named := list(slugs):
        memberships = Membership.objects.filter(competition__slug__in=named, competition__course=course_id).order_by()
        for user, slug, team in memberships.values_list("user", "competition__slug", "team"):
            teams[user][slug] = team
    return teams


def hand_points(graded: Competition | Course) -> dict[int, dict[str, Fraction]]:
    """`Student.key` → term → points by hand, of two for one person the later ones."""
    points: dict[int, dict[str, Fraction]] = defaultdict(dict)
    person = Coalesce("user", "entry__user", -F("entry"))
    rows = HandPoints.objects.filter(**owner_of(graded)).annotate(person=person).order_by("pk")
    for key, name, value in rows.values_list("person", "name", "points"):
        points[key][name] = fraction_of(value)
    return points
