"""Look for payments that a death cut short: book them, or forget them if not made."""

from piecework.campaign.opened import CampaignRun
from piecework.engine.reader import Reader
from piecework.engine.step import Step
from piecework.payments.interrupted_payments import close_interrupted


def due(reader: Reader) -> bool:
    """Whether a person began a payment whose outcome is not known."""
    return reader.snapshot().interrupted_payments


def act(run: CampaignRun, _due: bool) -> int:  # noqa: FBT001 - what `due` gives
    """Ask the platform about each; how many there were."""
    return close_interrupted(run)


resume = Step("resume", due, act)
