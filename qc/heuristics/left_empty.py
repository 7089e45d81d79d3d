"""An assignment that leaves a field empty under every item, where others fill it in.

Idea: many pages ask for more than they enforce, for example an explanation of each
answer. If most workers write one under nearly every item, a worker who writes none has
left out a part of the task.

Silent: if the field is filled in under any item, holds several choices, or fewer than
`min_assignments` assignments of the batch use it.

Naive reading: flag what is empty where the field is not required. But some fields are
for remarks that few workers have, and others fit only some items ("if you chose
other"). So the measure looks at the assignments that fill the field in under most of
their items, and at the workers who sent them (its users). It flags only if users are at
least `min_share` of the other workers, or such assignments that share of the others';
and if such an assignment would leave this many items empty with a chance of at most
`rarer_than`. The suspicion is the share of users among the others: it is low where many
leave the field empty. Files of different tasks may have been imported as one batch, so
an assignment is compared only with those that fill in everything that it fills in.

Edge cases: an assignment with fewer than `_LONG` items tells little alone: there, all
assignments of a worker show whether they use the field, and a worker who never does is
judged by all of them together; if users leave more than `max_empty` of their
assignments empty, nothing is flagged. Several choices (`choices`) are not judged,
because no tick may be the right answer. Unknown workers (empty id) are judged
assignment by assignment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from piecework.domain.late_modules import np, npt, pd
from piecework.domain.tables import ITEM_VALUE
from piecework.domain.text import plural
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Count, Counted, Share
from piecework.qc.scores import SHOWN_FROM, Facts, Scope, Tallied, Tally, quoted, scored, sentences
from piecework.qc.scores import tally as tally_of

NAME = "left_empty"
TITLE = "Field left empty that others fill in"
VERSION = 1
SUBJECT: SubjectKind = "assignment"
SCOPE: Scope = "batch"
COLUMNS = ("assignment_id", "worker_id", "batch", ITEM_VALUE)

Counts: TypeAlias = "npt.NDArray[np.int64]"
Flags: TypeAlias = "npt.NDArray[np.bool_]"

_USUAL = ["batch", "field", "beside"]
_WORKER = [*_USUAL, "worker"]

_LONG = 3
"""From this many items, an assignment shows alone whether its worker uses a field."""

_MOST_BITS = 62
"""Fields beyond this many share bits, which only makes fewer assignments comparable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How usual it has to be to fill a field in.

    Attributes:
        min_share: at least this share of the other workers, or of their assignments,
            use the field (ours: half).
        max_empty: users leave at most this share of short assignments empty (ours).
        rarer_than: and a user leaves this many items empty with at most this chance
            (ours).
        min_assignments: assignments of users that a batch must have (ours).
    """

    min_share: Share = 0.5
    max_empty: Share = 0.05
    rarer_than: Share = 0.01
    min_assignments: Annotated[Count, Counted.ASSIGNMENTS] = 10


def tally(table: pd.DataFrame, _params: Params) -> Tally:
    """By `batch`, `field` and `beside`: workers, users, and their assignments.

    `beside` says which other fields an assignment fills in: a bit for each.
    """
    keys, amounts = _amounts(_workers(_assignments(table)))
    return tally_of(keys, **amounts)


def usual_of(counts: Tally, _params: Params) -> pd.DataFrame:
    """The sums are what is usual; each worker's own are subtracted later."""
    return counts


