"""Hooks: functions of higher apps that a lower app calls without importing them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

Facts = ParamSpec("Facts")
Answer = TypeVar("Answer")


class Hook(list[Callable[Facts, Answer]], Generic[Facts, Answer]):
    """A list of functions that are called with the same arguments.

    Made from a declaration: a function without a body whose signature names the arguments and whose docstring says when
    the hook is called. Apps append their functions in `AppConfig.ready()`.
    """

    def __init__(self, declaration: Callable[Facts, Answer]) -> None:
        super().__init__()
        self.__doc__ = declaration.__doc__

    def __call__(self, *args: Facts.args, **facts: Facts.kwargs) -> list[Answer]:
        """Call each function in the order in which they were appended, and return their results."""
        return [function(*args, **facts) for function in self]
