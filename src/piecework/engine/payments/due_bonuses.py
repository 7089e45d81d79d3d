"""The bonuses that are due: top-ups to the wage floor, and those of a person's CSV.

For the floor, the time of a kind of HIT is the **median** over its paid assignments. A
worker who left the page open over lunch counts as one of many, and a slow worker earns
no more. A kind is one HIT type and one number of items, since a HIT with one item left
takes less time than one with five. Each paid assignment of a kind gets the difference
between floor x median and its reward and bonuses so far.

A person who writes a CSV has the dataset, in which a worker and an assignment are keyed
hashes. So a row names `assignment_id` (the dataset's `answer_id` works too) or `worker`.
A bonus by `worker` is paid with the last paid assignment of that worker. Every fault is
reported, and then none is paid.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from statistics import median

from piecework.campaign.opened import CampaignRun
from piecework.campaign.pricing import top_up_cents
from piecework.domain.assignment import Assignment
from piecework.domain.errors import ConfigError
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import AssignmentId
from piecework.domain.money import Bonus, cents_from_text
from piecework.domain.received_files import table_rows
from piecework.engine.payments.pay import (
    BonusPlan,
    PlannedBonus,
    bonus_key,
    planned_bonus,
    recorded_bonuses,
)
from piecework.postprocess.pseudonyms import assignment_pseudonym
from piecework.store import assignments, hits, ledger

WAGE_FLOOR = "wage-floor"
_REASON = "Top-up: the median time of a HIT like this was"


def top_ups(run: CampaignRun, *, label: str = WAGE_FLOOR) -> BonusPlan:
    """Return the bonuses that the wage floor requires now."""
    recorded = recorded_bonuses(run)
    rewards = ledger.paid_cents(run.store, "rewards")
    pay = ledger.paid_cents(run.store, "rewards", "bonuses")
    floor = run.campaign.rewards.wage_floor_cents_per_hour
    due, before, lacking, too_late = [], 0, 0, []
    for paid in _paid_by_kind(run, set(rewards)):
        seconds = median(_seconds(assignment) for assignment, _ in paid)
        for assignment, hit in paid:
            assignment_id = assignment.assignment_id
            cents = top_up_cents(floor, seconds, pay[assignment_id]) or 0
            if bonus_key(label, assignment_id) in recorded:
                before, lacking = before + 1, lacking + cents
            elif cents and is_too_late(run, assignment):
                too_late.append(assignment_id)
            elif cents:
                due.append(_top_up(run, assignment, hit.batch, cents, seconds, label))
    return BonusPlan(
        label=label, due=tuple(due), before=before, lacking_cents=lacking, too_late=tuple(too_late)
    )


def is_wage_floor(bonus: Bonus) -> bool:
    """Return whether a bonus was paid by this rule, judging by its reason."""
    return bonus.reason.startswith(_REASON)


def is_too_late(run: CampaignRun, assignment: Assignment) -> bool:
    """Return whether the platform no longer accepts a bonus for an assignment."""
    window = run.platform.capabilities.bonus_window
    return run.clock.now() > assignment.submitted_at + window


def _paid_by_kind(
    run: CampaignRun, paid: Collection[AssignmentId]
) -> list[list[tuple[Assignment, PlannedHit]]]:
    """Return paid assignments with their HITs, grouped by HIT type and size."""
    posted = {hit.hit_id: hit for hit in hits.load_hits(run.store)}
    kinds = defaultdict[tuple[str, int], list[tuple[Assignment, PlannedHit]]](list)
    for assignment in assignments.load_assignments(run.store):
        if assignment.assignment_id in paid:
            hit = posted[assignment.hit_id]
            kinds[str(hit.hit_type_id), len(hit.item_ids)].append((assignment, hit))
    return list(kinds.values())


def _seconds(assignment: Assignment) -> float:
    return (assignment.submitted_at - assignment.accepted_at).total_seconds()


def _top_up(
    run: CampaignRun, assignment: Assignment, batch: int, cents: int, seconds: float, label: str
) -> PlannedBonus:
    rewards = run.campaign.rewards
    floor = rewards.shown(rewards.wage_floor_cents_per_hour)
    bonus = Bonus(
        assignment_id=assignment.assignment_id,
        worker_id=assignment.worker_id,
        cents=cents,
        reason=f"{_REASON} {seconds / 60:.1f} "
        f"minutes, and it shall not pay less than {floor} an hour.",
    )
    return planned_bonus(run, bonus, label=label, subject=assignment.assignment_id, batch=batch)


CSV_COLUMNS = ("assignment_id", "worker", "amount", "reason")


def read_bonuses(run: CampaignRun, text: str, *, label: str, name: str) -> BonusPlan:
    """Return the bonuses of a file that were not paid under this label before.

    Args:
        run: the open campaign.
        text: the CSV, with `amount`, `reason`, and `assignment_id` or `worker`.
        label: the label of the bonuses; with it, the same file pays only once.
        name: the file's name in errors.

    Raises:
        ConfigError: it has every fault.
    """
    reader = table_rows(text)
    due, faults, before = dict[str, PlannedBonus](), list[str](), 0
    recorded, rows = recorded_bonuses(run), _Rows(run)
    try:
        _check_columns(reader.fieldnames or (), name)
        for row in reader:
            where = f"{name}: line {reader.line_num}"
            try:
                planned = rows.read(row, label)
            except ValueError as fault:
                faults.append(f"{where}: {fault}")
                continue
            earlier, key = recorded.get(planned.intent.key), planned.intent.key
            if key in due:
                faults.append(f"{where}: an earlier line has this bonus already")
            elif earlier is None:
                due[key] = planned
            elif earlier.cents == planned.bonus.cents:
                before += 1
            else:
                had = run.campaign.rewards.shown(earlier.cents)
                faults.append(
                    f"{where}: was paid {had} with the label {label!r} before; a "
                    "second bonus needs another --label"
                )
    except csv.Error as fault:
        raise ConfigError([f"{name}: line {reader.line_num}: {fault}"]) from fault
    if faults:
        raise ConfigError(faults)
    return BonusPlan(label=label, due=tuple(due.values()), before=before)


def _check_columns(columns: Sequence[str], name: str) -> None:
    """Raise a `ConfigError` if the columns of a file are wrong."""
    columns_of_file = set(columns)
    absent = {"amount", "reason"} - columns_of_file
    if not columns_of_file & {"assignment_id", "worker"}:
        absent.add("assignment_id (or worker)")
    if absent:
        raise ConfigError([f"{name}: columns missing: {', '.join(sorted(absent))}"])
    if unknown := columns_of_file - set(CSV_COLUMNS):
        raise ConfigError(
            [f"{name}: unknown columns: {', '.join(sorted(map(str, unknown)))}"],
            next_step=f"allowed are {', '.join(CSV_COLUMNS)}",
        )


class _Rows:
    """Reads rows with the campaign's assignments and workers."""

    def __init__(self, run: CampaignRun) -> None:
        self._run = run
        self._assignments = {
            assignment.assignment_id: assignment
            for assignment in assignments.load_assignments(run.store)
        }
        self._by_pseudonym = {
            assignment_pseudonym(name, run.pseudonym_key): name for name in self._assignments
        }
        self._paid = ledger.paid_cents(run.store, "rewards")
        # The last paid assignment of each worker, by pseudonym.
        self._last = {
            run.pseudonym(assignment.worker_id): assignment
            for assignment in self._assignments.values()
            if assignment.assignment_id in self._paid
        }

    def read(self, row: Mapping[str, str | None], label: str) -> PlannedBonus:
        """Return the bonus of a row; a `ValueError` says what is wrong with the row."""
        from piecework.postprocess.datasets.file_table import plain  # noqa: PLC0415 - passes do without

        if None in row or None in row.values():
            raise ValueError("has more or fewer cells than the header")
        cells = {name: plain(cell or "").strip() for name, cell in row.items()}
        cents = cents_from_text(cells["amount"], self._run.campaign.rewards.currency)
        if not cents:
            raise ValueError("the amount is 0; a bonus is 0.01 or more")
        reason = cells["reason"]
        able = self._run.platform.capabilities
        if not able.allows_reason(reason):
            raise ValueError(
                f"reason has {len(reason)} characters; the worker reads it, so give "
                f"{able.shortest_reason} to {able.longest_reason} on one line"
            )
        subject, assignment = self._whose(cells)
        bonus = Bonus(
            assignment_id=assignment.assignment_id,
            worker_id=assignment.worker_id,
            cents=cents,
            reason=reason,
        )
        if is_too_late(self._run, assignment):
            raise ValueError("was submitted more than six months ago")
        return planned_bonus(
            self._run,
            bonus,
            label=label,
            subject=subject,
            batch=hits.of_assignment(self._run.store, assignment.assignment_id).batch,
        )

    def _whose(self, cells: Mapping[str, str]) -> tuple[str, Assignment]:
        """Return what the bonus is for, and the assignment to pay it with."""
        named, worker = cells.get("assignment_id", ""), cells.get("worker", "")
        if not named:
            if worker not in self._last:
                raise ValueError(f"worker {worker!r} has no paid assignment here")
            return f"worker:{worker}", self._last[worker]
        name = assignments.assignment_of(self._run.store, named) or AssignmentId(named)
        of_dataset = self._by_pseudonym.get(AssignmentId(named.partition(".")[0]))
        name = of_dataset or name
        assignment = self._assignments.get(name)
        if assignment is None:
            raise ValueError(f"{named!r} is not an assignment of this campaign")
        if name not in self._paid:
            raise ValueError(f"{named!r} was not paid: approve it or reverse its rejection first")
        if worker and worker != self._run.pseudonym(assignment.worker_id):
            raise ValueError(f"{named!r} is not the work of worker {worker!r}")
        return name, assignment


def label_fault(label: str) -> str:
    """Return what is wrong with a label; "" if it is allowed.

    >>> label_fault("spring-2027"), label_fault("a:b")
    ('', "--label 'a:b': use 1 to 40 lower-case letters, digits, - and _")
    """
    if re.fullmatch("[a-z0-9_-]{1,40}", label):
        return ""
    return f"--label {label!r}: use 1 to 40 lower-case letters, digits, - and _"
