"""Costs, and transfers of money between accounts.

A workspace's money is available until a study is published. Then the cost of its open
places is held, and later paid to participants, to Prolific and as tax. Fee and tax are
rounded for each payment (half a penny up), so the amount held equals the sum of the
payments. Prolific does not document how it rounds.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from offline_markets.core.errors import ApiError
from offline_markets.prolific.state import State

_PERCENT = Decimal(100)


@dataclass(frozen=True, slots=True)
class Cost:
    """What the requester pays, in minor units.

    Attributes:
        reward: what participants get.
        fee: what Prolific gets.
        vat: the tax on the fee.
    """

    reward: int
    fee: int
    vat: int

    @property
    def total(self) -> int:
        """The total."""
        return self.reward + self.fee + self.vat

    def times(self, count: int) -> "Cost":
        """Return this cost times a number."""
        return Cost(self.reward * count, self.fee * count, self.vat * count)


def cost_of(state: State, reward: int) -> Cost:
    """Return what one reward or bonus of this amount costs."""
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
    """Move money between accounts and record it; an amount of 0 does nothing.

    Raises:
        ApiError: the workspace has too little available.
    """
    if amount == 0:
        return
    change = amount * ((target == "available") - (source == "available"))
    if change < 0 and available(state, workspace_id) + change < 0:
        raise ApiError(400, "There is not enough money in the workspace's balance.")
    state.conn.execute(
        "UPDATE workspace SET available = available + ? WHERE id = ?", (change, workspace_id)
    )
    held = amount * ((target == "held") - (source == "held"))
    state.conn.execute("UPDATE study SET held = held + ? WHERE id = ?", (held, study_id))
    state.conn.execute(
        "INSERT INTO ledger (at_ms, workspace_id, study_id, submission_id, kind, "
        "source, target, amount) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (state.now_ms, workspace_id, study_id, submission_id, kind, source, target, amount),
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
    """Pay a cost from an account to the participant, to Prolific and as tax.

    Raises:
        ApiError: the workspace has too little available.
    """
    for account, amount in ((target, cost.reward), ("fees", cost.fee), ("vat", cost.vat)):
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
    """Return what a workspace can spend."""
    return state.number("SELECT available FROM workspace WHERE id = ?", (workspace_id,))


def held(state: State, workspace_id: str) -> int:
    """Return what is held for the open places of a workspace's studies."""
    return state.number(
        "SELECT coalesce(sum(held), 0) FROM study WHERE workspace_id = ?", (workspace_id,)
    )


def breakdown(state: State, amount: int) -> dict[str, int]:
    """Split an amount into rewards, fees and tax; the remainder counts as rewards."""
    fee_share = state.fee_percent / _PERCENT
    with_tax = 1 + fee_share * (1 + state.vat_percent / _PERCENT)
    cost = cost_of(state, int(amount / with_tax))
    over = amount - cost.total
    return {"rewards": cost.reward + over, "fees": cost.fee, "vat": cost.vat}


def _share(amount: int, percent: Decimal) -> int:
    exact = amount * percent / _PERCENT
    return int(exact.quantize(Decimal(1), rounding=ROUND_HALF_UP))
