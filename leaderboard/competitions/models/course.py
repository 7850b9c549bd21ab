"""Courses: a class in one term, with its title, its competitions and one class list for all of them."""

from __future__ import annotations

import secrets
from typing import ClassVar

from django.db import IntegrityError, models, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

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
        return self.title


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


def lock_course(course_id: int) -> Course:
    """Lock a course and then its competitions, against changes of its class list and of what belongs to it.

    Joining locks one competition only, so students of other courses never wait.
    """
    course = Course.objects.select_for_update(no_key=True).get(pk=course_id)
    list(course.competitions.select_for_update(no_key=True).order_by("pk").values_list("pk"))
    return course
