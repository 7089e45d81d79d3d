"""A signature does something once: the same signed request, sent again, is refused.

Signatures carry a time in whole seconds and no nonce. So within a second an honest
program sends the same signature again in two cases: its SDK repeats a call whose reply
was lost, or it does the same thing twice and means it. Therefore a signature is taken
once more, within five seconds of its first use, if the client numbers the attempt
differently or not at all. Those numbers are not signed; whoever steals a signature can
invent some. That is why once more is all there is: the third time is throttled, which
makes an SDK sign anew, and after five seconds it is refused.

A call that carries a request token has nothing to spend: the token does it once.

What was spent is written in the same transaction as what it did. So a refused request
spends nothing, a restart forgets nothing, and two processes on one file agree.
"""

from dataclasses import dataclass
from datetime import datetime

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import clock
from piecework.marketplace.state.transaction import Transaction

SAME_MOMENT_MS = 5 * clock.SECOND
"""How far apart two honest calls of one second may arrive."""

_MOST_USES = 2
_LONGEST_ATTEMPT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A signature that was found to be right.

    Attributes:
        signature: its 32 bytes.
        attempt: the number that the client gives this attempt; empty if it does not.
        signed_at: the time that it names.
    """

    signature: bytes
    attempt: str
    signed_at: datetime


def attempt_of(invocation: str, attempt: str) -> str:
    """The number of an attempt, from the SDKs' two headers."""
    return f"{invocation} {attempt}".strip()[:_LONGEST_ATTEMPT]


def spend(transaction: Transaction, proof: Proof) -> None:
    """Write down that this signature has done something.

    Raises:
        Refusal: it has already. Later, or with the number of an attempt that was made,
            with no error of signatures or clocks, since SDKs answer those by signing
            anew, and would do twice what was done once.
    """
    transaction.execute(
        "DELETE FROM spent_signatures WHERE dies_ms < ?", transaction.now_ms
    )
    seen = transaction.one(
        "SELECT count(*) AS rows, sum(uses) AS uses, min(spent_ms) AS first_ms, "
        "max(attempt = ?) AS is_same FROM spent_signatures WHERE signature = ?",
        proof.attempt,
        proof.signature,
    )
    if seen and seen["rows"]:
        is_late = transaction.now_ms - seen["first_ms"] > SAME_MOMENT_MS
        if is_late or (proof.attempt and seen["is_same"]):
            raise Refusal(
                "AccessDeniedException",
                "This signed request was carried out before; sign a new one.",
            )
        if seen["uses"] >= _MOST_USES:
            raise Refusal(
                "ThrottlingException",
                "This signature was used twice in a moment; sign the call anew.",
            )
    transaction.execute(
        "INSERT INTO spent_signatures (signature, attempt, spent_ms, dies_ms) "
        "VALUES (?, ?, ?, ?) "
        "ON CONFLICT (signature, attempt) DO UPDATE SET uses = uses + 1",
        proof.signature,
        proof.attempt,
        transaction.now_ms,
        clock.to_ms(proof.signed_at + clock.SIGNATURE_SKEW),
    )
