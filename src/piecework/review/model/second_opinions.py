"""A second person's verdict about a reviewed answer, which decides nothing.

The page does not say that it is a second opinion. It measures how far reviewers agree.
"""

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError
from piecework.domain.verdicts import Decision, Verdict
from piecework.store import reviews
from piecework.store.database import writing


def give_second_opinion(
    opened: OpenedCampaign, answer_id: str, verdict: Verdict, *, because: str, by: str
) -> int:
    """Store a second verdict about an answer; return the act's number.

    Raises:
        ConfigError: the verdict is not one about an answer.
    """
    if verdict not in {"keep", "drop"}:
        raise ConfigError(["keep or drop this answer; no other decision is asked for"])
    with writing(opened.store):
        return reviews.add_second_opinions(
            opened.store,
            [
                Decision(
                    subject_kind="answer",
                    subject_id=answer_id,
                    verdict=verdict,
                    decided_by=by,
                    decided_at=opened.clock.now(),
                    because=because,
                )
            ],
        )
