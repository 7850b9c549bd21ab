"""A cached property that needs no lock."""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value", covariant=True)


class cached_property(Generic[Value]):  # noqa: N801
    """A property that keeps its value in the ``__dict__`` of the instance, frozen dataclasses included.

    Python 3.11's own holds one lock for all instances while it computes, so two threads that need each other's
    instances wait forever. This one has no lock: threads that read it at the same moment may each compute the value,
    and all get the one that was stored first.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> Self | Value:
        if instance is None:
            return self
        value: Value = instance.__dict__.setdefault(self.name, self.compute(instance))
        return value
