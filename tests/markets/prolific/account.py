"""An account as the doctor meets it: what is answered to each of its questions."""

from typing import Any

from tests.answering import Answer, Asked
from tests.markets.prolific.calls import ID

FILTERS = (
    *("participant_group_allowlist", "participant_group_blocklist", "approval_rate"),
    *("approval_numbers", "current-country-of-residence", "age", "first-language"),
)


def healthy() -> dict[str, Any]:
    """By path below the API; a test changes what it is about."""
    return {
        "users/me/": {"id": "u1", "email": "ann@example.org"},
        "workspaces/": {"results": [{"id": ID, "title": "Vision lab"}]},
        f"workspaces/{ID}/balance/": {
            "currency_code": "GBP",
            "total_balance": 60000,
            "available_balance": 50000,
        },
        "filters/": {"results": [{"filter_id": each} for each in FILTERS]},
        "reward-recommendations/": [
            {"currency": "GBP", "min_reward_per_hour": 600, "recommended_reward_per_hour": 900}
        ],
        "hooks/subscriptions/": {"results": []},
    }


class Account:
    """Answers from a table; what is not in it is not there."""

    def __init__(self, documents: dict[str, Any]) -> None:
        self.documents = documents

    def __call__(self, asked: Asked) -> Answer:
        """The answer to a call."""
        document = self.documents.get(asked.path.removeprefix("/api/v1/"))
        if isinstance(document, Answer):
            return document
        if document is None:
            return Answer(404, {"detail": "Not found."})
        return Answer(document=document)
