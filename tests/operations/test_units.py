"""The systemd units: hardened alike, and their commands exist."""

import re
import shlex
from pathlib import Path

import pytest

from tests.operations.deployed import UNITS, check_accepted, settings

_BY_NAME = {path.name: settings(path) for path in UNITS}
_IDS = list(_BY_NAME)
_HARDENED = {
    "NoNewPrivileges": "yes",
    "CapabilityBoundingSet": "",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "PrivateDevices": "yes",
    "ProtectKernelTunables": "yes",
    "ProtectControlGroups": "yes",
    "RestrictNamespaces": "yes",
    "LockPersonality": "yes",
    "SystemCallArchitectures": "native",
    "UMask": "0077",
    "StateDirectoryMode": "0700",
}


def test_there_are_units_for_all_programs() -> None:
    """docs/operations/run.md lists them."""
    page = (UNITS[0].parents[2] / "run.md").read_text()
    assert len(UNITS) == 5
    for name in _IDS:
        assert f"`{name}`" in page


@pytest.mark.parametrize("unit", _BY_NAME.values(), ids=_IDS)
def test_every_unit_is_hardened(unit: dict[str, list[str]]) -> None:
    """Each writes to its own folder alone, as a user without rights."""
    for key, value in _HARDENED.items():
        assert unit[key] == [value], key
    (user,) = unit["User"]
    assert user in {"piecework", "piecework-prefect"}
    assert unit["StateDirectory"] == [user]
    assert unit["WorkingDirectory"] == [f"/var/lib/{user}"]
    assert int(unit["TimeoutStopSec"][0]) >= 30
    assert unit["MemoryMax"]


@pytest.mark.parametrize("unit", _BY_NAME.values(), ids=_IDS)
def test_a_program_that_is_stopped_has_not_failed(unit: dict[str, list[str]]) -> None:
    """SIGTERM interrupts a command of piecework with 130, even while it starts."""
    if "/bin/piecework " in unit["ExecStart"][0]:
        is_pass = "/bin/piecework run" in unit["ExecStart"][0]
        assert unit["SuccessExitStatus"] == ["5 130" if is_pass else "130"]


@pytest.mark.parametrize("unit", _BY_NAME.values(), ids=_IDS)
def test_a_program_that_must_run_is_started_again(unit: dict[str, list[str]]) -> None:
    """A pass ends; the timer starts the next one."""
    if unit["Type"] == ["oneshot"]:
        assert "Restart" not in unit
    else:
        assert unit["Restart"] == ["always"]


@pytest.mark.parametrize("unit", _BY_NAME.values(), ids=_IDS)
def test_credentials_of_a_unit_are_handed_to_it_alone(unit: dict[str, list[str]]) -> None:
    """What a variable names below `%d` is loaded."""
    loaded = {line.partition(":")[0] for line in unit.get("LoadCredential", [])}
    variables = " ".join(unit["Environment"])
    assert set(re.findall(r"%d/([\w-]+)", variables)) == loaded
    assert not re.search("PASSWORD|SECRET|TOKEN", variables)


@pytest.mark.parametrize("unit", _BY_NAME.values(), ids=_IDS)
def test_the_command_of_a_unit_is_accepted(unit: dict[str, list[str]]) -> None:
    """An option that was renamed fails here; `%i` is a campaign's name."""
    (line,) = unit["ExecStart"]
    program, *words = shlex.split(line.replace("%i", "birds"))
    if Path(program).name == "prefect":
        return  # test_prefect_commands.py
    assert program == "/opt/piecework/bin/piecework"
    check_accepted(words)


def test_timers_start_units_that_exist() -> None:
    """Each by the name that both share."""
    folder = UNITS[0].parent
    timers = sorted(folder.glob("*.timer"))
    assert timers
    for timer in timers:
        assert timer.with_suffix(".service").name in _BY_NAME
        assert settings(timer)["WantedBy"] == ["timers.target"]


def test_the_users_of_the_units_are_made() -> None:
    """`systemd-sysusers` reads the file."""
    text = (UNITS[0].parent / "piecework.sysusers").read_text()
    made = set(re.findall(r"^u (\S+) ", text, re.MULTILINE))
    assert made == {unit["User"][0] for unit in _BY_NAME.values()}
