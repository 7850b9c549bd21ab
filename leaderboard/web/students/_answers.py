"""What the student pages answer alike."""

from __future__ import annotations

from uuid import UUID

from django.core.cache import cache
from django.http import Http404

from ...models import Submission
from ..access import Visit


def own_submission(visit: Visit, submission_id: UUID | str) -> Submission:
    """A file of the viewer's own team, or of a competition they host; for everybody else it does not exist."""
    mine = Submission.objects.for_user(visit.user).filter(competition=visit.competition)
    found = mine.select_related("user", "team", "baseline").filter(pk=submission_id).first()
    if found is None:
        raise Http404("You have no submission with this number.")
    return found


def tries(what: str, who: object) -> int:
    """How often somebody did something lately. Counted per process, hence approximate where there are several."""
    return int(cache.get(_key(what, who), 0))


def count_try(what: str, who: object, *, seconds: int) -> None:
    """One more; the count is forgotten `seconds` after the first."""
    key = _key(what, who)
    if not cache.add(key, 1, seconds):
        try:
            cache.incr(key)
        except ValueError:  # it ran out between the two calls
            cache.set(key, 1, seconds)


def _key(what: str, who: object) -> str:
    return f"tries:{what}:{who}"
