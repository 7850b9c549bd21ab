"""How an app lets the apps above it take part in what it does, without importing them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

Facts = ParamSpec("Facts")
Answer = TypeVar("Answer")


class Hook(list[Callable[Facts, Answer]], Generic[Facts, Answer]):
    """A list of functions that take the same facts.

    Made from a declaration: a function without a body that names the facts and says when they are handed over. Apps
    append their functions in `AppConfig.ready()`.
    """

    def __init__(self, declaration: Callable[Facts, Answer]) -> None:
        super().__init__()
        self.__doc__ = declaration.__doc__

    def __call__(self, *args: Facts.args, **facts: Facts.kwargs) -> list[Answer]:
        """Call each function, in the order in which they were appended; gives their answers."""
        return [function(*args, **facts) for function in self]
