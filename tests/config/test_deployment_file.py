"""What a schedule may do is in a file on the worker's machine, and in no parameter."""

import inspect
from pathlib import Path

import pytest
import yaml

from piecework.config.trust import deployment_path, read_deployment
from piecework.domain.errors import ConfigError
from piecework.flows.advance import advance

ROOT = Path(__file__).resolve().parents[2]


def test_a_deployment_reads_the_file_beside_its_campaign(tmp_path: Path) -> None:
    """All of it; what is left out is the careful choice."""
    campaign = tmp_path / "birds.toml"
    deployment_path(campaign).write_text(
        'endpoint = "https://hits.example.org"\nlive = true\nspend_at_most = "120.00"\n'
    )
    read = read_deployment(campaign)
    assert (read.endpoint, read.live) == ("https://hits.example.org", True)
    assert (read.spend_at_most, read.allow_second_store) == ("120.00", False)
    assert (read.rehearsal, read.credentials_block) == (False, "")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("live = true", "endpoint: is missing"),
        ('endpoint = "x"\nlive = "yes"', "birds.deployment.toml:2: live"),
        ('endpoint = "x"\nanew = true', "anew: no such key"),
        ('endpoint = "x"\nspend_at_most = 9999', "spend_at_most"),
        ("endpoint", "not valid TOML"),
        ("a = " + "[" * 100_000, "not valid TOML"),
        ("a = " + "1" * 5_000, "not valid TOML"),
    ],
)
def test_a_faulty_file_lets_nothing_begin(tmp_path: Path, text: str, complaint: str) -> None:
    """Each fault with its key."""
    campaign = tmp_path / "birds.toml"
    deployment_path(campaign).write_text(text)
    with pytest.raises(ConfigError, match=complaint):
        read_deployment(campaign)


def test_a_key_with_a_typing_error_is_led_to_the_one_that_was_meant(tmp_path: Path) -> None:
    """Of the deployment file's keys, not of a campaign file's."""
    (tmp_path / "birds.deployment.toml").write_text('endpoint = "x"\nspend_at_mots = "5"\n')
    with pytest.raises(ConfigError, match="no such key; did you mean 'spend_at_most'"):
        read_deployment(tmp_path / "birds.toml")


def test_without_the_file_a_schedule_does_nothing(tmp_path: Path) -> None:
    """The sentence names it, and what belongs into it."""
    with pytest.raises(ConfigError, match=r"birds\.deployment\.toml") as fault:
        read_deployment(tmp_path / "birds.toml")
    assert "endpoint" in fault.value.next_step


def test_no_caller_of_a_deployment_can_choose_where_it_goes_or_what_it_costs() -> None:
    """The flow takes no such parameter, and the shipped deployment names none."""
    assert set(inspect.signature(advance.fn).parameters) == {
        "campaign",
        "dry_run",
        "poll_open_hits",
    }
    shipped = yaml.safe_load((ROOT / "prefect.yaml").read_text())
    for deployment in shipped["deployments"]:
        assert set(deployment["parameters"]) <= {"campaign", "dry_run"}
        campaign = deployment["parameters"]["campaign"].replace("{{ $PWD }}", str(ROOT))
        if deployment["name"] != "rehearse":
            assert read_deployment(Path(campaign)).rehearsal
