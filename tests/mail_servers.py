"""Mail servers for tests: one that accepts a connection and says nothing, and one that takes every e-mail."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silent_server() -> Iterator[int]:
    """The port of a server that accepts and says nothing, whatever it should speak."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        yield listener.getsockname()[1]


class _Conversation(socketserver.StreamRequestHandler):
    server: TakingServer

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        for line in self.rfile:
            word = line.split()[0].upper() if line.split() else b""
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                text = b""
                while not text.endswith(b"\r\n.\r\n"):
                    text += self.rfile.readline()
                self.server.received.append(text.decode())
            self.wfile.write(b"250 thank you\r\n")
            if word == b"QUIT":
                return


class TakingServer(socketserver.ThreadingTCPServer):
    """A mail server; `received` has the texts of its e-mails."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Conversation)
        self.received: list[str] = []
        self.port: int = self.server_address[1]


@contextmanager
def taking_server(port: int = 0) -> Iterator[TakingServer]:
    with TakingServer(port) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
