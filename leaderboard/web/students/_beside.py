"""What secondary metrics say of a team's files, as far as their scores are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ... import ranking
from ...models import Split, Submission
from ..access import Visit


@dataclass(frozen=True)
class Line:
    """One secondary metric of one file; `private` is None until the private board is open to the viewer."""

    aside: ranking.Aside
    public: ranking.Beside | None
    private: ranking.Beside | None


def beside_of(submissions: Sequence[Submission], visit: Visit) -> dict[str, tuple[Line, ...]]:
    """Submission → its lines. Private values are not even read before the reveal, and on a steady or hidden board
    only those of files whose public score is shown."""
    ruler = visit.competition.ground_truth
    asides = ranking.asides_of(ruler)
    if ruler is None or not asides:
        return {}
    files = [submission.pk for submission in submissions]
    ladder = None if visit.sees_exact else visit.ladder
    if ladder is not None:
        teams = {submission.team_id for submission in submissions}
        shown = {key for team in teams for key in visit.shown_scores(team)}
        files = [pk for pk in files if str(pk) in shown]
    public = ranking.beside(ruler, Split.PUBLIC, files, ladder)
    private = ranking.beside(ruler, Split.PRIVATE, files, None) if visit.sees_private else {}
    return {
        key: tuple(
            Line(aside, public[key][place], private[key][place] if key in private else None)
            for place, aside in enumerate(asides)
        )
        for key, said in public.items()
        if len(said) == len(asides)
    }
