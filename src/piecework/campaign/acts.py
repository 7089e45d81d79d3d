"""How decisions are carried out: the keys of their acts, and how those may end."""

from piecework.domain.verdicts import Decision

DONE = "done"
PAID_ALREADY = "approved by the platform before"
REJECTED_ALREADY = "rejected elsewhere before"
FORGET = "forget"
"""The operation that gives up what the marketplace has lost; it makes no call."""
RETURNED = "returned"
"""The operation of an intent of `FORGET` whose subject the marketplace has again."""
FORGOTTEN = "the marketplace has lost the work"
NOTHING_TO_KEEP_OUT_OF = "nothing is left to keep the worker out of"
"""Outcomes of acts."""

ELSEWHERE = "somebody else"
"""Who decided what was done outside of the campaign."""


def forget_key(name: str) -> str:
    """The key of the intent that gives up what the marketplace has lost.

    Args:
        name: id of an assignment, or key of a HIT.
    """
    return f"forget:{name}"


def settlement_key(decision: Decision, *, times: int = 1) -> str:
    """The key of the intent that carries a decision out; its operation is the verdict.

    Decisions that are acted on are `approve`, `reject`, `exclude`, `block` and
    `include`.

    Args:
        decision: what is to be carried out.
        times: how often its subject has had this verdict by now. A worker may be
            excluded and included again and again; each time is an act of its own.
    """
    key = f"{decision.verdict}:{decision.subject_id}"
    return key if times == 1 else f"{key}:{times}"
