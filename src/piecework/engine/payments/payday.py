"""Payday: what each person of one's own marketplace is owed, and what they got.

The marketplace counts what people earn, and no money moves: the requester pays in cash or
by transfer, and records it. A person has one payout for each label, so a file that is read
again records nothing twice. People from other markets are paid there.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError, StoreError
from piecework.domain.ids import WorkerId
from piecework.domain.money import cents_from_text, cents_to_wire
from piecework.domain.received_files import table_rows
from piecework.domain.text import shell_word
from piecework.postprocess.datasets.file_table import plain
from piecework.store import ledger, workers
from piecework.store.ledger import Payout
from piecework.store.settlements import PAID_ALREADY

YOU: Final = "you"
"""Who pays the people of one's own marketplace."""
TOTAL: Final = "total"
"""What the last row of a sheet has in place of a pseudonym."""
_SHORTEST = 4  # as of other commands that take the start of a pseudonym


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonPay:
    """What a worker is owed for a campaign, in cents without fees, and what they got.

    Attributes:
        worker: the pseudonym.
        paid_by: `YOU`, or the market that pays them.
        answers: their accepted answers.
        payouts: what they got outside the marketplace.
    """

    worker_id: WorkerId
    worker: str
    paid_by: str
    answers: int
    rewards: int
    bonuses: int
    compensations: int
    payouts: int

    @property
    def owed(self) -> int:
        """All that they earned, paid out or not."""
        return self.rewards + self.bonuses + self.compensations

    @property
    def paid_out(self) -> int:
        """What they got; another market pays all that it owes."""
        return self.payouts if self.paid_by == YOU else self.owed

    @property
    def left(self) -> int:
        """What they have to get."""
        return self.owed - self.paid_out


def everybody(opened: OpenedCampaign, markets: Mapping[str, str]) -> list[PersonPay]:
    """Return what each worker is owed and got, by pseudonym.

    Args:
        opened: the campaign.
        markets: the market that sent a worker, by worker id, as far as it is known.

    Raises:
        StoreError: the people's amounts do not add up to the ledger's.
    """
    totals = workers.totals(opened.store, paid_already=PAID_ALREADY)
    earned = {
        account: workers.paid_from(opened.store, account)
        for account in ("rewards", "bonuses", "compensations")
    }
    got: dict[WorkerId, int] = {}
    for payout in ledger.payouts(opened.store).values():
        got[payout.worker_id] = got.get(payout.worker_id, 0) + payout.cents
    people = [
        PersonPay(
            worker_id=worker_id,
            worker=opened.pseudonym(worker_id),
            paid_by=_payer(opened, worker_id, markets),
            answers=of_worker.kept,
            payouts=got.get(worker_id, 0),
            **{account: cents.get(worker_id, 0) for account, cents in earned.items()},
        )
        for worker_id, of_worker in totals.items()
    ]
    balances = ledger.balances(opened.store)
    in_ledger = balances["rewards"] + balances["bonuses"] + balances["compensations"]
    owed = sum(person.owed for person in people)
    if owed != in_ledger:
        shown = opened.campaign.rewards.shown
        raise StoreError(
            f"the people are owed {shown(owed)} in all, but the ledger has {shown(in_ledger)}; "
            "no sheet was written",
            next_step=f"piecework store reconcile {shell_word(opened.campaign.path)}",
        )
    return sorted(people, key=lambda person: person.worker)


def _payer(opened: OpenedCampaign, worker_id: WorkerId, markets: Mapping[str, str]) -> str:
    if opened.campaign.crowds is not None:
        known = workers.market_of_worker(opened.store, worker_id)
        return known or opened.campaign.markets[0]
    return markets.get(worker_id) or YOU


def sheet(people: Sequence[PersonPay], names: Mapping[str, str]) -> dict[str, list[object]]:
    """Return the columns of a pay sheet, with a row of totals at its end.

    A worker id is there only for a person to pay whose name is not known. `amount` and
    `date` are empty: who has paid a person fills them in, and reads the file back.

    Args:
        people: their amounts.
        names: names by worker id, as far as they are known.
    """
    columns: dict[str, list[object]] = {
        "name": [names.get(person.worker_id, "") for person in people],
        "worker": [person.worker for person in people],
        "worker_id": [
            "" if person.worker_id in names or person.paid_by != YOU else person.worker_id
            for person in people
        ],
        "paid_by": [person.paid_by for person in people],
        "answers_accepted": [str(person.answers) for person in people],
    }
    for name in ("rewards", "bonuses", "compensations", "owed", "paid_out", "left"):
        columns[name] = [_plain_amount(getattr(person, name)) for person in people]
    totals = {
        "worker": TOTAL,
        "answers_accepted": str(sum(person.answers for person in people)),
        **{
            name: _plain_amount(sum(getattr(person, name) for person in people))
            for name in ("rewards", "bonuses", "compensations", "owed", "paid_out", "left")
        },
    }
    columns["amount"] = columns["date"] = [""] * len(people)
    return {name: [*cells, totals.get(name, "")] for name, cells in columns.items()}


