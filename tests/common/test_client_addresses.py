"""Where a request comes from, as limits count it."""

from __future__ import annotations

import pytest

from leaderboard.common.web_requests import counted_address, environ_of


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


@pytest.mark.attack("headers that a proxy passes on under a name like that of its own")
def test_a_header_with_underscores_does_not_change_what_the_proxy_says() -> None:
    sent = {"X-Forwarded-For": "2.2.2.2", "X-Forwarded-Proto": "http"}
    forged = {name.replace("-", "_"): "1.1.1.1" for name in (*sent, "X-Forwarded-Host", "Content-Type")}
    scope = {"method": "GET", "raw_path": b"/", "query_string": b"", "http_version": "1.1"}
    headers = [(name.lower().encode(), value.encode()) for name, value in (*sent.items(), *forged.items())]
    environ = environ_of({**scope, "headers": headers})
    assert counted_address(environ, 1) == "2.2.2.2"
    assert "1.1.1.1" not in environ.values()
    assert environ["HTTP_X_FORWARDED_PROTO"] == "http"
