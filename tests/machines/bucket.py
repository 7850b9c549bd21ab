"""An S3-speaking server for the tests, and one that answers badly."""

from __future__ import annotations

import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.running_site import free_port
from tests.servers import Server, running

NAME = "submissions"


class Bucket(Server):
    """moto's server with one bucket; what it holds is gone when it ends."""

    @property
    def address(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def url(self) -> str:
        return f"s3://tests:secret%2Fkey@{self.host}:{self.port}/{NAME}/class?tls=off"

    def answers(self) -> bool:
        try:
            urllib.request.urlopen(urllib.request.Request(f"{self.address}/{NAME}", method="PUT"), timeout=5).close()
        except OSError:
            return False
        return True


@contextmanager
def bucket(folder: Path, host: str = "127.0.0.1") -> Iterator[Bucket]:
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", host, "-p", str(port)]
    server = Bucket(command, folder, host, port)
    with running(server):
        yield server