def score(table: pd.DataFrame, params: Params, usual: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row per assignment, in the order of their ids.

    Args:
        table: all answers of each batch, or of each worker if `usual` is of all
            answers.
        params: the limits.
        usual: of `usual_of`, of all answers.
    """
    if usual is None:
        usual = tally(table, params)
    subjects = pd.Index(sorted(table["assignment_id"].unique()), dtype="str", name="assignment_id")
    rows = _compared(_assignments(table), usual)
    share = _share_of_users(rows)
    flag = (share >= params.min_share) & _is_rare(rows, params)
    rows = rows.assign(share=np.where(flag, share, 0.0), flag=flag)
    worst = (
        rows.sort_values(["share", "field"], ascending=[False, True], kind="stable")
        .drop_duplicates("assignment_id")
        .set_index("assignment_id")
        .reindex(subjects)
    )

    def sentence(field: str, items: float, filling: float, others: float) -> str:
        return (
            f"leaves {quoted(field)} empty for each of its {plural(items, 'item')}; of "
            f"{plural(others, 'assignment')} of other workers with the same other "
            f"fields, {filling:,.0f} fill it in"
        )

    suspicion = worst["share"].fillna(0.0).to_numpy()
    return scored(
        subjects,
        suspicion=suspicion,
        flag=worst["flag"].eq(True).to_numpy(),  # noqa: FBT003 - absent is not flagged
        evidence=sentences(
            suspicion >= SHOWN_FROM,
            sentence,
            worst["field"],
            worst["items"],
            worst["n_filling"],
            worst["n_assignments"],
        ),
    )


def _fields(table: pd.DataFrame) -> Iterator[tuple[str, bool, Flags]]:
    """Each field, whether it may not be empty, and which answers fill it in."""
    for column in sorted(str(name) for name in table.columns):
        if column.startswith(ITEM_VALUE):
            values, name = table[column], column.removeprefix(ITEM_VALUE)
            if isinstance(values.dtype, pd.StringDtype):
                yield name, True, (values != "").to_numpy()
            elif values.dtype == "float64":
                yield name, True, values.notna().to_numpy()
            else:
                yield name, False, values.map(len).to_numpy() > 0


def _assignments(table: pd.DataFrame) -> pd.DataFrame:
    """One row per assignment and judged field, with the columns of `_no_assignments`.

    `filled` says under how many of its `items` the field is filled in.
    """
    codes, different = pd.factorize(table["assignment_id"], sort=True)
    size, names = len(different), pd.Series(different.to_numpy(), dtype="str")
    first = np.zeros(size, dtype="int64")
    first[codes[::-1]] = np.arange(len(table))[::-1]
    own = table[["worker_id", "batch"]].iloc[first].reset_index(drop=True)
    # An assignment of an unknown worker is a worker; ids of both kinds may be equal.
    workers = ("w" + own["worker_id"]).where(own["worker_id"] != "", "a" + names)
    counts = [
        (name, judged, np.bincount(codes[filled], minlength=size))
        for name, judged, filled in _fields(table)
    ]
    bits = [
        np.left_shift((filled > 0).astype("int64"), place % _MOST_BITS)
        for place, (_, _, filled) in enumerate(counts)
    ]
    parts = [
        pd.DataFrame(
            {
                "assignment_id": names,
                "batch": own["batch"].to_numpy(),
                "worker": workers,
                "field": pd.Series(name, index=range(size), dtype="str"),
                "beside": np.bitwise_or.reduce(
                    [np.zeros(size, dtype="int64"), *bits[:place], *bits[place + 1 :]]
                ),
                "items": np.bincount(codes, minlength=size),
                "filled": filled,
            }
        )
        for place, (name, judged, filled) in enumerate(counts)
        if judged
    ]
    return pd.concat(parts, ignore_index=True) if parts else _no_assignments()


def _no_assignments() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "assignment_id": pd.array([], dtype="str"),
            "batch": np.zeros(0, dtype="int64"),
            "worker": pd.array([], dtype="str"),
            "field": pd.array([], dtype="str"),
            "beside": np.zeros(0, dtype="int64"),
            "items": np.zeros(0, dtype="int64"),
            "filled": np.zeros(0, dtype="int64"),
        }
    )


def _workers(assignments: pd.DataFrame) -> pd.DataFrame:
    """By `_WORKER`: `items`, `filled` of them, and the amounts of the tally."""
    whole = assignments.groupby(_WORKER)[["items", "filled"]].transform("sum")
    is_long = assignments["items"] >= _LONG
    judged = assignments[["items", "filled"]].where(is_long, whole)
    is_used = 2 * judged["filled"] > judged["items"]
    is_empty = assignments["filled"] == 0
    amounts = {
        "n_assignments": is_empty | ~is_empty,
        "n_filling": ~is_empty,
        "n_used": is_used,
        "n_empty": is_used & is_empty,
        "n_items": assignments["items"].where(is_used, 0),
        "n_filled": assignments["filled"].where(is_used, 0),
    }
    counts = assignments.assign(
        **{name: amount.astype("int64") for name, amount in amounts.items()}
    )
    sums = counts.groupby(_WORKER, as_index=False)[["items", "filled", *amounts]].sum()
    is_user = (sums["n_used"] > 0).astype("int64")
    return sums.assign(n_workers=1, n_users=is_user)


def _amounts(workers: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Counts]]:
    """The keys and amounts of the tally, from the rows of `_workers`."""
    names = [str(name) for name in workers if str(name).startswith("n_")]
    return workers[_USUAL], {name: workers[name].to_numpy("int64") for name in names}


def _compared(assignments: pd.DataFrame, usual: pd.DataFrame) -> pd.DataFrame:
    """Assignments that leave a field empty, with the amounts of the others.

    The others fill in everything beside it that the assignment fills in.
    """
    workers = _workers(assignments)
    keys, own = _amounts(workers)
    of_worker = pd.concat([keys, workers[["worker"]], pd.DataFrame(own)], axis=1)
    rows = assignments[assignments["filled"] == 0].merge(
        workers[[*_WORKER, "filled", "items"]], on=_WORKER, suffixes=("", "_of_worker")
    )
    wanted = rows[_WORKER].drop_duplicates()
    # Few masks of fields are filled in, so few rows of each batch are compared.
    every = _covering(wanted[_USUAL].drop_duplicates(), usual, _USUAL)
    its_own = _covering(wanted, of_worker, _WORKER)
    amounts = wanted.merge(every, on=_USUAL).merge(its_own, on=_WORKER, suffixes=("", "_own"))
    for name in own:
        amounts[name] -= amounts.pop(f"{name}_own")
    return rows.merge(amounts, on=_WORKER)


def _covering(wanted: pd.DataFrame, amounts: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """By wanted key, sum the amounts with the same key and all bits of `beside`."""
    same = [name for name in keys if name != "beside"]
    pairs = wanted.merge(amounts, on=same, suffixes=("", "_there"))
    covers = (pairs["beside_there"] & pairs["beside"]) == pairs["beside"]
    names = [str(name) for name in pairs if str(name).startswith("n_")]
    return pairs[covers].groupby(keys, as_index=False)[names].sum()


def _share_of_users(rows: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Users among the other workers, or their assignments, whichever is more."""
    workers = rows["n_workers"].clip(lower=1).to_numpy()
    assignments = rows["n_assignments"].clip(lower=1).to_numpy()
    of_workers = rows["n_users"].to_numpy() / workers
    of_assignments = rows["n_used"].to_numpy() / assignments
    return np.asarray(np.maximum(of_workers, of_assignments), dtype="float64")


def _is_rare(rows: pd.DataFrame, params: Params) -> Flags:
    """Whether a user of the field would hardly leave as many items empty."""
    used = rows["n_used"].to_numpy()
    empty = rows["n_empty"].to_numpy() / np.maximum(used, 1)
    items = rows["n_items"].to_numpy()
    # One item more of each kind: few users do not show that none is ever left empty.
    left = (items - rows["n_filled"].to_numpy() + 1) / (items + 2)
    never = (rows["filled_of_worker"] == 0).to_numpy()
    together = np.where(never, rows["items_of_worker"], rows["items"])
    return np.asarray(
        (used >= params.min_assignments)
        & (empty <= params.max_empty)
        & (left**together <= params.rarer_than)
    )


def _silence(table: pd.DataFrame, _params: Params) -> Iterator[str]:
    fields = [filled for _, judged, filled in _fields(table) if judged]
    if all(filled.all() or not filled.any() for filled in fields):
        yield "no field is filled in by some and left empty by others"


FACTS = Facts(may_reject_alone=False, silence=_silence, tallied=Tallied(tally, usual_of, score))
