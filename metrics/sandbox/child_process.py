"""The process in which a file from ``METRICS_DIR`` runs; no other process loads such a file. See ``processes``.

In a folder of its own it reads ``request.json``, locks itself into the sandbox, does one job with the metric's file
beside it, and writes ``answer.json``. A limit that is hit ends the process without an answer. Run as a script it does
one job, or with the argument ``serve`` it forks for each.

``inspect``  what the file says about itself, and what its doctests came to
``kaggle``   the score of a Kaggle metric on each part of an aligned solution and submission
``ours``     the result of a metric in our own format
``attempt``  one of the ways out of the sandbox, of the self-test (``self_test``)
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import importlib.util
import json
import math
import os
import random
import select
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

LIBRARY = Path(__file__).resolve().parent.parent
UTILITIES = "kaggle_metric_utilities"
MOST_WORDS = 2000
_PR_SET_PDEATHSIG = 1
_IDLE = 600.0


class Unfit(Exception):
    """What the metric returned is no score."""


def isolate(request: dict[str, Any]) -> str:
    """Take away what no metric needs, before any of its code is loaded: it may read the libraries, and read and write
    this folder. ``seal`` says whether that ``must`` work or only ``may``; ``no`` is for the test of the self-test.

    Gives the reason, in words for the operator, why nothing may run here, or ``""``.
    """
    from metrics.sandbox.isolation import NoSandbox, ProcessLimits, limit_process, seal_process

    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    if request["seal"] == "no":
        return ""
    limit_process(ProcessLimits(**request["limits"]))
    packages = [Path(request["packages"])] if request["packages"] else []
    try:
        seal_process(read=[LIBRARY, *packages], write=[Path.cwd()])
    except NoSandbox as error:
        return "" if request["seal"] == "may" else str(error)
    return ""


class _Library:
    """Finds this library under its name and the stand-in under Kaggle's, and nothing else beside them."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name == "metrics":
            return importlib.util.spec_from_file_location(
                name, LIBRARY / "__init__.py", submodule_search_locations=[str(LIBRARY)]
            )
        if name == UTILITIES:
            return importlib.util.spec_from_file_location(name, LIBRARY / "sandbox" / f"{UTILITIES}.py")
        return None


def load(key: str) -> ModuleType:
    """The metric's file as a module; its name has a prefix, so that it hides no library."""
    name = f"metrics.{key}"
    spec = importlib.util.spec_from_file_location(name, Path(f"{key}.py").resolve())
    assert spec is not None, "the parent wrote the file"
    assert spec.loader is not None, "a file of Python has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def inspect(request: dict[str, Any]) -> dict[str, Any]:
    """What the file says about itself."""
    module = load(request["key"])
    from metrics.sandbox.inspection import facts_of

    return facts_of(module, request["key"])


# --- score ------------------------------------------------------------------------------------------------------


def kaggle(request: dict[str, Any]) -> dict[str, Any]:
    """What the metric says of the submission beside answers that tell nothing, then the score of each part; stops at
    the first that cannot be scored."""
    import numpy as np

    as_text: dict[str, type] = {request["id_column"]: str} if request["ids_are_text"] else {}
    # Read and removed before the metric's file is loaded: it gets copies of what it should see, part by part.
    stand_in, whole, sample = (_frame(Path(name), as_text) for name in ("stand_in.csv", "whole.csv", "sample.csv"))
    parts = {name: np.fromfile(f"{name}.rows", np.int64) for name in request["parts"]}
    names = ("solution.csv", "submission.csv") if parts else ()
    frames = [_frame(Path(name), as_text) for name in names]
    module = load(request["key"])
    refusal = _refusal(request, module, stand_in, whole)
    if refusal and not _refusal(request, module, stand_in, sample):
        return {"error": {**refusal, "part": "stand_in"}}
    # One that refuses the sample as well may only dislike these answers. What it says counts where it dislikes the true
    # ones, too.
    values = {}
    for name, rows in parts.items():
        try:
            values[name] = finite(_scored(request, module, *(_cut(frame, rows) for frame in frames)))
        except BaseException as error:
            return {"error": {**error_facts(error, request["key"]), "part": name}, "stand_in": refusal}
    return {"values": values}


def _scored(request: dict[str, Any], module: ModuleType, solution: Any, submission: Any) -> Any:
    import numpy as np

    # A metric that draws numbers draws the same ones each time.
    random.seed(0)
    np.random.seed(0)
    return module.score(solution, submission, request["id_column"], **request["params"])


def _refusal(request: dict[str, Any], module: ModuleType, stand_in: Any, submission: Any) -> dict[str, Any] | None:
    """What the metric wants the participant to read. Other errors tell nothing here."""
    try:
        _scored(request, module, stand_in.iloc[: len(submission)].copy(deep=True), submission.copy(deep=True))
    except BaseException as error:
        found = error_facts(error, request["key"])
        return found if found["kind"] == "participant" else None
    return None


