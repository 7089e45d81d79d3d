"""Replay protection: a signed request that is sent again is refused.

Signatures carry a time in whole seconds and no nonce. So within a second an honest
program sends the same signature again in two cases: its SDK repeats a call after a lost
reply, or it intends the same call twice. Therefore a signature is accepted a second
time within five seconds of its first use, if the client numbers the attempt differently
or not at all. These numbers are not signed, so a thief of a signature can invent some.
Therefore the third use is throttled, which makes an SDK sign again, and after five
seconds any use is refused.

A call with a request token does not use up its signature: the token makes it unique.

The used signature is stored in the same transaction as the call's effects. So a refused
request does not use it up, a restart does not forget it, and two processes on one file
agree.
"""

from dataclasses import dataclass
from datetime import datetime

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import clock
from piecework.marketplace.state.transaction import Transaction

SAME_MOMENT_MS = 5 * clock.SECOND
"""The longest time between the arrivals of two honest calls of one second."""

_MOST_USES = 2
_LONGEST_ATTEMPT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A verified signature.

    Attributes:
        signature: its 32 bytes.
        attempt: the client's number of this attempt; empty without one.
        signed_at: the time in the signature.
    """

    signature: bytes
    attempt: str
    signed_at: datetime


def attempt_of(invocation: str, attempt: str) -> str:
    """Return the number of an attempt, from the SDKs' two headers."""
    return f"{invocation} {attempt}".strip()[:_LONGEST_ATTEMPT]


def spend(transaction: Transaction, proof: Proof) -> None:
    """Record the use of this signature.

    Raises:
        Refusal: it was used before. Later repeats, and repeats with the number of an
            earlier attempt, do not get a signature or clock error, because SDKs would
            sign again and repeat the call.
    """
    transaction.execute(
        "DELETE FROM spent_signatures WHERE dies_ms < ?", transaction.now_ms
    )
    seen = transaction.first_row(
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
                "This signature was just used twice; sign the call again.",
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
