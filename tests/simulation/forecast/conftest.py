"""Fixtures of the engine's tests: a campaign on a real marketplace."""

from tests.engine.conftest import at_work, campaign_text

__all__ = ["at_work", "campaign_text"]
