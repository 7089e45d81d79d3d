"""Whom to recruit is stated only where participants of another market come."""

import pytest

from piecework.domain.errors import PlatformRefused
from piecework.domain.hit import HitType, Recruiting, Share
from piecework.domain.ids import QualificationTypeId
from piecework.platforms.mturk import MTurk
from tests.marketplace.market import Market

LANGUAGE = "PROLIFICFIRSTLANGUAGE"


def test_a_marketplace_without_participants_refuses_it(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Instead of ignoring the lists; and one without the extension is not asked."""
    platform = MTurk(market.endpoint, access_key="LAB", secret_key="any")  # noqa: S106
    market._open.callback(platform._client.close)
    share = Share(type_id=QualificationTypeId(LANGUAGE), percent=((0, 40), (1, 60)))
    hit_type = HitType(
        title="Birds",
        description="Describe birds.",
        keywords=("birds",),
        reward_cents=50,
        assignment_duration_seconds=600,
        auto_approval_delay_seconds=3600,
        requirements=(),
        recruiting=Recruiting(only=("a" * 24,), shares=(share,)),
    )
    with pytest.raises(PlatformRefused, match="--crowd prolific"):
        platform.hit_type(hit_type)
    monkeypatch.setattr(platform, "_knows", lambda name: name != "recruiting")
    with pytest.raises(PlatformRefused, match="cannot recruit by lists or shares"):
        platform.hit_type(hit_type)
