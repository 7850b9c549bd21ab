"""Courses: a class in one term, with its title, its competitions and one class list for all of them."""

from __future__ import annotations

import secrets
from typing import ClassVar

from django.db import IntegrityError, models, transaction
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from leaderboard.accounts.models import User, Viewer
from leaderboard.common.names import slug_from_title

MAX_SLUG_CHARACTERS = 60


class Course(models.Model):
    """A class in one term. Every competition is in exactly one; the class list belongs to the course."""

    slug = models.SlugField(max_length=MAX_SLUG_CHARACTERS, unique=True, editable=False)
    title = models.CharField(
        _("course"), max_length=120, blank=True, help_text=_("For example “STAT 451 · Prof. Rivera”.")
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering: ClassVar = ["-created_at", "-pk"]

    def __str__(self) -> str:
        """The title; a course without one is called by its first competition."""
        if self.title:
            return self.title
        first: str | None = getattr(self, "first_title", None)
        first = first or self.competitions.order_by("created_at").values_list("title", flat=True).first()
        return gettext("Class of “%(title)s”") % {"title": first or "–"}

    @classmethod
    def proposed_for(cls, user: User) -> Course | None:
        """The course of the competition that a person has last created and not archived; None without one."""
        own = {"hosts": user, "is_demo": False, "archive__archived_at": None, "archive__binned_at": None}
        last = cls.objects.filter(**{f"competitions__{name}": value for name, value in own.items()})
        return last.order_by("-competitions__created_at").first()

    @classmethod
    def hosted_by(cls, user: Viewer) -> models.QuerySet[Course]:
        """Courses in which a person hosts a competition, newest first; annotated with their number of competitions
        (`size`) and the title of the first (`first_title`)."""
        if user.is_anonymous:
            return cls.objects.none()
        hosted = cls.objects.filter(competitions__hosts=user, competitions__archive__binned_at=None).values("pk")
        return cls.titled().filter(pk__in=hosted).annotate(size=models.Count("competitions"))

    @classmethod
    def titled(cls) -> models.QuerySet[Course]:
        """Courses annotated with the title of their first competition (`first_title`)."""
        first = cls.objects.filter(pk=models.OuterRef("pk")).order_by("competitions__created_at")
        return cls.objects.annotate(first_title=models.Subquery(first.values("competitions__title")[:1]))


def make_course(title: str = "") -> Course:
    """Create a course with a free slug made from its title."""
    title = title[: Course._meta.get_field("title").max_length]
    slug = base = slug_from_title(title)[: MAX_SLUG_CHARACTERS - 8].strip("-") or "course"
    while True:
        if not Course.objects.filter(slug=slug).exists():
            try:
                with transaction.atomic():
                    return Course.objects.create(slug=slug, title=title)
            except IntegrityError:  # another request has just taken the slug
                pass
        slug = f"{base}-{secrets.token_hex(3)}"
