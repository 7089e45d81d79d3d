"""Who is eligible, what it costs and how long it takes, from the offline Prolific."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result

from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from piecework.cli.main import main
from piecework.domain.money import SIGNS, Currency
from tests.small_campaign import CAMPAIGN, write_campaign

ASKS = "\n[prolific]\nfirst-language = [{choice}]\n"
PEOPLE = 30


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of an offline Prolific with 30 speakers of English."""
    start = datetime(2026, 1, 5, 9, tzinfo=UTC)
    with serve(Options(start=start)) as address:
        for _ in range(PEOPLE):
            httpx.post(
                f"{address}/emulator/participants",
                json={"country": "GB", "answers": {"first-language": ["0"]}},
            ).raise_for_status()
        yield address


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes a campaign in pounds with these requirements; its pictures are not asked for."""
    nothing = (0, ())
    tried = "piecework.simulation.rehearsals.checking._try_pictures"
    monkeypatch.setattr(tried, lambda *_, **__: nothing)

    def write(requirements: str = ASKS.format(choice=0), currency: Currency = "GBP") -> Path:
        text = CAMPAIGN.replace('reward = "0.50"', f'reward = "{SIGNS[currency]}0.50"')
        # Prolific asks for $8.00 or £6.00 an hour at least.
        text = text.replace('hourly_wage = "5.00"', 'hourly_wage = "9.00"')
        assert text != CAMPAIGN
        return write_campaign(tmp_path, text + requirements, pictures=4)

    return write


def ask(url: str, *words: str, token: str = "rehearsal-token") -> Result:  # noqa: S107 - of the emulator
    """Run a command with an account."""
    environment = {"PROLIFIC_TOKEN": token, "PROLIFIC_URL": url}
    return CliRunner().invoke(main, words, env=environment, catch_exceptions=False)


def test_it_says_people_cost_and_time(url: str, campaign: Callable[..., Path]) -> None:
    """The cost is Prolific's own, with fees and tax; nothing is created there."""
    path = str(campaign())
    known = json.loads(ask(url, "check", "--reach", path, "--json").stdout)["prolific"]
    assert known["eligible"] == PEOPLE
    assert known["currency"] == "GBP"
    # Two batches of one HIT with two answers: nobody does a HIT twice.
    assert (known["hits_per_visit"], known["places"], known["reward_cents"]) == (1, 4, 50)
    with httpx.Client(
        base_url=f"{url}/api/v1", headers={"authorization": "Token rehearsal-token"}
    ) as client:
        cost = client.post(
            "/study-cost-calculator/",
            json={"reward": known["reward_cents"], "total_available_places": known["places"]},
        ).json()
        studies = client.get("/studies/").json()["results"]
    assert known["cost_cents"] == cost["total_cost"] > 50 * 4
    assert studies == []
    # Two batches, one after the other: each has a study of its own.
    [first, second] = known["batches"]
    assert known["hours"] == round(first["hours"] + second["hours"], 2)
    assert first["hours"] == round(first["places"] * 50 / PEOPLE, 2)
    assert known["cost_cents"] == first["cost_cents"] + second["cost_cents"]
    reply = ask(url, "check", "--reach", path)
    assert reply.exit_code == 0, reply.output
    assert "eligible at Prolific: 30 participants" in reply.output
    assert "study of batch 2: 2 visits of 1 HIT" in reply.output
    assert f"{known['hours']:g} hours, as Prolific predicts" in reply.output


