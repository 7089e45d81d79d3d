"""Prefect's commands of compose files and units: their options exist."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.operations.deployed import COMPOSE, UNITS, services, settings


def _calls() -> set[tuple[str, ...]]:
    calls = {
        tuple(service["command"])
        for file in COMPOSE
        for service in services(file).values()
        if service.get("entrypoint") == ["prefect"]
    }
    for unit in UNITS:
        program, *words = shlex.split(settings(unit)["ExecStart"][0])
        if Path(program).name == "prefect":
            calls.add(tuple(words))
    return calls


@pytest.mark.full
@pytest.mark.parametrize("words", sorted(_calls()), ids=" ".join)
def test_the_options_of_a_call_of_prefect_exist(words: tuple[str, ...]) -> None:
    """Its help names each; starting it would need a server."""
    names = [word for word in words if not word.startswith("-")]
    subcommand = names[:1] if names[0] == "deploy" else names[:2]
    done = subprocess.run(
        [Path(sys.executable).parent / "prefect", *subcommand, "--help"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    for word in words:
        if word.startswith("--"):
            assert word in done.stdout
