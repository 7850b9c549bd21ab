"""The pods of deploy/kubernetes, run by `podman kube play`: a class hands in while parts of the site are killed."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from tests.conftest import answers
from tests.deploy import manifests
from tests.deploy.containers import BASE, IMAGE, Engine
from tests.machines.bucket import bucket
from tests.running_site import Site, until
from tests.servers import Postgres, Redis, postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.long]

STUDENTS, AT_ONCE = 200, 8
HOST = "leaderboard.example.org"
FROM_INGRESS = {"Host": HOST, "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1"}


@dataclass
class Cluster:
    """Two web servers and two workers as pods; PostgreSQL, Redis and a bucket outside of them."""

    podman: Engine
    network: str
    database: Postgres
    broker: Redis
    secret: dict[str, str]
    tokens: list[str] = field(default_factory=list)
    uploaded: set[str] = field(default_factory=set)

    def play(self, part: str, number: int) -> None:
        """Start one pod of a part, as its manifest has it."""
        (found,) = (one for one in manifests.of_kind("Deployment", "Job") if one["metadata"]["name"] == part)
        template = found["spec"]["template"]
        (container,) = template["spec"]["containers"]
        container["image"] = IMAGE
        # Podman would ask with curl, from within, and publish each port here: the test asks as Kubernetes does.
        for name in ("startupProbe", "readinessProbe", "livenessProbe", "ports"):
            container.pop(name, None)
        # Versions of podman differ in how they keep a secret.
        container["envFrom"] = [{"configMapRef": {"name": name}} for name in ("leaderboard", "secret")]
        documents = [
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "leaderboard"},
                "data": manifests.variables(),
            },
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "secret"}, "data": self.secret},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{part}-{number}"}, "spec": template["spec"]},
        ]
        play = ["podman", "kube", "play", f"--network={self.network}", "-"]
        self.podman.run(*play, text=yaml.safe_dump_all(documents))

    def facts(self, part: str, number: int) -> Any:
        container = f"{part}-{number}-{part.removeprefix('leaderboard-')}"
        (found,) = json.loads(self.podman.run("podman", "container", "inspect", container))
        return found

    def kill(self, part: str, number: int) -> None:
        """End a pod's first process, as a kernel out of memory does; the others go with it."""
        os.kill(self.facts(part, number)["State"]["Pid"], signal.SIGKILL)

    def manage(self, *command: str) -> str:
        return self.podman.run("podman", "exec", "leaderboard-web-2-web", "classboard", *command)

    def address(self, number: int) -> str:
        pod = json.loads(self.podman.run("podman", "pod", "inspect", f"leaderboard-web-{number}"))
        infra = pod["InfraContainerID"]
        template = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}"
        return f"http://{self.podman.run('podman', 'inspect', '--format', template, infra)}:8000"

    def until_ready(self, number: int, address: str) -> None:
        def is_ready() -> bool:
            state = self.facts("leaderboard-web", number)["State"]
            assert state["Status"] in ("running", "exited", "stopped"), state
            try:
                return requests.get(f"{address}/readyz", headers={"Host": "localhost"}, timeout=5).status_code == 200
            except requests.RequestException:
                return False

        until(
            is_ready, seconds=90, every=0.5, what=f"web {number}: {self.podman.logs(f'leaderboard-web-{number}-web')}"
        )

    def rows(self, columns: str, condition: str = "true") -> list[Any]:
        return self.database.run(f"SELECT {columns} FROM competitions_submission WHERE {condition}", "site")


