"""Metrics of single past competitions, one in each file; the numerics that only they need are beside them."""
