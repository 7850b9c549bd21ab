"""How the library is built: metrics at the top, no import circle, a small public door."""

import ast
import dataclasses
from graphlib import TopologicalSorter
from pathlib import Path

import metrics

LIBRARY = Path(metrics.__file__).parent
MODULES = {
    ".".join(path.relative_to(LIBRARY).with_suffix("").parts).removesuffix("__init__").rstrip("."): path
    for path in LIBRARY.rglob("*.py")
    if "tests" not in path.parts
}


def imported_by(name: str) -> set[str]:
    """Modules of the library that a module imports, also within its functions and for a type checker."""
    tree = ast.parse(MODULES[name].read_text())
    here = name.split(".") if MODULES[name].name == "__init__.py" else name.split(".")[:-1]
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) - node.level + 1]
            home = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{home}.{alias.name}".lstrip(".")
                found.add(inner if inner in MODULES else home)
    return found & set(MODULES) - {name, ""}


def test_no_module_imports_itself_in_a_circle() -> None:
    graph = {name: imported_by(name) for name in MODULES if name not in ("", "__main__")}
    assert sum(map(len, graph.values())) > 300
    assert len(list(TopologicalSorter(graph).static_order())) == len(graph)


def test_a_metric_has_few_fields_and_the_library_few_names() -> None:
    assert len(dataclasses.fields(metrics.Metric)) <= 14
    assert len(metrics.__all__) <= 40


def test_a_result_prints_itself_in_a_notebook() -> None:
    truth = b"id,y,Usage\n1,1,Public\n2,2,Public\n3,3,Private\n4,4,Private\n"
    result = metrics.score("pinball", truth, b"id,y\n1,1\n2,3\n3,4\n4,4\n", quantile=0.9)
    lines = repr(result).splitlines()
    assert [line.split()[0] for line in lines] == ["pinball(quantile=0.9):", "public:", "private:"]
    assert repr(result.overall) in lines[0]
    assert "95 %" in lines[0]