@pytest.fixture
def cluster(podman: Engine, tmp_path: Path) -> Iterator[Cluster]:
    if os.geteuid():
        pytest.skip("the pods reach servers of this machine over a network that root alone makes")
    with ExitStack() as stack:
        network = f"leaderboard-{os.getpid()}"
        podman.run("podman", "network", "create", network)
        stack.callback(podman.ask, "podman", "network", "rm", "--force", network)
        # The network is there for as long as somebody is in it.
        first = podman.run("podman", "run", "--detach", f"--network={network}", BASE, "/usr/bin/sleep", "infinity")
        stack.callback(podman.ask, "podman", "rm", "--force", "--time=0", first)
        (facts,) = json.loads(podman.run("podman", "network", "inspect", network))
        gateway = facts["subnets"][0]["gateway"]
        database = stack.enter_context(postgres(host=gateway))
        broker = stack.enter_context(redis_server(host=gateway))
        files = stack.enter_context(bucket(tmp_path, host=gateway))
        secret = {
            "SECRET_KEY": "the same in all pods",
            "DATABASE_URL": database.new_database("site"),
            "REDIS_URL": broker.url,
            "STORAGE_URL": files.url,
        }
        stack.callback(podman.ask, "podman", "pod", "rm", "--all", "--force", "--time=0")
        made = Cluster(podman, network, database, broker, secret)
        made.play("leaderboard-migrate", 1)
        until(
            lambda: made.facts("leaderboard-migrate", 1)["State"]["Status"] == "exited",
            seconds=90, every=0.5, what="the migrations",
        )  # fmt: skip
        assert made.facts("leaderboard-migrate", 1)["State"]["ExitCode"] == 0
        environment = {
            **os.environ,
            **secret,
            "VAR_DIR": str(tmp_path),
            "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
        }
        nothing: Any = None
        made.tokens = Site("", tmp_path, nothing, environment).make_class(*(f"s{n}" for n in range(STUDENTS)))
        for number in (1, 2):
            made.play("leaderboard-worker", number)
            made.play("leaderboard-web", number)
        yield made


def test_a_class_hands_in_while_a_web_server_a_worker_and_the_broker_are_killed(cluster: Cluster) -> None:
    addresses = [cluster.address(number) for number in (1, 2)]
    for number, address in enumerate(addresses, start=1):
        cluster.until_ready(number, address)
    lock = threading.Lock()

    def submit(student: int) -> None:
        """A program of a student: it asks again where nobody answered, and the ingress then asks the other server."""
        tries = iter(range(10_000))

        def is_acknowledged() -> bool:
            address = addresses[(student + next(tries)) % 2]
            own = {"Authorization": f"Bearer {cluster.tokens[student]}", "Idempotency-Key": f"{student}"}
            try:
                answer = requests.post(
                    f"{address}/api/v1/competitions/pets/submissions",
                    files={"file": ("mine.csv", answers(public=student % 5))},
                    headers={**FROM_INGRESS, **own},
                    timeout=30,
                )
            except requests.RequestException:
                return False
            assert answer.status_code in (201, 502, 503), answer.text
            if answer.status_code == 201:
                with lock:
                    cluster.uploaded.add(str(answer.json()["id"]))
            return answer.status_code == 201

        until(is_acknowledged, seconds=120, every=0.5, what=f"the receipt of student {student}")

    with ThreadPoolExecutor(AT_ONCE) as class_of_200:
        done = [class_of_200.submit(submit, student) for student in range(STUDENTS)]
        until(lambda: len(cluster.uploaded) >= STUDENTS * 1 / 5, seconds=120, what="a fifth of the class")
        cluster.kill("leaderboard-web", 1)
        until(lambda: len(cluster.uploaded) >= STUDENTS * 2 / 5, seconds=120, what="two fifths")
        cluster.kill("leaderboard-worker", 1)
        until(lambda: len(cluster.uploaded) >= STUDENTS * 3 / 5, seconds=120, what="three fifths")
        cluster.broker.kill()
        until(lambda: len(cluster.uploaded) >= STUDENTS * 4 / 5, seconds=120, what="four fifths without the broker")
        cluster.broker.start()
        for one in done:
            one.result()

    until(lambda: not cluster.rows("1", "status = 'pending'"), seconds=120, every=0.5, what="the last score")
    assert {(str(row[0]), row[1]) for row in cluster.rows("id, status")} == {
        (submission, "scored") for submission in cluster.uploaded
    }
    assert len(cluster.uploaded) == STUDENTS, "each student has one file, whoever was asked how often"
    cluster.until_ready(1, addresses[0])
    cluster.manage("check_consistency")
    assert "200" in cluster.manage("backup", "/tmp/backup"), "with the image's own pg_dump"
