import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from metrics.core.lazy import cached_property


@dataclass(frozen=True)
class Cell:
    number: int
    ready: threading.Barrier = field(repr=False)

    @cached_property
    def doubled(self) -> int:
        """Twice the number, once all are here."""
        self.ready.wait(timeout=20)
        return 2 * self.number


@dataclass(frozen=True)
class Box:
    @cached_property
    def content(self) -> list[int]:
        return []


def test_threads_that_wait_for_each_others_instances_end() -> None:
    ready = threading.Barrier(4)
    cells = [Cell(number, ready) for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda cell: cell.doubled, cells)) == [0, 2, 4, 6]


def test_threads_that_ask_one_instance_at_once_get_one_value() -> None:
    box, ready = Box(), threading.Barrier(4)

    def ask(_: int) -> list[int]:
        ready.wait(timeout=20)
        return box.content

    with ThreadPoolExecutor(4) as pool:
        contents = list(pool.map(ask, range(4)))
    assert all(content is box.content for content in contents)


def test_a_value_is_computed_once() -> None:
    box = Box()
    assert box.content is box.content
    assert Box().content is not box.content


def test_the_class_shows_its_documentation() -> None:
    assert Cell.doubled.__doc__ == "Twice the number, once all are here."