def test_a_study_has_no_more_hits_in_a_visit_than_the_campaign(
    url: str, campaign: Callable[..., Path]
) -> None:
    """Two HITs of a minute for three people each: three visits of two, and not two of three."""
    path = campaign()
    text = (
        path.read_text().replace("batches = 2", "batches = 1").replace("answers = 2", "answers = 3")
    )
    path.write_text(text.replace("budget", "minutes = 1\nbudget"))
    reply = ask(url, "check", str(path), "--reach")
    assert "study: 3 visits of 2 HITs, 2 minutes and £1.00 each; £" in reply.output
    document = json.loads(ask(url, "check", str(path), "--reach", "--json").stdout)["prolific"]
    assert (document["places"], document["hits_per_visit"]) == (3, 2)
    # The advice is for those who did not just follow it.
    assert "check --reach" not in reply.output
    visits_line = (
        "at Prolific: 3 participants, each does 2 HITs (4 items), gets £1.00, about 2 minutes"
    )
    plain = ask(url, "check", str(path)).output
    assert visits_line in plain
    assert "check --reach asks your account at Prolific" in plain
    without = ask(url, "check", str(path), "--reach", token="").output
    assert visits_line in without
    assert "PROLIFIC_TOKEN is not set" in without


def test_check_asks_it_with_reach_and_a_token(url: str, campaign: Callable[..., Path]) -> None:
    """Without --reach or a token, or for no participants, it is not asked."""
    everybody = ask(url, "check", str(campaign("\n[prolific]\n")), "--reach")
    assert "eligible at Prolific: 30 participants" in everybody.output
    assert "study of batch 1: 2 visits of 1 HIT" in everybody.output
    path = str(campaign())
    reply = ask(url, "check", path, "--reach")
    assert reply.exit_code == 0, reply.output
    assert "eligible at Prolific: 30 participants" in reply.output
    document = json.loads(ask(url, "check", path, "--reach", "--json").stdout)
    assert document["prolific"]["eligible"] == PEOPLE
    for words in (("check", path), ("check", path, "--reach")):
        token = "" if "--reach" in words else "rehearsal-token"
        silent = ask(url, *words, token=token)
        assert silent.exit_code == 0, silent.output
        assert "eligible at Prolific" not in silent.output
    plain = str(campaign(""))
    assert "eligible" not in ask(url, "check", plain, "--reach").output


def test_nobody_eligible_is_said_in_one_sentence(url: str, campaign: Callable[..., Path]) -> None:
    """Prolific counts fewer than 25 as none."""
    reply = ask(url, "check", "--reach", str(campaign(ASKS.format(choice=1))))
    assert reply.exit_code == 0, reply.output
    assert "WARNING: fewer than 25 participants of Prolific are eligible" in reply.output


@pytest.mark.parametrize(
    ("requirements", "currency", "words"),
    [
        (ASKS.format(choice=77), "GBP", "first-language has no choice 77"),
        ("\n[prolific]\nshoe-size = [1]\n", "GBP", "no filter shoesize (PROLIFICSHOESIZE)"),
        ("\n[prolific]\nfirst-langage = [1]\n", "GBP", "did you mean first-language?"),
        (ASKS.format(choice=0), "USD", "pays in GBP, and the campaign in USD"),
    ],
)
def test_what_prolific_would_refuse_is_said_before_anything_is_sent(
    url: str, campaign: Callable[..., Path], requirements: str, currency: str, words: str
) -> None:
    """Exit code 2 and a sentence."""
    path = campaign(requirements, currency)
    reply = ask(url, "check", "--reach", str(path))
    assert reply.exit_code == 2, reply.output
    assert words in " ".join(reply.output.split())


def test_a_prediction_that_the_account_lacks_is_unknown(
    url: str, campaign: Callable[..., Path]
) -> None:
    """The rest is still said."""
    fault = {
        "operation": "post-study-predicted-recruitment-time",
        "kind": "server_error",
        "times": 3,
    }
    script = httpx.put(f"{url}/emulator/faults", json=[fault])
    assert script.is_success, script.text
    reply = ask(url, "check", "--reach", str(campaign()))
    httpx.put(f"{url}/emulator/faults", json=[]).raise_for_status()
    assert reply.exit_code == 0, reply.output
    assert "begins: unknown" in reply.output
    assert "eligible at Prolific: 30 participants" in reply.output
