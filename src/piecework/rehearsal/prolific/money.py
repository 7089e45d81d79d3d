"""What things cost, and money that moves from one account to another.

A workspace's money is available until a study is published; then the cost of its open
places is held, and goes from there to participants, to Prolific and to the tax. Fee and
tax are rounded for each payment (half a penny up), so that what is held is the sum of
what will be paid. How Prolific itself rounds is not documented.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from piecework.rehearsal.prolific.errors import ApiError
from piecework.rehearsal.prolific.state import State

_PERCENT = Decimal(100)


@dataclass(frozen=True, slots=True)
class Cost:
    """What the requester pays, in minor units.

    Attributes:
        reward: what participants get of it.
        fee: what Prolific gets.
        vat: the tax on the fee.
    """

    reward: int
    fee: int
    vat: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.reward + self.fee + self.vat

    def times(self, count: int) -> "Cost":
        """So many of it."""
        return Cost(self.reward * count, self.fee * count, self.vat * count)


def cost_of(state: State, reward: int) -> Cost:
    """What one reward or bonus of this amount costs."""
    fee = _share(reward, state.fee_percent)
    return Cost(reward, fee, _share(fee, state.vat_percent))


def move(
    state: State,
    workspace_id: str,
    amount: int,
    *,
    kind: str,
    source: str,
    target: str,
    study_id: str | None = None,
    submission_id: str | None = None,
) -> None:
    """Move money between accounts and write it down; nothing is moved for 0.

    Raises:
        ApiError: the workspace has not as much available.
    """
    if amount == 0:
        return
    change = amount * ((target == "available") - (source == "available"))
    if change < 0 and available(state, workspace_id) + change < 0:
        raise ApiError(400, "There is not enough money in the workspace's balance.")
    state.conn.execute(
        "UPDATE workspace SET available = available + ? WHERE id = ?",
        (change, workspace_id),
    )
    held = amount * ((target == "held") - (source == "held"))
    state.conn.execute(
        "UPDATE study SET held = held + ? WHERE id = ?", (held, study_id)
    )
    state.conn.execute(
        "INSERT INTO ledger (at_ms, workspace_id, study_id, submission_id, kind, "
        "source, target, amount) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            state.now_ms,
            workspace_id,
            study_id,
            submission_id,
            kind,
            source,
            target,
            amount,
        ),
    )


def pay(
    state: State,
    workspace_id: str,
    cost: Cost,
    *,
    kind: str,
    source: str,
    target: str,
    study_id: str,
    submission_id: str,
) -> None:
    """Move a cost from an account: to the participant's, to Prolific, to the tax.

    Raises:
        ApiError: the workspace has not as much available.
    """
    for account, amount in (
        (target, cost.reward),
        ("fees", cost.fee),
        ("vat", cost.vat),
    ):
        move(
            state,
            workspace_id,
            amount,
            kind=kind,
            source=source,
            target=account,
            study_id=study_id,
            submission_id=submission_id,
        )


def available(state: State, workspace_id: str) -> int:
    """What a workspace may spend."""
    return state.number("SELECT available FROM workspace WHERE id = ?", (workspace_id,))


def held(state: State, workspace_id: str) -> int:
    """What is promised for the open places of a workspace's studies."""
    return state.number(
        "SELECT coalesce(sum(held), 0) FROM study WHERE workspace_id = ?",
        (workspace_id,),
    )


def breakdown(state: State, amount: int) -> dict[str, int]:
    """An amount as rewards with their fees and tax; what does not divide is rewards."""
    fee_share = state.fee_percent / _PERCENT
    with_tax = 1 + fee_share * (1 + state.vat_percent / _PERCENT)
    cost = cost_of(state, int(amount / with_tax))
    over = amount - cost.total
    return {"rewards": cost.reward + over, "fees": cost.fee, "vat": cost.vat}


def _share(amount: int, percent: Decimal) -> int:
    exact = amount * percent / _PERCENT
    return int(exact.quantize(Decimal(1), rounding=ROUND_HALF_UP))
