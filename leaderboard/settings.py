"""Settings: everything that differs between installations is an environment variable.

`manage.py up` sets the variables of the embedded parts. State lives under `VAR_DIR` (default: `var/`).
"""

from __future__ import annotations

import os
import secrets
from typing import Any
from urllib.parse import quote, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from leaderboard.common import child_processes, folders, network
from leaderboard.common.institutions import BadInstitution, institutions_in
from leaderboard.common.viewer import languages_in

env = environ.Env()
# An empty variable counts as one that is not set: deploy/compose.yml passes on some that are empty until needed.
env.ENVIRON = {name: value for name, value in os.environ.items() if value}

VAR_DIR = folders.state_folder()
VAR_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
if VAR_DIR.stat().st_mode & 0o077:
    os.umask(0o077)  # others can look into this volume: what is made in it is closed to them


# The key of this installation is stored next to the database.
SECRET_KEY = env.str("SECRET_KEY", default="") or folders.made_once(
    VAR_DIR / "secret_key", lambda: secrets.token_urlsafe(50)
)
DEBUG = env.bool("DEBUG", default=False)

SITE_URL = env.str("SITE_URL", default="").rstrip("/")
ALLOWED_HOSTS = [
    *env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"]),
    *filter(None, [urlsplit(SITE_URL).hostname]),
]
NETWORK_PORT = env.str(network.PORT_VARIABLE, default="")
if NETWORK_PORT and not SITE_URL:
    ALLOWED_HOSTS = network.AllowedHosts(ALLOWED_HOSTS)
CSRF_TRUSTED_ORIGINS = [SITE_URL] if SITE_URL else []
IS_HTTPS = SITE_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_HTTPS
if IS_HTTPS:
    # Browsers take cookies of these names from this very host alone, not from a neighbour below the same domain.
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
CSRF_COOKIE_HTTPONLY = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if IS_HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if IS_HTTPS else 0
SECURE_SSL_REDIRECT = IS_HTTPS
# Over plain http browsers ignore it, and complain in the console of every page.
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin" if IS_HTTPS else None
SECURE_SSL_HOST = urlsplit(SITE_URL).netloc or None
SECURE_REDIRECT_EXEMPT = [r"^healthz", r"^readyz$", r"^prometheus$"]  # asked from this machine, without the proxy
# Headers for whole domains, which this site cannot set for its neighbours.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

INSTALLED_APPS = [
    "leaderboard.common",
    "leaderboard.accounts",
    "leaderboard.competitions",
    "leaderboard.boards",
    "leaderboard.submissions",
    "leaderboard.ground_truths",
    "leaderboard.notifications",
    "leaderboard.classroom",
    "leaderboard.grades",
    "leaderboard.insights",
    "leaderboard.lti",
    "leaderboard.site",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.usersessions",
    "csp",
    "leaderboard.operations",
]

MIDDLEWARE = [
    "leaderboard.site.middleware.RequestMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "leaderboard.site.middleware.CompressionMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "leaderboard.site.middleware.ViewerMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]

ROOT_URLCONF = "leaderboard.urls"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [folders.TEMPLATES],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "leaderboard.common.context_processors.frame_context",
                "leaderboard.notifications.queries.page_header_context",
            ],
        },
    },
]

_sqlite: dict[str, Any] = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(VAR_DIR / "leaderboard.sqlite3")}
DATABASES = {"default": env.db("DATABASE_URL") if env.str("DATABASE_URL", default="") else _sqlite}
DATABASES["default"]["CONN_MAX_AGE"] = None
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DATABASE_WAIT_SECONDS = 12  # shorter than the time after which the web server counts as stuck
if "sqlite" in DATABASES["default"]["ENGINE"]:
    # IMMEDIATE: a transaction that reads first and writes later otherwise fails with "database is locked".
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": DATABASE_WAIT_SECONDS,
        # Up to 13 kB each, and the web server has a connection per thread.
        "cached_statements": env.int("SQLITE_STATEMENTS", default=128),
        # The file is mapped, so a connection's own cache can be small: 64 of 16 MB were a gigabyte under load.
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
            "PRAGMA mmap_size=134217728; PRAGMA cache_size=-2000;"
        ),
    }
elif "postgresql" in DATABASES["default"]["ENGINE"]:
    # Of itself it waits for ever: for a lock, and for a server that the network lost. An address may say otherwise.
    DATABASES["default"]["OPTIONS"] = {
        "connect_timeout": 5,
        "tcp_user_timeout": DATABASE_WAIT_SECONDS * 1000,
        "keepalives_idle": DATABASE_WAIT_SECONDS,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "options": f"-c lock_timeout={DATABASE_WAIT_SECONDS}s",
        **DATABASES["default"].get("OPTIONS", {}),
    }
    if child_processes.current_part() == "web":
        DATABASES["default"]["OPTIONS"]["options"] += " -c statement_timeout=30s"

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["leaderboard.accounts.backend.OneHashBackend"]
PASSWORD_HASHERS = [
    "leaderboard.accounts.hashers.OwaspArgon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "leaderboard.accounts.hashers.NameSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]

LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_ADAPTER = "leaderboard.accounts.adapter.AccountAdapter"
_forms = "leaderboard.accounts.forms"
ACCOUNT_FORMS = {
    "signup": f"{_forms}.SignUpForm",
    "add_email": f"{_forms}.AddAddressForm",
    "change_password": f"{_forms}.ChangeForm",
    "reset_password_from_key": f"{_forms}.ResetForm",
}
ACCOUNT_LOGIN_METHODS = {"username", "email"}
# Without a mail server an address is of little use, so nobody has to give one.
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*" if env.str("EMAIL_URL", default="") else "email", "password1*"]
ACCOUNT_LOGOUT_REDIRECT_URL = "home"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_PRESERVE_USERNAME_CASING = False
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
PASSWORD_RESET_TIMEOUT = 3600
# Where people sign in with the account of their institution (`common/institutions.py` lists the variables).
try:
    INSTITUTIONS = institutions_in(env.ENVIRON)
except BadInstitution as error:
    raise ImproperlyConfigured(str(error)) from None
# Without local passwords people sign in at their institution; only operators still have a password, for emergencies.
LOCAL_PASSWORDS = env.bool("LOCAL_PASSWORDS", default=True)
if not LOCAL_PASSWORDS and not INSTITUTIONS:
    raise ImproperlyConfigured("LOCAL_PASSWORDS=0 needs an institution to sign in at: OIDC_ISSUER.")
SOCIALACCOUNT_ADAPTER = "leaderboard.accounts.institution.adapter.InstitutionAccountAdapter"
# An account here and one of the institution are one person's where both sides have confirmed the same address.
SOCIALACCOUNT_EMAIL_AUTHENTICATION = SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_REAUTHENTICATION_REQUIRED = True
# Hosts of learning platforms that may be in a private network, or on this machine.
LTI_PLATFORM_HOSTS = [one.casefold() for one in env.list("LTI_PLATFORM_HOSTS", default=[])]
# By default an account is made with a join code or an invitation; this lets everybody make one.
OPEN_SIGN_UP = env.bool("OPEN_SIGN_UP", default=False)
# Without a mail server nobody could confirm an address; an installation that sets EMAIL_URL asks for it.
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if env.str("EMAIL_URL", default="") else "none"
vars().update(env.email_url("EMAIL_URL", default="consolemail://"))
EMAIL_SERVER_BACKEND = vars()["EMAIL_BACKEND"]
if ACCOUNT_EMAIL_VERIFICATION == "mandatory":
    EMAIL_BACKEND = "leaderboard.common.outbox.OutboxBackend"  # no request waits for the mail server
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="leaderboard@localhost")

# A class sits behind one address, so nothing that an address asks for is limited: wrong passwords and codes are slowed
# down (`common/shared_cache.py`), and accounts are counted by the code that lets them in (`accounts/adapter.py`).
# `login_failed` is for second factors, `reset_password` for e-mails to one address.
ACCOUNT_RATE_LIMITS = {
    "login": None,
    "login_failed": "5/5m/key",
    "signup": None,
    "reset_password": "5/m/key",
    "reset_password_from_key": None,
}
# Everybody may have a second factor. Who must: nobody, "operators" (staff too), or "hosts" (and operators).
SECOND_FACTOR_FOR = env.str("SECOND_FACTOR_FOR", default="")
if SECOND_FACTOR_FOR not in ("", "operators", "hosts"):
    raise ImproperlyConfigured("SECOND_FACTOR_FOR is “operators”, “hosts” or not set.")
# Browsers offer passkeys on encrypted pages alone.
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", *(["webauthn"] if IS_HTTPS else [])]
MFA_PASSKEY_LOGIN_ENABLED = IS_HTTPS and LOCAL_PASSWORDS
MFA_TOTP_ISSUER = "Leaderboard"
MFA_TOTP_TOLERANCE = 1  # a telephone's clock may be half a minute off
MFA_ALLOW_UNVERIFIED_EMAIL = ACCOUNT_EMAIL_VERIFICATION == "none"
USERSESSIONS_TRACK_ACTIVITY = False  # it would make a write of every page

# How many proxies stand before this site; without a word of theirs all readers would share one address.
ALLAUTH_TRUSTED_PROXY_COUNT = env.int("TRUSTED_PROXIES", default=0)

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
# A language is a folder `de/LC_MESSAGES/django.mo` in one of these; an operator's own words come before the site's.
LOCALE_PATHS = [VAR_DIR / "locale", folders.PACKAGE / "locale"]
LANGUAGES = languages_in(LOCALE_PATHS)

STATIC_URL = "static/"
# Files that the site makes itself: fonts, worked examples, the home scorer.
MADE_STATIC_DIR = VAR_DIR / "static"
MADE_DIR = VAR_DIR / "made"
STATICFILES_DIRS = [MADE_STATIC_DIR] if MADE_STATIC_DIR.is_dir() else []
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_MAX_AGE = 3600

