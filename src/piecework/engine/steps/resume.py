"""Resolve payments that were cut short: book them, or drop them if not made."""

from piecework.campaign.opened import CampaignRun
from piecework.engine.reader import Reader
from piecework.engine.step import Step
from piecework.payments.interrupted_payments import close_interrupted


def due(reader: Reader) -> bool:
    """Return whether a person began a payment with an unknown outcome."""
    return reader.snapshot().interrupted_payments


def act(run: CampaignRun, _due: bool) -> int:  # noqa: FBT001 - the value of `due`
    """Ask the platform about each; return how many there were."""
    return close_interrupted(run)


resume = Step("resume", due, act)