def _frame(path: Path, kinds: dict[str, type]) -> Any:
    """A table as pandas reads it by itself, with texts as objects; only an empty cell is missing."""
    import pandas as pd

    frame = pd.read_csv(path, dtype=kinds, keep_default_na=False, na_values=[""], index_col=False, low_memory=False)
    path.unlink()
    texts = [name for name, kind in frame.dtypes.items() if pd.api.types.is_string_dtype(kind)]
    return frame.astype(dict.fromkeys(texts, object))


def _cut(frame: Any, rows: Any) -> Any:
    return frame.iloc[rows].reset_index(drop=True).copy(deep=True)


def finite(value: Any) -> float:
    """The score as a float. Raises ``Unfit`` where it is anything but one finite number."""
    import numpy as np

    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise Unfit(f"score returned {type(value).__name__} where one finite number is needed")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise Unfit(f"score returned {number} where one finite number is needed")
    return number + 0.0  # never -0.0


def ours(request: dict[str, Any]) -> dict[str, Any]:
    """The result of a metric in our format, on the same road as built-in ones."""
    import metrics
    from metrics.core import registry

    key = request["key"]
    registry.add(key, getattr(load(key), key))
    try:
        truth = metrics.prepare(key, Path("solution.csv"), request["params"], request["id_column"])
        result = truth.evaluate(Path("submission.csv"))
    except metrics.SubmissionError as error:
        return {"problems": sorted({problem.code for problem in error.problems})}
    return {
        "values": {name: getattr(result, name) for name in request["parts"]},
        "parts": {name: dict(part) for name, part in result.parts.items()},
    }


# --- the way out ------------------------------------------------------------------------------------------------


def error_facts(error: BaseException, key: str) -> dict[str, Any]:
    """An error in words: its class, what it says, and where in the file it arose."""
    name = type(error).__name__
    for_participants = any(kind.__name__ == "ParticipantVisibleError" for kind in type(error).__mro__)
    try:
        words = str(error)
    except Exception:
        words = ""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).name == f"{key}.py"]
    line = lines[-1] if lines else getattr(error, "lineno", None)
    kind = "memory" if isinstance(error, MemoryError) else "unfit" if name == "Unfit" else "host"
    return {
        "kind": "participant" if for_participants else kind,
        "class": name[:100],
        "words": words[:MOST_WORDS],
        "line": line,
        "missing": error.name if isinstance(error, ModuleNotFoundError) else None,
    }


def attempt(request: dict[str, Any]) -> dict[str, Any]:
    """Whether a way out of the sandbox led outside, and how far."""
    from metrics.sandbox.escapes import ATTEMPTS, works_inside

    name = request["attempt"]
    return {"escaped": works_inside() if name == "works" else ATTEMPTS[name].leads_to(request["bait"])}


JOBS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    job.__name__: job for job in (inspect, kaggle, ours, attempt)
}


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        return JOBS[request["job"]](request)
    except BaseException as error:
        return {"error": error_facts(error, request["key"])}


def work() -> NoReturn:
    """Do what ``request.json`` asks for. The process ends here, whatever threads the metric has left."""
    request = json.loads(Path("request.json").read_text(encoding="utf-8"))
    if reason := isolate(request):
        answer: dict[str, Any] = {"no_sandbox": reason}
    else:
        # Behind the libraries of the site: none of those can be replaced.
        sys.path += [request["packages"]] if request["packages"] else []
        answer = _answer(request)
    text = json.dumps(answer, allow_nan=False, default=str)
    Path("answer.partial").write_text(text, encoding="utf-8")
    Path("answer.partial").rename("answer.json")
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    os._exit(0)


# --- the waiting process ----------------------------------------------------------------------------------------


def serve() -> None:
    """Wait with the libraries loaded, so that a run costs no start of Python: fork for each folder that is named.

    Says ``ready``, then for each request the number of the process and, when its whole group is dead, how it ended.
    No metric's file is ever loaded here. Ends with the parent, or when it had nothing to do for ten minutes.
    """
    _end_with(os.getppid())
    waiting = os.getpid()
    _preload(["numpy", "pandas", "metrics"])
    _say("ready")
    while select.select([sys.stdin], [], [], _IDLE)[0] and (line := sys.stdin.readline()):
        request = json.loads(line)
        _preload(request["load"])
        child = os.fork()
        if not child:
            _end_with(waiting)
            _settle(request["folder"])
            work()
        _say(str(child))
        _say(str(_ended(child)))


def _end_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before the kernel was asked
            os._exit(1)


def _preload(names: Sequence[str]) -> None:
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _say(word: str) -> None:
    os.write(1, f"{word}\n".encode())


def _settle(folder: str) -> None:
    """Make a fresh fork a process of its own: group, folder, and neither end of the parent's pipes."""
    os.setsid()
    os.chdir(folder)
    os.environ.update(HOME=folder, TMPDIR=folder)
    nothing = os.open(os.devnull, os.O_RDONLY)
    output = os.open("output.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for target, source in ((0, nothing), (1, output), (2, output)):
        os.dup2(source, target)
    os.close(nothing)
    os.close(output)


def _ended(child: int) -> int:
    """How a process ended; what it left behind in its group ends too, before its number can be given again."""
    if hasattr(os, "waitid"):
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.meta_path.insert(0, _Library)
    serve() if sys.argv[1:] == ["serve"] else work()