def _plain_amount(cents: int) -> Decimal:
    # A number, since a text that begins with a minus gets an apostrophe in a file.
    return Decimal(f"{'-' if cents < 0 else ''}{cents_to_wire(abs(cents))}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What a file of payouts has recorded.

    Attributes:
        payouts: how many are new, or were taken back.
        cents: their sum; negative if records were taken back.
        before: the number of rows that were recorded before.
    """

    payouts: int
    cents: int
    before: int


def record_payouts(
    opened: OpenedCampaign,
    text: str,
    *,
    label: str | None,
    markets: Mapping[str, str],
    by: str,
    name: str,
) -> Recorded:
    """Record that people were paid, as a file says: all its rows or none.

    Args:
        opened: the campaign.
        text: a CSV with `worker`, `amount` and `date`, such as a filled-in sheet; rows
            without an amount are skipped.
        label: the label of the payouts; `None`: each row's date.
        markets: as in `everybody`.
        by: who records it.
        name: the file's name in errors.

    Raises:
        ConfigError: it has every fault with its line; nothing was recorded.
    """
    now = opened.clock.now()
    with opened.store.db.exclusive():
        rows = _Rows(
            opened,
            everybody(opened, markets),
            label,
            today=now.date(),
            recorded=ledger.payouts(opened.store),
        )
        reader, faults = table_rows(text), list[str]()
        try:
            if absent := {"worker", "amount", "date"} - set(reader.fieldnames or ()):
                raise ConfigError([f"{name}: columns missing: {', '.join(sorted(absent))}"])
            for cells in reader:
                try:
                    rows.read(cells)
                except ValueError as fault:
                    faults.append(f"{name}: line {reader.line_num}: {fault}")
        except csv.Error as fault:
            raise ConfigError([f"{name}: line {reader.line_num}: {fault}"]) from fault
        faults = faults or [f"{name}: {fault}" for fault in rows.faults()]
        if faults:
            raise ConfigError(
                faults,
                next_step=f"nothing was recorded: piecework pay {shell_word(opened.campaign.path)} "
                "--sheet FILE writes what is left to pay",
            )
        ledger.keep_payouts(opened.store, rows.new.values(), by=by, at=now)
    return Recorded(payouts=len(rows.new), cents=rows.cents, before=rows.before)


@dataclass(slots=True)
class _Rows:
    """The rows of a file, compared with what is recorded."""

    opened: OpenedCampaign
    people: Sequence[PersonPay]
    label: str | None
    today: date
    recorded: Mapping[tuple[WorkerId, str], Payout]
    new: dict[tuple[WorkerId, str], Payout] = field(default_factory=dict)
    seen: set[tuple[WorkerId, str]] = field(default_factory=set)
    cents: int = 0
    before: int = 0

    def read(self, row: Mapping[str, str | None]) -> None:
        """Take a row; a `ValueError` says what is wrong with it."""
        if None in row or None in row.values():
            raise ValueError("has more or fewer cells than the header")
        cells = {column: plain(cell or "").strip() for column, cell in row.items()}
        if cells["worker"].casefold() == TOTAL or not (cells["amount"] or cells["date"]):
            return
        if not cells["amount"]:
            raise ValueError("has a date and no amount")
        person = self._person(cells["worker"])
        cents = cents_from_text(cells["amount"], self.opened.campaign.rewards.currency)
        paid_on = self._day(cells["date"])
        payout = Payout(person.worker_id, self.label or paid_on.isoformat(), cents, paid_on)
        key = payout.worker_id, payout.label
        if key in self.seen:
            raise ValueError(
                f"an earlier line pays worker {person.worker} with the label {payout.label!r} "
                "already; write one row for both"
            )
        self.seen.add(key)
        earlier = self.recorded.get(key)
        if earlier == payout:
            self.before += 1
            return
        self._check_change(payout, earlier)
        self.new[key] = payout
        self.cents += cents - (earlier.cents if earlier else 0)

    def faults(self) -> Iterator[str]:
        """Yield why the rows together cannot be recorded."""
        if not self.seen:
            yield "no row has an amount; fill in amount and date of each person whom you paid"
        shown = self.opened.campaign.rewards.shown
        added: dict[WorkerId, int] = {}
        for key, payout in self.new.items():
            earlier = self.recorded.get(key)
            more = payout.cents - (earlier.cents if earlier else 0)
            added[payout.worker_id] = added.get(payout.worker_id, 0) + more
        for person in self.people:
            more = added.get(person.worker_id, 0)
            if more > max(person.left, 0):
                yield (
                    f"worker {person.worker} would get {shown(more)}, but {shown(person.left)} "
                    f"is left of {shown(person.owed)}; to give more, pay a bonus first"
                )

    def _check_change(self, payout: Payout, earlier: Payout | None) -> None:
        shown = self.opened.campaign.rewards.shown
        if earlier is None and not payout.cents:
            raise ValueError(
                "the amount 0 takes a record back, and the worker has none with the label "
                f"{payout.label!r}"
            )
        if earlier is not None and earlier.cents and payout.cents:
            raise ValueError(
                f"{shown(earlier.cents)} of {earlier.paid_on} is recorded with the label "
                f"{payout.label!r}; another payout needs another --label, and a row with "
                "the amount 0 takes that record back"
            )

    def _person(self, worker: str) -> PersonPay:
        start = worker.lower().removesuffix("…").removesuffix("...")
        matches = [
            person
            for person in self.people
            if worker == person.worker_id
            or (len(start) >= _SHORTEST and person.worker.startswith(start))
        ]
        if len(matches) != 1:
            many = f"{len(matches)} workers have" if matches else "no worker of this campaign has"
            raise ValueError(f"{many} the pseudonym {worker[:60]!r}")
        (person,) = matches
        if person.paid_by != YOU:
            raise ValueError(f"worker {person.worker} is paid by {person.paid_by}")
        return person

    def _day(self, text: str) -> date:
        try:
            day = date.fromisoformat(text)
        except ValueError as fault:
            raise ValueError(
                f"date {text[:40]!r} is not a day: write it as {self.today.isoformat()}"
            ) from fault
        if day > self.today + timedelta(days=1):  # it may be tomorrow in other time zones
            raise ValueError(f"date {text} is in the future")
        return day
