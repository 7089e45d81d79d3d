"""Agrees with the others clearly less than a careful worker would.

Idea: a careful worker's answers move with the others' about the same items; those of a worker who
guesses do not. The others' votes (single choices) say how probable each option is. The worth of a
worker is the mean probability of their votes; the strength is the slope of their votes over these
probabilities. For places on a scale and ticks, both are Krippendorff's agreement beyond chance;
for boxes and spans, the mean F1 with others; for transcripts, the mean share of equal words.

Silent: about items without `min_others` other ratings, or if the field asks for opinions
(`is_opinion` in the task). A worker with fewer than `min_items` such items is never flagged.

Naive reading: workers who disagree with the majority, or whose agreement is low, are bad. But
on hard items everyone disagrees at times, and where nearly all answers are alike even a blind
worker agrees. So a worker is compared with the usual worker: their strength has to be below
half of the usual, and below `min_agreement`, by `errors` standard errors, which come from the
worker's own items, drawn towards those of all workers if the worker has few; or their worth is
further from the usual worker's than noise puts any careful worker in nine of ten campaigns. The
size of the relation decides and not its significance: a slope of 0.05 on thousands of items is
significant, and the busiest bad workers would pass. The others weigh each other by how good they
are (`piecework.analyses.dawid_skene`). A worker who uses the scale differently
agrees little too, but reads the items. With more than two options, the
slope is along the line that separates the options best, which is learnt from all workers:
options may be grades whose order the task does not say. A worker is not flagged for their worth
if they have half of the usual strength, and not at all if their options tell half as much of
what the others believe as the usual worker's: "probably for" then tells "for", although the two
never agree. On scales and with ticks, a worker is not flagged whose answers are nearer to the
others' than the same answers in random order, by at least half of what the usual worker's are;
mean and variance over all orders are exact (W. Hoeffding, "A combinatorial central limit
theorem", 1951). With two options nothing of this excuses a worker whose votes are worth little.

Edge cases: agreement beyond chance is 1 minus the mean distance from the others, divided by that
of an answer drawn blindly from all; if these never differ, nothing is measured. A worker's second
answer about an item does not count, and neither do marks that cannot be read. Of marks and
transcripts, only the strength counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Annotated, Any, NamedTuple

from piecework.analyses.dawid_skene import beliefs_of_others
from piecework.domain.late_modules import np, npt, pd, scipy
from piecework.domain.text import plural, share
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Amount, Count, Counted, Share
from piecework.qc.ratings import DRAWN, MATTER_OF_FACT, RATED, WORDED, is_scale
from piecework.qc.relations import (
    Codes,
    Floats,
    chance_of_ratio,
    correlation_ratio,
    line_of,
    nearness,
)
from piecework.qc.scores import FIRST_ANSWER, Facts, Scope
from piecework.qc.worker_scores import (
    MergedAnswers,
    WorkerScore,
    own_answers,
    own_merged,
    workers_table,
)

NAME = "low_agreement"
TITLE = "Low agreement with others"
VERSION = 8
SUBJECT: SubjectKind = "worker"
SCOPE: Scope = "campaign"
COLUMNS = (*FIRST_ANSWER, RATED, DRAWN, WORDED, MATTER_OF_FACT)
FACTS = Facts()

_STEPS = 50
"""A slider is read in steps of one fiftieth, as precise as a hand can be. Grades are
read as they are."""

_FALSE_FLAGS = 0.1
"""Expected careful workers of a campaign who are surely below the usual one (ours)."""

_LEAST_WORKERS = 5
"""With fewer workers there is no usual agreement (ours)."""

_OF_USUAL = 0.5
"""A worker with this part of the usual strength reads the items (ours)."""

_USUAL_RANK = 2 / 3
"""The usual strength is that which two thirds of the workers do not exceed: in a crowd
where many guess, the median is a guesser's (ours)."""

_SURELY_POSITIVE = 2.33
"""A strength counts as one if it is this many standard errors above 0: one in a hundred
(ours)."""

_CHANCE = 0.01
"""Options tell something if their order is this unlikely by chance (ours)."""

_MOST_UNFLAGGED = 0.49
"""Suspicion is below this without a flag."""

