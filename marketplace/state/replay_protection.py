"""A signature pays once: the same signed request, sent again, is refused.

Signatures carry a time in whole seconds and no nonce, so a program that posts the same
HIT twice within a second sends the same signature twice, and rightly. Hence two rules.
Within five seconds of the first, the same signature is taken again, unless the client
numbers its attempts, as the AWS SDKs do in headers that are not signed, and the number
is the same too: then some machine on the way has repeated the bytes. Later than that it
is refused, until the signature is too old anyway.

What was spent is written in the same transaction as what it did. So a refused request
spends nothing, a restart forgets nothing, and two processes on one file agree.
"""

from dataclasses import dataclass
from datetime import datetime

from marketplace.exceptions import Refusal
from marketplace.state import clock
from marketplace.state.transaction import Transaction

SAME_MOMENT_MS = 5 * clock.SECOND
"""How far apart two honest calls of one second may arrive."""

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
        Refusal: it has already. No error of signatures or clocks, since SDKs answer
            those by signing anew, and would do twice what was done once.
    """
    transaction.execute(
        "DELETE FROM spent_signatures WHERE dies_ms < ?", transaction.now_ms
    )
    seen = transaction.all(
        "SELECT attempt, spent_ms FROM spent_signatures WHERE signature = ?",
        proof.signature,
    )
    if seen:
        is_late = (
            transaction.now_ms - min(row["spent_ms"] for row in seen) > SAME_MOMENT_MS
        )
        if is_late or proof.attempt in {row["attempt"] for row in seen} - {""}:
            raise Refusal(
                "AccessDeniedException",
                "This signed request was carried out before; sign a new one.",
            )
    transaction.execute(
        "INSERT OR IGNORE INTO spent_signatures (signature, attempt, spent_ms, "
        "dies_ms) VALUES (?, ?, ?, ?)",
        proof.signature,
        proof.attempt,
        transaction.now_ms,
        clock.to_ms(proof.signed_at + clock.SIGNATURE_SKEW),
    )
