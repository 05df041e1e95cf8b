"""What `deploy/` ships is accepted by those who would read it, as far as that can be known without a cluster.

Kubernetes' own schemas, the Compose specification, Dagster's instance configuration and its launchers' classes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from dagster._config import validate_config
from dagster._config.field_utils import Shape
from dagster._core.instance.config import dagster_instance_config_schema
from dagster._serdes.config_class import class_from_code_pointer
from places import ROOT

from gutengraph_assets.instance import INSTANCE_YAML


@pytest.fixture(autouse=True)
def _what_reads_them() -> None:
    for module in (
        "dagster_postgres",
        "dagster_docker",
        "dagster_k8s",
        "kubernetes_validate",
        "compose_spec",
    ):
        install = "pip install -c constraints.txt -e '.[deploy,deploy-tests]'"
        pytest.importorskip(module, reason=f"{module} is missing: {install}")


DEPLOY = ROOT / "deploy"
COMPOSE = DEPLOY / "compose"
KUBERNETES = DEPLOY / "kubernetes"
MANIFESTS = sorted(KUBERNETES.glob("[0-9]-*.yaml"))
KUBERNETES_VERSION = "1.33.0"


def documents(path: Path) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


def of_kind(kind: str) -> Iterator[dict[str, Any]]:
    for path in MANIFESTS:
        yield from (document for document in documents(path) if document["kind"] == kind)


def cluster_instance() -> dict[str, Any]:
    (config,) = (c for c in of_kind("ConfigMap") if c["metadata"]["name"] == "gutengraph-instance")
    instance: dict[str, Any] = yaml.safe_load(config["data"]["dagster.yaml"])
    return instance


def helm_values() -> dict[str, Any]:
    (values,) = documents(KUBERNETES / "helm-values.yaml")
    return values


def compose_instance() -> dict[str, Any]:
    (instance,) = documents(COMPOSE / "dagster.yaml")
    return instance


# --- Kubernetes' and Compose's own words ---


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_manifests_are_kubernetes(path: Path) -> None:
    import kubernetes_validate

    for manifest in documents(path):
        kubernetes_validate.validate(manifest, KUBERNETES_VERSION, strict=True)


def test_a_misspelt_manifest_would_be_seen() -> None:
    import kubernetes_validate

    (deployment, *_) = of_kind("Deployment")
    deployment["spec"]["template"]["spec"]["containers"][0]["volumeMount"] = []
    with pytest.raises(kubernetes_validate.ValidationError, match="volumeMount"):
        kubernetes_validate.validate(deployment, KUBERNETES_VERSION, strict=True)


def compose(text: str) -> Any:
    """The compose file as its specification reads it, variables filled in first."""
    from compose_spec import PyOptions

    filled = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", re.sub(r"\$\{\w+:\?[^}]*\}", "chosen", text))
    # Docker's own word for the machine's address, which this reader takes for no address.
    filled = filled.replace("host-gateway", "172.17.0.1")
    options = PyOptions()
    options.apply_merge = True
    read = options.from_yaml(filled)
    read.validate()
    return read


def test_the_compose_file_follows_the_specification() -> None:
    services = compose((COMPOSE / "compose.yaml").read_text()).service_names()
    assert sorted(services) == ["code", "daemon", "pools", "postgres", "prepare", "webserver"]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("    restart: unless-stopped", "    restat: unless-stopped"),
        ("condition: service_healthy", "condition: service_happy"),
        ("networks: [gutengraph]", "networks: [elsewhere]"),
        ("interval: 5s", "interval: often"),
    ],
)
def test_a_wrong_compose_file_would_be_seen(right: str, wrong: str) -> None:
    text = (COMPOSE / "compose.yaml").read_text()
    assert right in text
    with pytest.raises(ValueError):  # noqa: PT011 - the specification's reader raises nothing narrower
        compose(text.replace(right, wrong))


# --- Dagster's own words ---


def accepts(schema: Any, config: dict[str, Any]) -> list[str]:
    """What Dagster has against a configuration."""
    found = validate_config(Shape(schema) if isinstance(schema, dict) else schema, config)
    return [error.message for error in found.errors or []]


@pytest.mark.parametrize("instance", [compose_instance(), cluster_instance()], ids=["compose", "kubernetes"])
def test_dagster_and_its_classes_accept_the_instance(instance: dict[str, Any]) -> None:
    assert accepts(dagster_instance_config_schema(), instance) == []
    for name in ("run_launcher", "compute_logs"):
        block = instance[name]
        kind = class_from_code_pointer(block["module"], block["class"])
        assert accepts(kind.config_type(), block["config"]) == []


@pytest.mark.parametrize("instance", [compose_instance(), cluster_instance()], ids=["compose", "kubernetes"])
def test_all_but_storage_and_launcher_is_as_on_one_machine(instance: dict[str, Any]) -> None:
    single = yaml.safe_load(INSTANCE_YAML)
    for name in ("telemetry", "nux"):
        assert instance[name] == single[name]
    assert instance["concurrency"]["pools"] == single["concurrency"]["pools"]
    assert instance["run_monitoring"].items() >= single["run_monitoring"].items()


def test_runs_get_every_variable_that_the_services_have() -> None:
    (document,) = documents(COMPOSE / "compose.yaml")
    shared = set(document["x-environment"])
    assert set(compose_instance()["run_launcher"]["config"]["env_vars"]) == shared
    names = {name for v in document["volumes"].values() for name in [v["name"]]}
    mounted = {
        v.split(":")[0] for v in compose_instance()["run_launcher"]["config"]["container_kwargs"]["volumes"]
    }
    assert mounted < names


def test_the_names_that_pods_refer_to_are_there() -> None:
    claims = {c["metadata"]["name"] for c in of_kind("PersistentVolumeClaim")}
    maps = {c["metadata"]["name"] for c in of_kind("ConfigMap")}
    launcher = cluster_instance()["run_launcher"]["config"]
    assert launcher["instance_config_map"] in maps
    assert set(launcher["env_config_maps"]) <= maps
    assert launcher["service_account_name"] in {a["metadata"]["name"] for a in of_kind("ServiceAccount")}
    (volume,) = launcher["run_k8s_config"]["pod_spec_config"]["volumes"]
    assert volume["persistent_volume_claim"]["claim_name"] in claims
    for deployment in of_kind("Deployment"):
        pod = deployment["spec"]["template"]["spec"]
        volumes = {v["name"]: v for v in pod["volumes"]}
        assert volumes["library"]["persistentVolumeClaim"]["claimName"] in claims
        assert volumes["instance"]["configMap"]["name"] in maps
        for container in pod["containers"]:
            assert {m["name"] for m in container["volumeMounts"]} == set(volumes)
            assert {e["configMapRef"]["name"] for e in container["envFrom"]} <= maps


def test_the_job_that_a_run_becomes_is_kubernetes() -> None:
    """The launcher's own code makes the job; only the cluster is left out."""
    import kubernetes_validate
    from dagster_k8s.job import (
        DagsterK8sJobConfig,
        UserDefinedDagsterK8sConfig,
        construct_dagster_k8s_job,
    )
    from kubernetes.client import ApiClient

    config = cluster_instance()["run_launcher"]["config"]
    job = construct_dagster_k8s_job(
        DagsterK8sJobConfig(
            job_image="gutengraph:0.1.0",
            dagster_home=config["dagster_home"],
            instance_config_map=config["instance_config_map"],
            postgres_password_secret=config["postgres_password_secret"],
        ),
        ["dagster", "api", "execute_run"],
        "run-1",
        pod_name="run-1",
        component="run_worker",
        user_defined_k8s_config=UserDefinedDagsterK8sConfig.from_dict(config["run_k8s_config"]),
    )
    manifest = ApiClient().sanitize_for_serialization(job)
    kubernetes_validate.validate(manifest, KUBERNETES_VERSION, strict=True)
    pod = manifest["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert {"name": "library", "mountPath": "/data"} in container["volumeMounts"]
    assert container["resources"]["limits"] == {"memory": "4Gi"}
    assert pod["securityContext"]["runAsUser"] == 1000
    passwords = [e for e in container["env"] if e["name"] == "DAGSTER_PG_PASSWORD"]
    assert passwords[0]["valueFrom"]["secretKeyRef"]["name"] == "dagster-postgresql"


# --- the chart ---

CHART = {
    "": """global generatePostgresqlPasswordSecret postgresql dagsterWebserver dagster-user-deployments runLauncher
        dagsterDaemon computeLogManager telemetry additionalInstanceConfig""",
    "global": "postgresqlSecretName dagsterHome serviceAccountName",
    "postgresql": "enabled image postgresqlScheme postgresqlHost postgresqlUsername postgresqlDatabase postgresqlParams service",
    "dagsterWebserver": "image podSecurityContext volumes volumeMounts replicaCount service resources env",
    "dagsterDaemon": "enabled image runCoordinator runMonitoring podSecurityContext volumes volumeMounts resources env",
    "runLauncher": "type config",
    "computeLogManager": "type config",
}
"""Keys of the chart 1.13 that these values may use: its schema is not published where tests run."""
DEPLOYMENT = """name image codeServerArgs port env includeConfigInLaunchedRuns podSecurityContext volumes
    volumeMounts resources"""
LAUNCHER = "imagePullPolicy jobNamespace loadInclusterConfig envConfigMaps envSecrets envVars runK8sConfig volumes volumeMounts"


def test_the_values_use_keys_of_the_chart() -> None:
    values = helm_values()
    for section, known in CHART.items():
        assert set(values[section] if section else values) <= set(known.split()), section
    (deployment,) = values["dagster-user-deployments"]["deployments"]
    assert set(deployment) <= set(DEPLOYMENT.split())
    assert set(values["runLauncher"]["config"]["k8sRunLauncher"]) <= set(LAUNCHER.split())


def test_the_values_make_an_instance_that_dagster_accepts() -> None:
    values = helm_values()
    logs = values["computeLogManager"]["config"]["customComputeLogManager"]
    # What the chart's template adds to dagster.yaml from these values, in Dagster's spelling.
    instance = {
        "telemetry": values["telemetry"],
        "compute_logs": logs,
        "run_monitoring": {
            "enabled": True,
            "poll_interval_seconds": 60,
            "free_slots_after_run_end_seconds": 30,
        },
        **values["additionalInstanceConfig"],
    }
    assert accepts(dagster_instance_config_schema(), instance) == []
    assert "run_coordinator" not in instance
    assert values["dagsterDaemon"]["runCoordinator"] == {"enabled": False}
    assert accepts(class_from_code_pointer(logs["module"], logs["class"]).config_type(), logs["config"]) == []


def test_the_values_pods_are_kubernetes() -> None:
    import kubernetes_validate

    values = helm_values()
    (code,) = values["dagster-user-deployments"]["deployments"]
    for part in (values["dagsterWebserver"], values["dagsterDaemon"], code):
        container = {
            "name": "it",
            "image": f"{part['image']['repository']}:{part['image']['tag']}",
            "imagePullPolicy": part["image"]["pullPolicy"],
            "env": part.get("env", []),
            "volumeMounts": part["volumeMounts"],
        }
        pod = {
            "containers": [container],
            "securityContext": part["podSecurityContext"],
            "volumes": part["volumes"],
        }
        manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "it"}, "spec": pod}
        kubernetes_validate.validate(manifest, KUBERNETES_VERSION, strict=True)