STORAGES = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
FILES_DIR = VAR_DIR / "files"
# Where files lie if not in that folder; then this folder caches those used last, up to so many bytes.
STORAGE_URL = env.str("STORAGE_URL", default="")
CACHE_DIR = VAR_DIR / "cache"
CACHE_BYTES = env.int("CACHE_BYTES", default=2 * 1024**3)
if STORAGE_URL:
    from leaderboard.common.storage.bucket import BadStorageAddress, storage_at

    try:
        STORAGES["default"] = storage_at(STORAGE_URL)
    except BadStorageAddress as error:
        raise ImproperlyConfigured(str(error)) from None
MAX_UPLOAD_BYTES = env.int("MAX_UPLOAD_BYTES", default=100 * 1024 * 1024)
# Of bodies that are on their way, all together; 0: the smaller of 2 GB and a tenth of the free disk.
MAX_SPOOLED_BYTES = env.int("MAX_SPOOLED_BYTES", default=0)
# Threads of the web server that answer pages, and those for all else; each keeps a connection to the database.
WEB_READERS, WEB_WRITERS = env.int("WEB_READERS", default=8), env.int("WEB_WRITERS", default=4)
TEAM_BYTES = env.int("TEAM_BYTES", default=5 * 1024**3)  # of all stored files of one team
DATA_UPLOAD_MAX_NUMBER_FILES = 20
# Reading a table takes about ten times its size; a file that needs more than this is refused.
SCORING_MEMORY_MB = env.int("SCORING_MEMORY_MB", default=3072)
SCORING_TIME_LIMIT = env.int("SCORING_TIME_LIMIT", default=120)
FILE_UPLOAD_PERMISSIONS = 0o600

REDIS_URL = env.str("REDIS_URL", default=f"unix://{quote(str(VAR_DIR / 'run' / 'valkey.sock'))}")
if REDIS_URL.startswith("rediss://") and "ssl_cert_reqs=" not in REDIS_URL:
    # Without a word about certificates Celery would speak to whoever answers.
    REDIS_URL += ("&" if "?" in REDIS_URL else "?") + "ssl_cert_reqs=required"
_memory = "django.core.cache.backends.locmem.LocMemCache"
_at_broker = {"socket_timeout": 0.5, "socket_connect_timeout": 0.5, "retry": None}
CACHES = {
    # What all processes must count together, first of all tries to sign in.
    "default": {
        "BACKEND": "leaderboard.common.shared_cache.SharedCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "leaderboard",
        "OPTIONS": {"serializer": "leaderboard.common.shared_cache.JsonSerializer", **_at_broker},
    },
    # What a process counts alone while the broker is away.
    "alone": {"BACKEND": _memory, "LOCATION": "alone", "OPTIONS": {"MAX_ENTRIES": 20_000}},
    # What is quicker made again than fetched.
    "local": {"BACKEND": _memory, "LOCATION": "local", "OPTIONS": {"MAX_ENTRIES": 2000}},
}

CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A worker to which a full broker says no asks again; otherwise Celery would end it, with all that it has in hand.
CELERY_BROKER_CHANNEL_ERROR_RETRY = True
# A frozen or full broker must not hold up an upload: the wake-up is sent within this time or not at all.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_timeout": 2.0,
    "socket_connect_timeout": 1.0,
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.1,
    "interval_max": 0.2,
}
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_IGNORE_RESULT = True
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_TASK_TIME_LIMIT = SCORING_TIME_LIMIT + 30

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        # No page has an inline script, so no nonce is needed: a rendered board serves many readers.
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
    }
}

# Who sends this may read the numbers at /prometheus; without it there is no such page.
PROMETHEUS_TOKEN = env.str("PROMETHEUS_TOKEN", default="")
if PROMETHEUS_TOKEN and len(PROMETHEUS_TOKEN) < 16:
    raise ImproperlyConfigured("PROMETHEUS_TOKEN has at least 16 characters or is not set.")


# Readable lines, or one JSON object per line for programs that collect logs.
LOG_FORMAT = env.str("LOG_FORMAT", default="text")
if LOG_FORMAT not in ("text", "json"):
    raise ImproperlyConfigured("LOG_FORMAT is “text”, “json” or not set.")
# Without a word of the operator: everything that happens on the site, and of libraries what they warn of.
_log_level = env.str("LOG_LEVEL", default="").upper()
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "leaderboard.common.logs.formatter", "form": LOG_FORMAT}},
    "filters": {"discreet": {"()": "leaderboard.common.logs.RedactingFilter"}},
    "handlers": {
        "console": {"class": "leaderboard.common.logs.ConsoleHandler", "formatter": "line", "filters": ["discreet"]}
    },
    "root": {"handlers": ["console"], "level": _log_level or "WARNING"},
    "loggers": {
        "leaderboard": {"level": _log_level or "INFO"},
        # What a request came to is on its own line; here only what broke, and where.
        "django.request": {"level": "ERROR"},
        # It writes addresses of requests into its lines.
        "urllib3": {"level": "ERROR"},
        "_granian": {"handlers": ["console"], "propagate": False},
    },
}
