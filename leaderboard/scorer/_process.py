"""The waiting process: `python -m leaderboard.scorer._process PARENT DESCRIPTOR`. Forks a keeper for each ground truth.

It has read nothing of anybody's, so what it forks is clean. It ends with its parent, and everything below ends with it.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
from contextlib import suppress
from importlib import import_module

import metrics
from leaderboard import lifeline
from leaderboard.scorer import _wire
from leaderboard.scorer._keeper import keep

LOADED = ("numpy", "pyarrow", "pyarrow.csv", "pyarrow.compute")


def serve(worker: int) -> None:
    """Fork a keeper for each ruler that is named, and hand its end of a connection to the worker."""
    for name in LOADED:
        import_module(name)
    metrics.get_cage_ready()
    # Keepers that end are nobody's news.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()  # the collector writes into every object that it looks at, which would copy the page
    me = os.getpid()
    _wire.send(worker, {"ready": True})
    while True:
        told, _ = _wire.receive(worker)
        ours, theirs = _wire.pair()
        if not os.fork():
            _wire.close(worker, theirs)
            lifeline.die_with(me)
            with suppress(_wire.Ended):
                keep(ours, told)
            os._exit(0)
        os.close(ours)
        _wire.send_descriptor(worker, theirs)
        os.close(theirs)


def main() -> None:
    parent, worker = map(int, sys.argv[1:])
    lifeline.die_with(parent)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # an image of the memory would hold a truth
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who started all
    with suppress(_wire.Ended):
        serve(worker)


if __name__ == "__main__":
    main()