_TWO = 2
"""With two grades an answer is right or wrong, as with two options."""

_MAD_TO_SD = 1.4826
"""For a normal distribution, sd = 1.4826 times the median absolute deviation."""

_NO_SPREAD = 1e-12

_ITEMS_OF_ALL = 5.0
"""After this many items a worker's own spread counts as much as that of all (ours)."""

_VOTES_OF_ALL = 3.0
"""For the order of suspicion, each worker's worth is drawn towards that of all, as by this
many votes (ours)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How many items, how much agreement is enough, and how certain the lack must be.

    Attributes:
        min_items: items that the worker and others must have judged (ours).
        min_others: ratings by others that each item needs (ours).
        min_agreement: flag a strength clearly below this and half the usual; worth
            has no such limit (ours).
        errors: standard errors by which it must be below (one in forty).
    """

    min_items: Annotated[Count, Counted.OF_WORKER] = 10
    min_others: Annotated[Count, Counted.OTHERS] = 2
    min_agreement: Share = 0.35
    errors: Amount = 2.0


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per worker, in the order of their ids."""
    return workers_table(table, _scores(table, params))


def _scores(table: pd.DataFrame, params: Params) -> Iterator[WorkerScore]:
    for field, answers in own_answers(table):
        if answers[RATED + field].nunique() < _TWO or table.get(MATTER_OF_FACT + field) is None:
            continue
        yield from _of_field(field, _compare(answers, field, params), params)
    for merged in own_merged(table):
        yield from _of_field(merged.field, _compare_merged(merged, params), params)


def _of_field(field: str, compared: _Compared, params: Params) -> Iterator[WorkerScore]:
    workers = compared.workers
    many = workers[workers["items"] >= params.min_items]
    if many.empty:
        return
    usual = _usual_strength(many)
    limit = min(params.min_agreement, _OF_USUAL * usual)
    is_weak = many["strength"] + params.errors * many["error"] < limit
    surely = -float(scipy.special.ndtri(_FALSE_FLAGS / max(len(many), 1)))
    below = _below_usual(many)
    is_far = below > surely
    accused = many.index[is_weak | is_far]
    flagged = {
        worker
        for worker in accused
        if compared.is_lacking(worker, weak=is_weak[worker], usual=usual)
    }
    typical = float(workers["worth"].median())
    rows = map(_Worker._make, workers.itertuples())
    for row, suspicion in zip(rows, _suspicions(workers), strict=True):
        flag = row.worker_id in flagged
        is_only_far = flag and not is_weak[row.worker_id]
        broken = (float(below[row.worker_id]), surely) if is_only_far else None
        yield WorkerScore(
            row.worker_id,
            0.5 + suspicion / 2 if flag else _MOST_UNFLAGGED * suspicion,
            flag,
            _sentence(
                field, row, limit, typical, little=flag, far=broken, is_votes=compared.is_votes
            ),
        )


class _Worker(NamedTuple):
    """A row of `_Compared.workers`."""

    worker_id: str
    items: int
    worth: float
    noise: float
    strength: float
    error: float


def _sentence(
    field: str,
    row: _Worker,
    limit: float,
    typical: float,
    *,
    little: bool,
    far: tuple[float, float] | None,
    is_votes: bool,
) -> str:
    """Return the evidence, with the limit of the test that decided.

    `far` is of a worker who is flagged for their worth alone: the standard deviations below
    the usual, and their limit.
    """
    begin = f"agrees {'little ' if little else ''}with others about {field}"
    strength = f"{round(row.strength, 2) + 0.0:.2f}, give or take {row.error:.2f}"
    middle = "in the middle of all workers"
    items = f"on {plural(row.items, 'item')}"
    of_strength = f"; limit {round(limit, 2) + 0.0:.2f}"
    if far is not None:
        middle += f", {far[0]:.2f} standard deviations above; limit {far[1]:.2f}"
        of_strength = ""
    if is_votes:
        return (
            f"{begin}: by their votes, the answers are {share(row.worth, 1)} probable "
            f"({share(typical, 1)} {middle}), and follow them with strength "
            f"{strength} (0 is chance, 1 is fully{of_strength}), {items}"
        )
    return (
        f"{begin}: {strength} (0 is chance, 1 is full agreement; "
        f"{round(typical, 2) + 0.0:.2f} {middle}{of_strength}), {items}"
    )


def _usual_strength(workers: pd.DataFrame) -> float:
    """Return the usual worker's strength: a weighted quantile, by how sure each is."""
    known = workers[np.isfinite(workers["error"])].sort_values("strength", kind="stable")
    if known.empty:
        return 0.0
    weights = (1 / known["error"].clip(lower=_NO_SPREAD)).cumsum().to_numpy()
    place = np.searchsorted(weights, _USUAL_RANK * weights[-1])
    return float(known["strength"].iloc[min(place, len(known) - 1)])


