"""Where a request comes from, as limits count it."""

from __future__ import annotations

import pytest

from leaderboard.common.web_requests import counted_address


@pytest.mark.parametrize(
    ("forwarded", "proxies", "address"),
    [
        ("", 0, "10.0.0.1"),
        ("1.1.1.1", 0, "10.0.0.1"),
        ("", 1, "10.0.0.1"),
        ("::ffff:2.2.2.2", 1, "2.2.2.2"),
        ("1.1.1.1, 2.2.2.2", 1, "2.2.2.2"),
        ("1.1.1.1, 2.2.2.2", 2, "1.1.1.1"),
        ("2.2.2.2", 2, "10.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", 1, "2001:db8:1:2::/64"),
        ("nobody:knows", 1, "nobody:knows"),
    ],
)
def test_the_address_that_the_last_trusted_proxy_names_is_counted(forwarded: str, proxies: int, address: str) -> None:
    assert counted_address({"HTTP_X_FORWARDED_FOR": forwarded, "REMOTE_ADDR": "10.0.0.1"}, proxies) == address
