"""Costs, and transfers of money between accounts, in cents.

The balance is available until a project goes live. Then the cost of its places is held,
and later paid to participants and to Connect, or given back. The fee is rounded for
each payment (half a cent up), so the amount held equals the sum of the payments.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from offline_markets.connect.state import State
from offline_markets.core.errors import ApiError

CENTS = 100
_PERCENT = Decimal(100)


@dataclass(frozen=True, slots=True)
class Cost:
    """What the requester pays for one payment.

    Attributes:
        payment: what the participant gets.
        fee: what Connect gets.
    """

    payment: int
    fee: int

    @property
    def total(self) -> int:
        """The total."""
        return self.payment + self.fee


def cost_of(state: State, payment: int) -> Cost:
    """Return what a payment or bonus of this amount costs."""
    exact = payment * state.fee_percent / _PERCENT
    return Cost(payment, int(exact.quantize(Decimal(1), rounding=ROUND_HALF_UP)))


def to_cents(dollars: float) -> int | None:
    """Return an amount in cents; None if it has more than two decimals.

    >>> to_cents(1.1), to_cents(2), to_cents(0.005)
    (110, 200, None)
    """
    exact = Decimal(str(dollars)) * CENTS
    return int(exact) if exact == exact.to_integral_value() else None


def to_dollars(cents: int) -> float:
    """Return an amount as the API writes it."""
    return cents / CENTS


def open_account(state: State, balance: int) -> None:
    """Fund a new account; one that exists stays as it is."""
    if not state.number("SELECT count(*) FROM account"):
        state.conn.execute("INSERT INTO account VALUES (1, 0)")
        move(state, balance, kind="fund", source="funding", target="available")


def available(state: State) -> int:
    """Return what the account can spend."""
    return state.number("SELECT available FROM account")


def move(
    state: State,
    amount: int,
    *,
    kind: str,
    source: str,
    target: str,
    project_id: str | None = None,
    assignment_id: str | None = None,
) -> None:
    """Move money between accounts and record it; an amount of 0 does nothing.

    Raises:
        ApiError: too little is available.
    """
    if amount == 0:
        return
    change = amount * ((target == "available") - (source == "available"))
    if change < 0 and available(state) + change < 0:
        raise ApiError(400, "Insufficient funds: the account balance is too low.")
    state.conn.execute("UPDATE account SET available = available + ?", (change,))
    held = amount * ((target == "held") - (source == "held"))
    state.conn.execute("UPDATE project SET held = held + ? WHERE id = ?", (held, project_id))
    state.conn.execute(
        "INSERT INTO ledger (at_ms, kind, project_id, assignment_id, source, target, "
        "amount) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (state.now_ms, kind, project_id, assignment_id, source, target, amount),
    )


def pay(
    state: State,
    cost: Cost,
    *,
    kind: str,
    source: str,
    target: str,
    project_id: str,
    assignment_id: str,
) -> None:
    """Pay a cost from an account to the participant and to Connect.

    Raises:
        ApiError: too little is available.
    """
    for account, amount in ((target, cost.payment), ("fees", cost.fee)):
        move(
            state,
            amount,
            kind=kind,
            source=source,
            target=account,
            project_id=project_id,
            assignment_id=assignment_id,
        )