def _below_usual(workers: pd.DataFrame) -> pd.Series[float]:
    """By worker, how many standard deviations their worth is below the usual worker's.

    The deviation combines a robust one between workers and the worker's own noise. 0 with
    fewer than `_LEAST_WORKERS` workers.
    """
    worth, noise = workers["worth"], workers["noise"]
    if len(workers) < _LEAST_WORKERS:
        return worth * 0.0
    usual = worth.median()
    between = (_MAD_TO_SD * (worth - usual).abs().median()) ** 2
    between = max(between - noise.median() ** 2, 0.0)
    deviation = np.sqrt(between + noise**2)
    far: pd.Series[float] = (usual - worth) / deviation.where(deviation > 0)
    return far.fillna(0.0)


def _suspicions(workers: pd.DataFrame) -> list[float]:
    """By worker, from 0 to 1 by the order of their worth, drawn towards that of all."""
    worth, items = workers["worth"], workers["items"]
    mean = (worth * items).sum() / max(items.sum(), 1)
    drawn = (worth * items + _VOTES_OF_ALL * mean) / (items + _VOTES_OF_ALL)
    usual = drawn.median()
    deviation = max(_MAD_TO_SD * (drawn - usual).abs().median(), 0.05)
    return [float(scipy.special.expit(far - _TWO)) for far in (usual - drawn) / deviation]


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """Answers that can be compared with others' about the same item.

    Attributes:
        workers: by worker, `items` that can be compared, `worth` of their answers with its
            `noise`, and `strength` with its `error` (infinite if nothing shows it).
        rows: by worker, the places of their answers in `codes` and `shares`.
        codes: by answer, its rating.
        shares: by answer, the share of each rating among the others'.
        beliefs: by answer, the probability of each rating by the others' votes; of votes.
        apart: the distance between any two ratings.
        is_votes: whether each answer is a single choice, or a place on a scale of two.
        is_merged: whether the answers are marks or transcripts; then without `rows`.
    """

    workers: pd.DataFrame
    rows: Mapping[str, Codes]
    codes: Codes
    shares: Floats
    beliefs: Floats
    apart: Floats
    is_votes: bool
    is_merged: bool = False

    def is_lacking(self, worker: str, *, weak: bool, usual: float) -> bool:
        """Whether nothing excuses a worker whose answers are weak or far from usual."""
        if self.is_merged:
            return weak  # who draws less exactly than others still looks
        if not self.is_votes:
            return not self._is_near_as_usual(worker)
        if len(self.apart) <= _TWO:
            return True
        row = self.workers.loc[worker]
        is_strong = row["strength"] >= max(_OF_USUAL * usual, _SURELY_POSITIVE * row["error"])
        return not ((is_strong and not weak) or self._explains_as_usual(worker))

    def _explains_as_usual(self, worker: str) -> bool:
        """Whether a worker's options explain half of what the usual worker's do."""
        rows = self.rows[worker]
        own = self._ratios[worker]
        return (
            own >= _OF_USUAL * float(self._ratios.median())
            and chance_of_ratio(self.codes[rows], self.beliefs[rows]) <= _CHANCE
        )

    @cached_property
    def _ratios(self) -> pd.Series[float]:
        """By worker, the correlation ratio of what the others believe over their options."""
        return pd.Series(
            {
                worker: correlation_ratio(self.codes[rows], self.beliefs[rows])
                for worker, rows in self.rows.items()
            },
            dtype="float64",
        )

    def _is_near_as_usual(self, worker: str) -> bool:
        near = self._nearness
        usual = float(near["relation"].median())
        own = near.loc[worker]
        return bool(
            own["surely"] >= _SURELY_POSITIVE and own["relation"] >= _OF_USUAL * max(usual, 0.0)
        )

    @cached_property
    def _nearness(self) -> pd.DataFrame:
        """By worker, how near their answers are to the others', against random orders."""
        rows = {
            worker: nearness(self.codes[places], self.apart @ self.shares[places].T)
            for worker, places in self.rows.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index", columns=["relation", "surely"])


def _compare(answers: pd.DataFrame, field: str, params: Params) -> _Compared:
    ratings = answers[RATED + field]
    codes, values = _coded(ratings)
    apart = _distances(values)
    is_votes = len(values) <= _TWO if is_scale(ratings) else bool((ratings.map(len) == 1).all())
    items, item_ids = pd.factorize(answers["item_id"], sort=True)
    votes = np.zeros((len(item_ids), len(values)))
    np.add.at(votes, (items, codes), 1.0)
    others = votes[items]
    others[np.arange(len(codes)), codes] -= 1.0
    count = others.sum(axis=1)
    enough = count >= params.min_others
    workers = answers["worker_id"].to_numpy()
    shares = others[enough] / count[enough, None]
    beliefs = np.empty((0, 0))
    if is_votes:
        beliefs = beliefs_of_others(items, pd.factorize(workers)[0], codes)[enough]
        by_worker = _of_votes(workers[enough], codes[enough], shares, beliefs)
    else:
        pool = votes.sum(axis=0) / max(votes.sum(), 1.0)
        own = np.einsum("nv,nv->n", apart[codes[enough]], shares)
        by_worker = _of_distances(workers[enough], own, shares @ (apart @ pool))
    places = pd.Series(workers[enough]).groupby(workers[enough]).indices
    return _Compared(
        workers=by_worker,
        rows={str(worker): np.asarray(rows, dtype="intp") for worker, rows in places.items()},
        codes=codes[enough],
        shares=shares,
        beliefs=beliefs,
        apart=apart,
        is_votes=is_votes,
    )


def _compare_merged(merged: MergedAnswers, params: Params) -> _Compared:
    """Compare marks or transcripts; an answer about another item would be like none."""
    workers, distances = list[str](), list[float]()
    for names, answers in merged.by_item(more_than=params.min_others):
        alike = np.zeros((len(answers), len(answers)))
        for i, j in combinations(range(len(answers)), 2):
            alike[i, j] = alike[j, i] = merged.compare(answers[i], answers[j])
        workers += names
        distances += (1.0 - alike.sum(axis=1) / (len(answers) - 1)).tolist()
    own = np.array(distances, dtype="float64")
    return _Compared(
        workers=_of_distances(np.array(workers, dtype="object"), own, np.ones_like(own)),
        rows={},
        codes=np.empty(0, dtype="intp"),
        shares=np.empty((0, 0)),
        beliefs=np.empty((0, 0)),
        apart=np.empty((0, 0)),
        is_votes=False,
        is_merged=True,
    )


def _of_votes(
    workers: npt.NDArray[Any], codes: Codes, shares: Floats, beliefs: Floats
) -> pd.DataFrame:
    """`_Compared.workers` of votes.

    Args:
        workers: by vote, its worker.
        codes: by vote, its option.
        shares: by vote, the share of each option among the others' votes.
        beliefs: by vote, the probability of each option by the others' votes.
    """
    kinds = beliefs.shape[1]
    line = np.arange(kinds, dtype="float64") if kinds <= _TWO else line_of(codes, shares)
    table = pd.DataFrame(
        {
            "worker": workers,
            "worth": beliefs[np.arange(len(codes)), codes],
            "own": line[codes],
            "others": beliefs @ line,
        }
    )
    by_worker = table.groupby("worker")
    centred = table[["own", "others"]] - by_worker[["own", "others"]].transform("mean")
    products = pd.DataFrame(
        {"both": centred["own"] * centred["others"], "squares": centred["others"] ** 2}
    )
    sums = products.groupby(table["worker"]).sum()
    sums["squares"] = sums["squares"].where(sums["squares"] > _NO_SPREAD)
    strength = (sums["both"] / sums["squares"]).fillna(0.0)
    rest = centred["own"] - table["worker"].map(strength) * centred["others"]
    counts = by_worker.size()
    # Where one option is rare, all vote alike on nearly all items, and differ on those that
    # decide the slope: so an item's rest counts by how much the item does.
    weighted = rest**2 * products["squares"]
    of_all = float(weighted.sum() / max(products["squares"].sum(), _NO_SPREAD))
    own = weighted.groupby(table["worker"]).sum() / sums["squares"]
    spread = (own * counts + _ITEMS_OF_ALL * of_all) / (counts + _ITEMS_OF_ALL - 1)
    # A worker who always votes alike has no spread, and may have met nothing else.
    error = ((spread.clip(lower=of_all) / sums["squares"]) ** 0.5).fillna(np.inf)
    noise = _noise(by_worker["worth"].var(ddof=0) * counts, counts, table["worth"].var(ddof=0))
    columns = {"items": counts, "worth": by_worker["worth"].mean(), "noise": noise}
    return pd.DataFrame(columns | {"strength": strength, "error": error})


def _of_distances(workers: npt.NDArray[Any], own: Floats, blind: Floats) -> pd.DataFrame:
    """`_Compared.workers` of answers that may be nearly right.

    Args:
        workers: by answer, its worker.
        own: by answer, its mean distance from the others' answers.
        blind: by answer, that of an answer drawn from all.
    """
    table = pd.DataFrame({"worker": workers, "own": own, "blind": blind})
    by_worker = table.groupby("worker")
    sums = by_worker[["own", "blind"]].sum()
    counts = by_worker.size()[sums["blind"] > 0]
    sums = sums[sums["blind"] > 0]
    agreement = 1 - sums["own"] / sums["blind"]
    rest = table["blind"] - table["own"] - table["worker"].map(agreement) * table["blind"]
    squares = (rest**2).groupby(table["worker"]).sum().reindex(sums.index)
    of_all = float((rest**2).mean()) if len(rest) else 0.0
    error = _noise(squares, counts, of_all) * counts / sums["blind"]
    columns = {"items": counts, "worth": agreement, "noise": error}
    return pd.DataFrame(columns | {"strength": agreement, "error": error})


def _noise(squares: pd.Series[float], counts: pd.Series[int], of_all: float) -> pd.Series[float]:
    """The standard error of each worker's mean, with a spread drawn towards that of all."""
    spread = (squares + _ITEMS_OF_ALL * of_all) / (counts + _ITEMS_OF_ALL)
    noise: pd.Series[float] = (spread / counts) ** 0.5
    return noise


def _coded(
    ratings: pd.Series[Any],
) -> tuple[npt.NDArray[np.intp], list[tuple[str, ...]] | Floats]:
    """Each rating as a code, and the rating that each code stands for."""
    if is_scale(ratings):
        places = ratings.to_numpy(dtype="float64")
        codes, different_places = pd.factorize(places, sort=True)
        if len(different_places) > _STEPS:
            rounded = np.round(places * _STEPS) / _STEPS
            codes, different_places = pd.factorize(rounded, sort=True)
        return codes, np.asarray(different_places, dtype="float64")
    codes, different = pd.factorize(ratings)
    values = sorted(different)
    ranks = {value: rank for rank, value in enumerate(values)}
    return np.array([ranks[value] for value in different], dtype="intp")[codes], values


def _distances(values: list[tuple[str, ...]] | Floats) -> Floats:
    """The distances between any two ratings (`piecework.qc.ratings.distance`)."""
    if not isinstance(values, list):
        return np.abs(values[:, None] - values[None, :])
    options = sorted({option for value in values for option in value})
    ticked = np.array(
        [[option in value for option in options] for value in values], dtype="float64"
    )
    shared = ticked @ ticked.T
    sizes = ticked.sum(axis=1)
    return np.asarray(1 - shared / (sizes[:, None] + sizes[None, :] - shared))