# --- no secrets, no stale versions ---

SECRET = re.compile(r"(?i)(password|secret|token|api_?key)\S*\s*[:=]\s*(\S.*)")
HARMLESS = re.compile(
    r"^(\$\{|\{env:|\{name: dagster-postgresql|dagster-postgresql$|DAGSTER_|false$|\{|\"?\$\()"
)


@pytest.mark.parametrize("path", sorted(p for p in DEPLOY.rglob("*") if p.is_file()), ids=lambda p: p.name)
def test_no_secret_is_written_down(path: Path) -> None:
    for line in path.read_text().splitlines():
        if (found := SECRET.search(line)) and not line.lstrip().startswith("#"):
            assert HARMLESS.match(found[2]), line


def test_the_image_is_this_version_everywhere() -> None:
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.M)
    assert version
    for path in DEPLOY.rglob("*"):
        if path.is_file():
            for tag in re.findall(r"gutengraph:(\d\S*?)[\s\"']", path.read_text()):
                assert tag == version[1], path
    assert helm_values()["dagsterWebserver"]["image"]["tag"] == version[1]


def test_what_the_dockerfile_copies_is_let_through() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = set()
    for line in (DEPLOY / "Dockerfile").read_text().splitlines():
        if line.startswith("COPY ") and "--from" not in line:
            copied |= set(line.split()[1:-1])
    assert copied == allowed
    assert all((ROOT / name).exists() for name in copied)
