"""Hooks: functions of higher rooms that a lower room calls without importing them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Generic, ParamSpec, TypeVar

from django.apps import apps

Facts = ParamSpec("Facts")
Answer = TypeVar("Answer")


class Hook(list[Callable[Facts, Answer]], Generic[Facts, Answer]):
    """A list of functions that are called with the same arguments.

    Made from a declaration: a function without a body whose signature names the arguments and whose docstring says when
    the hook is called. Other rooms add functions with the decorator `on`.
    """

    def __init__(self, declaration: Callable[Facts, Answer]) -> None:
        super().__init__()
        self.__doc__ = declaration.__doc__

    def __call__(self, *args: Facts.args, **facts: Facts.kwargs) -> list[Answer]:
        """Call each function in the order in which they were added, and return their results."""
        return [function(*args, **facts) for function in self]


def on(hook: Hook[Facts, Answer]) -> Callable[[Callable[Facts, Answer]], Callable[Facts, Answer]]:
    """Decorator for a function that is called at a hook. It is found in any file directly in the room's folder."""

    def add(function: Callable[Facts, Answer]) -> Callable[Facts, Answer]:
        hook.append(function)
        return function

    return add


def import_listeners() -> None:
    """Import the modules of all rooms that use `on`, in the order of `INSTALLED_APPS`: the core first.

    Other modules are not imported, because a command or a worker does not need them all.
    """
    for room in apps.get_app_configs():
        if room.name.startswith("leaderboard."):
            for path in sorted(Path(room.path).glob("*.py")):
                if "\n@on(" in path.read_text(encoding="utf-8"):
                    import_module(f"{room.name}.{path.stem}")
