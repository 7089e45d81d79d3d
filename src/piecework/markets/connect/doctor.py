"""Check an account at Connect, and which of our guesses it confirms.

By default it only reads. With `writes` it also creates a project without publishing it,
and archives it; that costs nothing.
"""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from piecework.foundation.client.checks import Check, failed, passed
from piecework.foundation.client.errors import ApiError, Lost, NoAccess, Refused
from piecework.markets.connect.client import Connect, NewProject, Project
from piecework.markets.connect.values import CONNECT, SERVICE


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


_NAME = "piecework market connect doctor"
_NEW_KEY = f"ask Connect's support for an API key, then: export {SERVICE.token_variable}=..."
_NOT_A_PERSON = "0" * 32


@dataclass(slots=True)
class Doctor:
    """One examination.

    Attributes:
        connect: a client; None without a key.
        address: the API's address.
        project_id: a project whose assignments are read too; "" for none.
        writes: whether a project is created, and archived.
        token: makes a text for a new idempotency token.
    """

    connect: Connect | None
    address: str = CONNECT
    project_id: str = ""
    writes: bool = False
    token: Callable[[], str] = field(default=lambda: secrets.token_hex(16))

    def examine(self) -> Iterator[Check]:
        """Run each check in turn."""
        if self.address == CONNECT:
            yield passed("address", self.address)
        else:
            yield Check(
                name="address",
                level="warn",
                sentence=f"{self.address} is not Connect's, and the key is sent there",
                next_step=f"unset {SERVICE.url_variable}, unless you know that server",
            )
        if self.connect is None:
            yield Check(
                name="key",
                level="fail",
                sentence=f"neither {SERVICE.token_variable} nor --token-file is set",
                next_step=_NEW_KEY,
            )
            return
        try:
            balance = self.connect.account.balance()
        except NoAccess as fault:
            yield Check(name="key", level="fail", sentence=str(fault), next_step=_NEW_KEY)
            return
        except ApiError as fault:
            yield failed("key", fault)
            return
        yield passed("key", "Connect accepts it")
        yield _balance(balance.available_cents)
        yield from self._read(self.connect)
        yield from self._guesses(self.connect)

    def _read(self, connect: Connect) -> Iterator[Check]:
        try:
            newest = next(connect.projects.all(), None)
            yield passed(
                "projects",
                "the account has no project yet"
                if newest is None
                else f"the newest is {newest.name!r}",
            )
            if self.project_id:
                finished = connect.assignments.of_project(self.project_id)
                counts = connect.projects.statistics(self.project_id)
                yield passed(
                    "assignments", f"{len(finished)} finished, {counts.in_progress} at work"
                )
        except ApiError as fault:
            yield failed("projects", fault)

    def _guesses(self, connect: Connect) -> Iterator[Check]:
        results: dict[str, Check] = {}
        results[COST.name] = _tried(COST, lambda: _cost(connect))
        results[PARTICIPANTS.name] = _tried(PARTICIPANTS, lambda: _participants(connect))
        if self.writes:
            results |= self._write(connect)
        for guess in GUESSES:
            yield results.get(guess.name) or Check(
                name=guess.name,
                level="ok",
                sentence=f"not tried: {guess.sentence}",
                next_step=_NOT_TRIED[guess.tried_by].format(otherwise=guess.otherwise),
            )

    def _write(self, connect: Connect) -> dict[str, Check]:
        token = self.token()
        try:
            made = connect.projects.create(_SAMPLE, token=token)
            again = _tried(SPENT_TOKEN, lambda: _is_spent(connect, token))
            shown = _tried(STATUS, lambda: _has_status(connect, made))
            connect.projects.set_status(made.id, "Archived")
        except ApiError as fault:
            return {STATUS.name: failed(STATUS.name, fault)}
        return {STATUS.name: shown, SPENT_TOKEN.name: again}


_SAMPLE = NewProject(
    name=_NAME,
    internal_name=_NAME,
    url="https://example.org/",
    payment_cents=100,
    minutes=5,
    most_minutes=15,
    participants=1,
    summary="A check of the account. It is never published.",
    code="DOCTOR",
)
_NOT_TRIED = {
    "reading": "if it is wrong, {otherwise}",
    "writing": "--write tries it without money; if it is wrong, {otherwise}",
    "a participant": "only a participant can confirm it; if it is wrong, {otherwise}",
}


def _balance(cents: int) -> Check:
    if cents > 0:
        return passed("balance", f"${cents / 100:,.2f} can be spent")
    return Check(
        name="balance",
        level="warn",
        sentence="the account has no money, so no project can be published",
        next_step="add funds at Connect",
    )


def _tried(guess: Guess, holds: Callable[[], bool]) -> Check:
    try:
        is_right = holds()
    except ApiError as fault:
        return Check(
            name=guess.name,
            level="warn",
            sentence=f"{guess.sentence}: {fault}",
            next_step=f"if it is wrong, {guess.otherwise}",
        )
    if is_right:
        return passed(guess.name, f"confirmed: {guess.sentence}")
    return Check(
        name=guess.name,
        level="warn",
        sentence=f"wrong: {guess.sentence}",
        next_step=guess.otherwise,
    )


def _cost(connect: Connect) -> bool:
    pay = _SAMPLE.payment_cents
    cost = connect.projects.cost_cents(payment_cents=pay, minutes=_SAMPLE.minutes)
    return cost >= pay


def _participants(connect: Connect) -> bool:
    known = connect.account.valid_participants([_NOT_A_PERSON])
    return known.get(_NOT_A_PERSON) is False


def _has_status(connect: Connect, made: Project) -> bool:
    return connect.projects.get(made.id).status == "Unpublished"


def _is_spent(connect: Connect, token: str) -> bool:
    try:
        second = connect.projects.create(_SAMPLE, token=token)
    except Lost:
        return False
    except Refused:
        return True
    connect.projects.set_status(second.id, "Archived")
    return False
