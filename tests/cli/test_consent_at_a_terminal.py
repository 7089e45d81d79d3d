"""The amount that `--live` may spend: shown, typed back, and read from an option."""

import os
import pty
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.cli.consent import consent_to_spend, refuse_unseen_pictures
from piecework.domain.errors import ConfigError, PieceworkError
from piecework.engine.opening import open_on_marketplace
from piecework.engine.pass_request import amount_cents
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.state.money import MTURK, PriceList
from tests.growing_campaign import TEXT as GROWING
from tests.growing_campaign import write_growing
from tests.small_campaign import CAMPAIGN, write_campaign


@pytest.mark.parametrize("text", ["-1", "2.999", "much", "1e9", "", "1,000", "NaN"])
def test_what_is_no_amount_is_a_fault_of_use(text: str) -> None:
    """In words, before anything is asked of anybody."""
    with pytest.raises(ConfigError, match=r"--spend-at-most .* is not an amount"):
        amount_cents(text, "USD")


@contextmanager
def _market(
    folder: Path, monkeypatch: pytest.MonkeyPatch, prices: PriceList = MTURK
) -> Iterator[str]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    with serve(Marketplace(folder / "marketplace.db", rehearsal=True, prices=prices)) as running:
        yield running.endpoint_url


def _at_a_terminal(
    path: Path,
    endpoint: str,
    typed: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    as_json: bool = False,
) -> tuple[int, str]:
    """Ask for consent at a terminal, where something is typed; exit code and words.

    Nothing goes to the output, which may be a file.
    """
    ours, theirs = pty.openpty()
    os.write(ours, f"{typed}\n".encode())
    with os.fdopen(theirs) as terminal, monkeypatch.context() as patched:
        patched.setattr(sys, "stdin", terminal)
        try:
            campaign = load_campaign(path)
            cents = consent_to_spend(
                campaign, endpoint, live=True, stated_cents=None, as_json=as_json
            )
            code, ending = 0, f"consent to {cents}"
        except PieceworkError as refused:
            code, ending = refused.exit_code, str(refused)
    os.close(ours)
    output, errors = capsys.readouterr()
    assert not output.strip()
    return code, errors + ending


def test_a_derived_budget_is_typed_back_and_not_raised_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A store keeps what was typed; a dearer reward does not raise it."""
    path = write_campaign(tmp_path, CAMPAIGN.replace('budget = "20.00"\n', ""))
    derived = load_campaign(path).rewards.budget_cents
    with _market(tmp_path, monkeypatch) as endpoint:
        typed = f"{derived / 100:.2f}"
        code, shown = _at_a_terminal(path, endpoint, typed, monkeypatch, capsys)
        assert (code, shown.count("is derived")) == (0, 1), shown
        assert f"consent to {derived}" in shown
        with open_on_marketplace(
            load_campaign(path), endpoint, live=True, spend_at_most_cents=derived
        ) as run:
            assert run.campaign.rewards.cap_cents == derived
        path.write_text(path.read_text().replace('reward = "0.50"', 'reward = "0.90"'))
        dearer = load_campaign(path)
        assert dearer.rewards.budget_cents > derived
        with open_on_marketplace(dearer, endpoint, live=True) as run:
            assert run.campaign.rewards.cap_cents == derived


@pytest.mark.parametrize(
    ("typed", "code", "words"),
    [
        ("$20.00", 0, "consent to 2000"),
        ("20", 0, "consent to 2000"),
        ("2.40", 3, "nothing was posted"),
        ("yes", 3, "nothing was posted"),
        ("", 3, "nothing was posted"),
    ],
)
def test_the_amount_is_shown_and_has_to_be_typed_back(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    typed: str,
    code: int,
    words: str,
) -> None:
    """The most that it can cost within its caps, and nothing else will do.

    A batch has one HIT of two items, each wanted twice; its dearest round is one HIT
    for two workers and one for one: $1.80. Five rounds of two batches are $18, with the
    plain cost $20.40; and the cap is $20.
    """
    path = write_campaign(tmp_path)
    with _market(tmp_path, monkeypatch) as endpoint:
        ended, printed = _at_a_terminal(path, endpoint, typed, monkeypatch, capsys)
    assert "can cost up to $20.00" in printed
    assert "Prolific pays its participants" in printed
    assert (ended, words in printed) == (code, True), printed


@pytest.mark.parametrize("rows", [[], ["i1", "i2", "i3"]])
def test_items_that_grow_can_cost_the_whole_budget(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    rows: list[str],
) -> None:
    """What is agreed to caps all rows that may follow, so it is no price of the first ones."""
    path = write_growing(tmp_path, rows, GROWING)
    with _market(tmp_path, monkeypatch) as endpoint:
        code, printed = _at_a_terminal(path, endpoint, "900", monkeypatch, capsys)
        assert (code, "can cost up to $900.00" in printed) == (0, True), printed
        refuse_unseen_pictures(load_campaign(path), endpoint)


def test_a_program_that_reads_the_output_is_asked_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output of --json is one document, so the amount has to be an option."""
    path = write_campaign(tmp_path)
    code, printed = _at_a_terminal(
        path, "http://127.0.0.1:9", "20", monkeypatch, capsys, as_json=True
    )
    assert (code, "no person has agreed to an amount" in printed) == (3, True)


def test_the_amount_is_what_the_marketplace_takes_in_its_currency(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As above without a cap that is in the way: 4 x 0.60 + 10 x 1.80 are 20.40.

    At 100 % instead of 20 % that is 34.00. Dollars typed back agree to nothing.
    """
    pounds = PriceList(currency="GBP", percent=Decimal(100), extra_percent_for_many=Decimal(0))
    text = CAMPAIGN.replace('reward = "', 'reward = "£')
    path = write_campaign(tmp_path, text.replace('"20.00"', '"90.00"'))
    with _market(tmp_path, monkeypatch, pounds) as endpoint:
        for typed, code in (("£34.00", 0), ("34", 0), ("$34.00", 3)):
            ended, printed = _at_a_terminal(path, endpoint, typed, monkeypatch, capsys)
            assert "can cost up to £34.00" in printed
            assert ended == code
        with pytest.raises(ConfigError, match="is not in pounds"):
            amount_cents("$34", "GBP")
