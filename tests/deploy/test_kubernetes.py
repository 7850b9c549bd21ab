"""deploy/kubernetes: every pod runs without rights, is asked whether it is ready, and has an end that it is told of."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
from typing import Any

import pytest
import yaml
from django.conf import LazySettings
from django.test import Client

from leaderboard.operations import health
from leaderboard.operations.supervisor import up as up_module
from tests.deploy import manifests
from tests.deploy.manifests import Document

PARTS = {document["metadata"]["name"]: document for document in manifests.of_kind("Deployment", "Job")}
each_part = pytest.mark.parametrize("name", PARTS)


def pod(name: str) -> Document:
    found: Document = PARTS[name]["spec"]["template"]["spec"]
    return found


def container(name: str) -> Document:
    (found,) = pod(name)["containers"]
    assert isinstance(found, dict)
    return found


def test_the_site_is_all_there() -> None:
    assert set(PARTS) == {f"leaderboard-{part}" for part in ("web", "worker", "migrate")}
    assert {path.name for path in manifests.FOLDER.glob("*.yaml")} == {
        "kustomization.yaml",
        *manifests.KUSTOMIZATION["resources"],
    }


@each_part
def test_no_pod_has_rights(name: str) -> None:
    """What the profile "restricted" of Kubernetes asks for, and a root file system that is never written."""
    spec, only = pod(name), container(name)
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert only["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {mount["mountPath"] for mount in only["volumeMounts"]} == {"/var/lib/leaderboard", "/tmp"}
    assert [set(volume) for volume in spec["volumes"]] == [{"name", "emptyDir"}] * 2, "no socket of an engine"


@each_part
def test_every_pod_says_what_it_needs(name: str) -> None:
    resources = container(name)["resources"]
    assert {"cpu", "memory"} <= set(resources["requests"])
    assert "memory" in resources["limits"]


@pytest.mark.parametrize("part", ["web", "worker"])
def test_each_part_starts_with_options_that_it_has_and_time_to_stop(part: str) -> None:
    up, *words = container(f"leaderboard-{part}")["args"]
    options = argparse.ArgumentParser()
    up_module.add_arguments(options)
    given = options.parse_args(words)
    assert (up, given.only, given.no_migrate) == ("up", [part], True)
    assert pod(f"leaderboard-{part}")["terminationGracePeriodSeconds"] > up_module.SERVICE_TIME_TO_FINISH


@pytest.mark.parametrize("kind", ["startupProbe", "readinessProbe", "livenessProbe"])
def test_the_site_answers_to_the_probes(client: Client, db: None, kind: str) -> None:
    asked = container("leaderboard-web")[kind]["httpGet"]
    (host,) = asked["httpHeaders"]
    answer = client.get(asked["path"], headers={host["name"]: host["value"]})
    assert answer.status_code in (200, 503), "503 where something is missing, such as a broker here"
    assert asked["path"] == ("/healthz" if kind == "livenessProbe" else "/readyz")


def test_names_that_refer_to_others_exist() -> None:
    labels = {name: part["spec"]["template"]["metadata"]["labels"] for name, part in PARTS.items()}
    for name, part in PARTS.items():
        assert part["spec"].get("selector", {"matchLabels": labels[name]})["matchLabels"] == labels[name]
    budgets = list(manifests.of_kind("PodDisruptionBudget"))
    assert budgets
    for budget in budgets:
        assert budget["spec"]["selector"]["matchLabels"] in labels.values()
    (service,) = manifests.of_kind("Service")
    assert service["spec"]["selector"] == labels["leaderboard-web"]
    (ingress,) = manifests.of_kind("Ingress")
    (path,) = ingress["spec"]["rules"][0]["http"]["paths"]
    assert path["backend"]["service"]["name"] == service["metadata"]["name"]
    (scaler,) = manifests.of_kind("HorizontalPodAutoscaler")
    assert scaler["spec"]["scaleTargetRef"]["name"] in PARTS


def test_every_pod_is_named_by_a_rule_of_the_network() -> None:
    named: set[str] = set()
    for policy in manifests.of_kind("NetworkPolicy"):
        selector = policy["spec"]["podSelector"]
        named |= set(selector.get("matchLabels", {}).values())
        named |= {value for expression in selector.get("matchExpressions", []) for value in expression["values"]}
    assert named == set(PARTS)


def test_workers_are_added_by_a_number_that_the_site_has(db: None) -> None:
    (scaler,) = manifests.of_kind("HorizontalPodAutoscaler")
    (metric,) = scaler["spec"]["metrics"]
    assert f"\n{metric['external']['metric']['name']} " in health.prometheus_text()


def test_a_form_with_the_largest_file_passes_the_ingress(settings: LazySettings) -> None:
    (ingress,) = manifests.of_kind("Ingress")
    (size,) = (int(value) for name, value in ingress["metadata"]["annotations"].items() if "body-size" in name)
    assert settings.MAX_UPLOAD_BYTES < size < settings.MAX_UPLOAD_BYTES * 1.1
    (rule,) = ingress["spec"]["rules"]
    assert manifests.variables()["SITE_URL"] == f"https://{rule['host']}"


@pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl is not installed")
def test_kustomize_renders_every_manifest_with_the_image_of_the_kustomization() -> None:
    command = ["kubectl", "kustomize", str(manifests.FOLDER)]
    run = subprocess.run(command, capture_output=True, text=True, env={"PATH": os.environ["PATH"]}, check=False)
    assert run.returncode == 0, run.stderr
    rendered: list[Any] = list(yaml.safe_load_all(run.stdout))
    assert len(rendered) == len(manifests.documents()) + 1, "and the map of variables"
    assert len(re.findall(r"image: registry\.example\.org/leaderboard:", run.stdout)) == len(PARTS)


def test_every_manifest_keeps_to_the_schema_of_kubernetes() -> None:
    """The package has 72 MB of schemas, so nobody has to install it: pip install kubernetes-validate."""
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    for document in manifests.documents():
        kubernetes_validate.validate(document, desired_version="1.31", strict=True)
