"""The compose files: containers that are kept in, and commands that exist."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from piecework.cli.main import main
from tests.operations.deployed import COMPOSE, DEPLOY, ROOT, check_accepted, services

_SERVICES = [
    pytest.param(service, id=f"{file.stem}-{name}")
    for file in COMPOSE
    for name, service in services(file).items()
]
_PIECEWORK = [
    pytest.param(service["command"], id=f"{file.stem}-{name}")
    for file in COMPOSE
    for name, service in services(file).items()
    if "piecework:" in service["image"] and "entrypoint" not in service
]


@pytest.mark.parametrize("service", _SERVICES)
def test_every_container_is_kept_in(service: dict[str, Any]) -> None:
    """A service that is added later without these lines fails here."""
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert set(service.get("cap_add", [])) <= {"NET_BIND_SERVICE"}
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"]
    assert service["pids_limit"]
    assert not service.get("privileged")
    if "piecework:" in service["image"]:
        assert service["user"] == "10001:10001"


@pytest.mark.parametrize("file", COMPOSE, ids=lambda path: path.stem)
def test_images_have_versions_and_are_named_in_one_way(file: Path) -> None:
    """Never the newest one, and each can be replaced by a variable."""
    for service in services(file).values():
        assert re.fullmatch(r"\$\{[A-Z]+_IMAGE:-\S+:\d[\w.-]+\}", service["image"])


@pytest.mark.parametrize("file", COMPOSE, ids=lambda path: path.stem)
def test_no_secret_is_in_an_environment(file: Path) -> None:
    """`inspect` shows environments; secrets are files, and each is declared."""
    declared = yaml.safe_load(file.read_text())["secrets"]
    for service in services(file).values():
        for name, value in service.get("environment", {}).items():
            assert not re.search("PASSWORD|SECRET|TOKEN|_KEY", name) or str(value).startswith(
                "/run/secrets/"
            )
            assert not re.search(r"://[^/@]*:[^/@]+@", str(value))
            if str(value).startswith("/run/secrets/"):
                assert Path(value).name in service["secrets"]
        assert set(service.get("secrets", [])) <= set(declared)


@pytest.mark.parametrize("words", _PIECEWORK)
def test_every_command_of_piecework_is_accepted(words: list[str]) -> None:
    """An option that was renamed fails here."""
    check_accepted(words)


def test_only_the_proxy_is_reachable_from_other_machines() -> None:
    """Prefect's server would run any program for those who reach it."""
    for name, service in services(DEPLOY / "compose.yaml").items():
        for port in service.get("ports", []):
            assert name == "proxy" or port.startswith("127.0.0.1:")


def test_the_proxy_leads_to_the_ports_of_the_marketplace() -> None:
    """The first name to the site, the second to the pages of questions."""
    text = (DEPLOY / "Caddyfile").read_text()
    blocks = re.findall(r"^\{\$(\w+)\} \{.*?:(\d+)\n\}", text, re.MULTILINE | re.DOTALL)
    assert blocks == [("SITE_HOST", "8080"), ("FRAMES_HOST", "8081")]
    example = (DEPLOY / "env.example").read_text()
    assert re.findall(r"^(\w+)=", example, re.MULTILINE) == ["SITE_HOST", "FRAMES_HOST"]


def test_the_options_of_the_marketplace_are_accepted() -> None:
    """The file and the environment of its container, as compose hands them over."""
    (service,) = [
        each for name, each in services(DEPLOY / "compose.yaml").items() if name == "marketplace"
    ]
    environment = {
        name: re.sub(r"\$\{(\w+):[^}]*\}", r"\1.example.org", value).lower()
        for name, value in service["environment"].items()
    }
    shown = CliRunner().invoke(
        main,
        ["market", "serve", "--config", str(DEPLOY / "piecework.toml"), "--print-config"],
        env=environment,
    )
    assert shown.exit_code == 0, shown.output
    assert 'site-url = "https://site_host.example.org"  # environment' in shown.output
    assert 'host = "0.0.0.0"  # file' in shown.output


def test_every_mounted_file_is_in_the_repository() -> None:
    """Engines make a folder of a file that is missing, without a word."""
    for file in COMPOSE:
        for service in services(file).values():
            for volume in service.get("volumes", []):
                source = volume.partition(":")[0]
                if source.startswith(".") and source != "./campaigns":
                    assert (DEPLOY / source).is_file(), source


def test_the_trial_is_deployed_to_the_file_that_is_mounted() -> None:
    """The deployment, the deployment file and the campaign belong together."""
    words = yaml.safe_load((DEPLOY / "trial/prefect.yaml").read_text())
    (deployment,) = words["deployments"]
    campaign = deployment["parameters"]["campaign"]
    mounts = [
        volume.split(":")[1]
        for volume in services(DEPLOY / "compose.trial.yaml")["worker"]["volumes"]
    ]
    assert campaign in mounts
    assert campaign.replace(".toml", ".deployment.toml") in mounts
    original = yaml.safe_load((ROOT / "prefect.yaml").read_text())
    assert words["prefect-version"] == original["prefect-version"]
    assert deployment["entrypoint"] in {each["entrypoint"] for each in original["deployments"]}


def _make_secrets(folder: Path) -> int:
    return subprocess.run(
        ["sh", folder / "make_secrets.sh"], cwd=folder, capture_output=True, timeout=60, check=False
    ).returncode


def test_the_script_makes_all_secrets_and_replaces_none(tmp_path: Path) -> None:
    """Those that compose.yaml declares, different each time, private, and once."""
    shutil.copy(DEPLOY / "make_secrets.sh", tmp_path)
    is_root = os.getuid() == 0
    assert _make_secrets(tmp_path) == (0 if is_root else 1)
    declared = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["secrets"]
    files = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    assert files.keys() == declared.keys()
    for name, value in declared.items():
        assert value == {"file": f"./secrets/{name}"}
        assert (tmp_path / "secrets" / name).stat().st_mode & 0o077 == 0
    for name in ("store", "prefect"):
        assert files[f"{name}_password"] in files["pgpass"]
    _make_secrets(tmp_path)
    assert files == {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(DEPLOY / "make_secrets.sh", other)
    _make_secrets(other)
    assert (other / "secrets/pgpass").read_text() != files["pgpass"]
