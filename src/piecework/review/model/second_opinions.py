"""What a second person says of an answer that was reviewed: it decides nothing.

It is asked for without saying so, to measure how far reviewers agree.
"""

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError
from piecework.domain.verdicts import Decision, Verdict
from piecework.store import reviews
from piecework.store.database import writing


def give_second_opinion(
    opened: OpenedCampaign, answer_id: str, verdict: Verdict, *, because: str, by: str
) -> int:
    """Keep a second verdict about an answer; the act's number.

    Raises:
        ConfigError: it is no verdict about an answer.
    """
    if verdict not in {"keep", "drop"}:
        raise ConfigError(["of this answer, say whether it is to be kept or dropped"])
    with writing(opened.store):
        return reviews.add_second(
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
