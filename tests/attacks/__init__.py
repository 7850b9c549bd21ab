"""Every attack that docs/security.md lists is carried by a test: `@pytest.mark.attack("…")`."""
