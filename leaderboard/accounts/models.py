"""Users, API tokens, the one-time setup link."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.db import models
from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from leaderboard.common.institutions import LONGEST_ISSUER
from leaderboard.common.prepared_queries import PreparedQuery
from leaderboard.common.viewer import check_zone

TOKEN_PREFIX = "lb_"
# Storing the time of every use would turn every read into a write.
USE_IS_NOTED_EVERY = timedelta(minutes=5)


def token_digest(secret: str) -> str:
    """SHA-256 of a secret, stored in its place. The secrets are random, so a fast hash is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()


class User(AbstractUser):
    """A person. `can_host` lets a person open competitions; a superuser operates the whole site."""

    email = models.EmailField(_("e-mail address"), blank=True)
    can_host = models.BooleanField(_("can host competitions"), default=False)
    # Empty: the browser's time zone, or that of the competition on the page.
    zone = models.CharField(_("time zone"), max_length=60, blank=True, default="", validators=[check_zone])
    # Empty: the browser's language. A language that the site no longer offers counts as empty.
    language = models.CharField(max_length=16, blank=True, default="")

    class Meta(AbstractUser.Meta):
        constraints: ClassVar = [
            models.UniqueConstraint(Lower("username"), name="user_name_once_whatever_case"),
            models.UniqueConstraint(
                Lower("email"), name="user_email_once_whatever_case", condition=~models.Q(email="")
            ),
        ]

    def set_full_name(self, name: str) -> None:
        """Split a real name at its last space; a single word is the first name."""
        first, _space, last = " ".join(name.split()).rpartition(" ")
        self.first_name, self.last_name = (first, last) if first else (last, "")

    @property
    def notification_language(self) -> str:
        """Language of their notices and e-mails: their choice if the site offers it, else the site's language."""
        return self.language if self.language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE

    @property
    def signature(self) -> str:
        """Signature of e-mails they send: full name, else user name; "" if that is an e-mail address."""
        name = " ".join(self.get_full_name().split()) or self.username
        return "" if "@" in name else name

    @property
    def is_host(self) -> bool:
        return self.is_active and (self.can_host or self.is_superuser)

    @property
    def is_host_anywhere(self) -> bool:
        """Whether they may open competitions, or host at least one without that right."""
        return self.is_host or self.hosted_competitions.exists()


Viewer = User | AnonymousUser


class ApiToken(models.Model):
    """A key for programs. Only its digest is stored; the token itself is shown once."""

    class Scope(models.TextChoices):
        """Access of a token, from least to most; each level includes the levels before it."""

        READ = "read", _("Read only")
        SUBMIT = "submit", _("Submit files")
        HOST = "host", _("Host competitions")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=60)
    scope = models.CharField(max_length=10, choices=Scope, default=Scope.SUBMIT)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(max_length=12, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering: ClassVar = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"

    @classmethod
    def issue(cls, user: User, name: str, scope: str = Scope.SUBMIT) -> tuple[ApiToken, str]:
        """A new token and its secret, which cannot be read again."""
        secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
        token = cls.objects.create(user=user, name=name, scope=scope, digest=token_digest(secret), hint=secret[:8])
        return token, secret

    def allows(self, scope: ApiToken.Scope) -> bool:
        order = self.Scope.values
        return order.index(self.scope) >= order.index(scope)

    @classmethod
    def find_and_note_use(cls, secret: str) -> ApiToken | None:
        """The token with this secret and an active owner, or None. Updates `last_used_at` every five minutes."""
        token = _tokens.only_row(digest=token_digest(secret))
        if token is None:
            return None
        now = timezone.now()
        if token.last_used_at is None or now - token.last_used_at > USE_IS_NOTED_EVERY:
            cls.objects.filter(pk=token.pk).update(last_used_at=now)
        return token


@PreparedQuery
def _tokens(digest: str) -> QuerySet[ApiToken]:
    return ApiToken.objects.select_related("user").filter(user__is_active=True, digest=digest)


class ProviderMetadata(models.Model):
    """Endpoints and keys of an institution's OpenID provider, as fetched last."""

    issuer = models.CharField(max_length=LONGEST_ISSUER, primary_key=True)
    configuration = models.JSONField(default=dict)
    keys = models.JSONField(default=dict)
    # None: never fetched, or to be fetched again for new keys.
    fetched_at = models.DateTimeField(null=True)
    tried_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "provider metadata"

    def __str__(self) -> str:
        return self.issuer


class SetupLink(models.Model):
    """One-time link, printed in the terminal, that makes the first person who uses it the operator."""

    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    used_at = models.DateTimeField(null=True)
    LIVES_FOR = timedelta(days=7)

    def __str__(self) -> str:
        return f"made {self.created_at:%Y-%m-%d %H:%M}"

    @classmethod
    def issue(cls) -> str:
        """Store a new link and return its secret. Earlier links still work, because each web server makes one when it
        starts; all expire when there is an operator, or after a week."""
        secret = secrets.token_urlsafe(24)
        cls.objects.create(digest=token_digest(secret))
        return secret

    @classmethod
    def is_live(cls, secret: str) -> bool:
        return (
            cls.objects.filter(
                digest=token_digest(secret), used_at=None, created_at__gt=timezone.now() - cls.LIVES_FOR
            ).exists()
            and not User.objects.filter(is_superuser=True).exists()
        )

    @classmethod
    def use(cls, secret: str, at: datetime) -> bool:
        """Use a link up; True for exactly one caller. Call it in the transaction that makes the operator."""
        # Lock all links, so that two at the same moment queue.
        list(cls.objects.select_for_update().order_by("pk").values_list("pk"))
        return cls.is_live(secret) and bool(
            cls.objects.filter(digest=token_digest(secret), used_at=None).update(used_at=at)
        )
