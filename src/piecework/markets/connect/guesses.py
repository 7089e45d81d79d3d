"""What piecework assumes about Connect without having read it in Connect's document.

`piecework market connect doctor` tries those that an account can confirm without money.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """An assumption, and what happens if it is wrong.

    Attributes:
        name: its name in the doctor's output.
        sentence: what is assumed.
        otherwise: what happens if it is wrong.
        tried_by: what confirms it: "reading", "writing" (`--write`) or "a participant".
    """

    name: str
    sentence: str
    otherwise: str
    tried_by: str


STATUS = Guess(
    name="status",
    sentence="a project's answer has its `status`",
    otherwise="the client reads it from the lists of each status, with more calls",
    tried_by="writing",
)
COST = Guess(
    name="cost",
    sentence="`POST demographics/feasibility` answers with `totalProjectCost`, fee included",
    otherwise="`serve` needs --fee-percent",
    tried_by="reading",
)
PARTICIPANTS = Guess(
    name="participants",
    sentence="`POST account/validate-participants` answers with `participants`, each "
    "with `participantId` and `isValid`",
    otherwise="a made-up participant is refused only while the project has no participant at work",
    tried_by="reading",
)
SPENT_TOKEN = Guess(
    name="spent token",
    sentence="a second call with the same idempotency token is refused with HTTP 4xx",
    otherwise="a bonus with a lost reply could be paid twice; do not use --live",
    tried_by="writing",
)
EDIT = Guess(
    name="edit",
    sentence="places are added by an edit with only `name` and `participants`",
    otherwise="a project keeps its places, and `market connect status` says so",
    tried_by="a participant",
)
LINK = Guess(
    name="link",
    sentence="participants arrive with the query parameters participantId, "
    "assignmentId and projectId",
    otherwise="they are refused at the door; name the parameters with --link-names",
    tried_by="a participant",
)
LISTED = Guess(
    name="listed",
    sentence="in `GET assignments/{project}`, an unfinished assignment is missing or "
    "has no `completionTime`",
    otherwise="a visit under way could be closed as finished without answers",
    tried_by="a participant",
)
REJECTED_PLACES = Guess(
    name="rejected places",
    sentence="a rejection gives the money back and opens no new place",
    otherwise="more participants come than there is work for",
    tried_by="a participant",
)
UNFINISHED_BONUS = Guess(
    name="unfinished bonus",
    sentence="a participant who did the work but did not finish at Connect can get a "
    "bonus by their id",
    otherwise="`market connect status` names the amount, and a person pays it by a project "
    "that admits only them",
    tried_by="a participant",
)

GUESSES = (
    STATUS,
    COST,
    PARTICIPANTS,
    SPENT_TOKEN,
    EDIT,
    LINK,
    LISTED,
    REJECTED_PLACES,
    UNFINISHED_BONUS,
)
"""All of them, in the order in which the doctor shows them."""
