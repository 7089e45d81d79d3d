"""How many answers items need, and what labels of models saved.

The engine asks after each round how certain items are (`weighed`): by the probability of
their labels, or by how far their merged marks or transcripts would agree with those of other
workers.

A replay tells what labels of models saved, and what wrong ones would cost. The votes that a
campaign kept are asked for again in their order, by the same rule: by people alone, with the
models, and with the models' labels shuffled among the items, so that they say nothing about
any item. A replay cannot ask for votes that were not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from piecework.analyses.labels_from_votes import ability
from piecework.analyses.regions import item_regions
from piecework.domain.campaign import AsNeeded
from piecework.domain.field import MERGED, Field
from piecework.domain.late_modules import np, npt, pd

Votes: TypeAlias = "tuple[pd.DataFrame, Sequence[object]]"
"""The votes on a field (`piecework.analyses.votes`) and its possible values."""

_RESAMPLES = 2000
_TAIL_PERCENT = 2.5


@dataclass(frozen=True, kw_only=True)
class Replay:
    """How many votes were asked for.

    Attributes:
        asked: by item, the votes asked for (int64).
        is_sure: by item, whether its label became certain enough.
        is_lacking: by item, whether more votes would have been asked for than were
            kept.
        same: items with the label that all votes of people give, without models.
    """

    asked: pd.Series[int]
    is_sure: pd.Series[bool]
    is_lacking: pd.Series[bool]
    same: int

    @property
    def lacking(self) -> int:
        """Items for which more votes would have been asked for than were kept."""
        return int(self.is_lacking.sum())

    def at_most(self, most: int) -> pd.Series[int]:
        """By item, the votes that would be asked for if lacking ones took the most."""
        return self.asked.where(~self.is_lacking, most)


@dataclass(frozen=True, kw_only=True)
class Replays:
    """The replays of a campaign's votes.

    Attributes:
        rule: the rule of the replays.
        least: votes that each item gets.
        comparable: items with a label from all votes of people.
    """

    rule: AsNeeded
    least: int
    comparable: int
    people: Replay
    models: Replay
    shuffled: Replay


def replays(
    votes: Sequence[Votes],
    number: int,
    machine: pd.DataFrame,
    rule: AsNeeded,
    *,
    least: int,
    seed: int,
) -> Replays:
    """Replay the votes of people alone, with the models, and with shuffled models.

    Args:
        votes: for each field with a label, its votes in their order. The frames have
            the same rows: one for each answer.
        number: which of the fields the models label.
        machine: the models' labels (`piecework.analyses.machine_labels`).
        rule: when a label is certain enough.
        least: votes that each item gets.
        seed: of the shuffling.
    """
    labels = _labels(votes[number], None).dropna()

    def replay(models: pd.DataFrame | None) -> Replay:
        of_fields = [models if n == number else None for n in range(len(votes))]
        return _replay(votes, of_fields, rule, least, labels, number)

    return Replays(
        rule=rule,
        least=least,
        comparable=len(labels),
        people=replay(None),
        models=replay(machine),
        shuffled=replay(shuffled(machine, seed=seed)),
    )


def shuffled(machine: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Return labels of models that are shuffled among the items.

    All models are shuffled alike, so that they still agree with each other.
    """
    items = machine["item_id"].drop_duplicates().to_numpy()
    others = np.random.default_rng(seed).permutation(items)
    return machine.assign(item_id=machine["item_id"].map(dict(zip(items, others, strict=True))))


def saved(made: Replays, replay: Replay, *, seed: int) -> tuple[float, float, float, float]:
    """Return the share of votes that a replay saves against people alone.

    Without items that lack votes, it is a single number. If there are any, the replays
    tell bounds: lacking items take no further votes, or the most that the rule allows.

    Returns:
        The lowest and the highest share saved, and the 95 % interval around both. It is
        a percentile bootstrap over items. It does not repeat the replays, so the
        workers' accuracy and the models' weights are taken as estimated.
    """
    most = made.rule.most
    few, many = made.people.asked, made.people.at_most(most)
    pairs = ((few, replay.at_most(most)), (many, replay.asked))
    lowest, highest = (1.0 - after.sum() / before.sum() for before, after in pairs)
    (low, _), (_, high) = (_interval(*pair, seed=seed) for pair in pairs)
    return float(lowest), float(highest), low, high


def _interval(before: pd.Series[int], after: pd.Series[int], *, seed: int) -> tuple[float, float]:
    first = before.to_numpy(dtype="float64")
    second = after.reindex(before.index).to_numpy(dtype="float64")
    draws = np.random.default_rng(seed).multinomial(
        len(first), np.full(len(first), 1 / len(first)), size=_RESAMPLES
    )
    shares: npt.NDArray[np.float64] = 1.0 - (draws @ second) / (draws @ first)
    low, high = np.percentile(shares, [_TAIL_PERCENT, 100 - _TAIL_PERCENT])
    return float(low), float(high)


def _replay(
    votes: Sequence[Votes],
    machine: Sequence[pd.DataFrame | None],
    rule: AsNeeded,
    least: int,
    labels: pd.Series[str],
    number: int,
) -> Replay:
    asked = asked_for(votes, machine, rule, least=least)
    of_field, values = votes[number]
    so_far = first_votes(of_field, asked["asked"])
    final = _labels((so_far, values), machine[number])
    return Replay(
        asked=asked["asked"],
        is_sure=asked["is_sure"],
        is_lacking=asked["is_lacking"],
        same=int((final.reindex(labels.index) == labels).sum()),
    )


def asked_for(
    votes: Sequence[Votes], machine: Sequence[pd.DataFrame | None], rule: AsNeeded, *, least: int
) -> pd.DataFrame:
    """Ask for kept votes in their order, round by round, as a campaign does.

    Args:
        votes: as for `replays`.
        machine: for each field, labels of models, if there are any.
        rule: when a label is certain enough; such an item is not looked at again.
        least: votes that each item gets.

    Returns:
        By item, the columns of `Replay`: `asked`, `is_sure`, `is_lacking`.
    """
    kept = votes[0][0]["item_id"].value_counts(sort=False)
    asked = kept.clip(upper=least).astype("int64")
    is_sure = pd.Series(data=False, index=asked.index)
    is_lacking = is_sure.copy()
    still_open = asked
    while len(still_open):
        so_far = [(first_votes(of_field, asked), values) for of_field, values in votes]
        weights = weighed(so_far, still_open, rule, machine)
        is_sure[weights.index] = weights["probability"] >= rule.until
        wants_more = weights["wanted"] > still_open
        has_more = still_open < kept[still_open.index]
        is_lacking[weights.index] = wants_more & ~has_more
        still_open = still_open[wants_more & has_more] + 1
        asked[still_open.index] = still_open
    return pd.DataFrame({"asked": asked, "is_sure": is_sure, "is_lacking": is_lacking})


def first_votes(votes: pd.DataFrame, numbers: pd.Series[int]) -> pd.DataFrame:
    """Return as many of each item's votes as `numbers` says, in their order."""
    items = votes["item_id"]
    return votes[items.groupby(items).cumcount() < items.map(numbers)]


def _labels(votes: Votes, machine: pd.DataFrame | None) -> pd.Series[str]:
    of_field, values = votes
    known = of_field[of_field["value"].isin(list(values))]
    return ability(known, values=tuple(values), machine=machine).labels["value"]


def weighed(
    votes: Sequence[tuple[pd.DataFrame, Sequence[object]]],
    answers: pd.Series[int],
    rule: AsNeeded,
    machine: Sequence[pd.DataFrame | None] = (),
    merged: Sequence[pd.Series[float]] = (),
) -> pd.DataFrame:
    """Estimate how certain the results of items are, and how many answers they need.

    Args:
        votes: for each field with a label, all votes so far
            (`piecework.analyses.votes`; including those about other items, which show
            workers' ability), and the possible values. Other values do not count.
        answers: by id of the items in question, the answers that count so far.
        rule: when an item is certain enough.
        machine: for each field, labels of models (`piecework.analyses.machine_labels`), if
            there are any.
        merged: for each field whose answers are merged, its certainty by id of the item
            (`certainty_of_merged`); an item without one is not certain at all.

    Returns:
        The index of `answers`: `probability` (float64, of the likeliest label or of what
        was merged; of the least certain field, if there are several; of a guess, without
        votes) and `wanted` (int64: one more than there are, if the item is not certain
        enough and more may be asked for).
    """
    models = machine or [None] * len(votes)
    sure = pd.concat(
        [
            *(
                _probabilities(of_field, values, of_models).reindex(
                    answers.index, fill_value=1 / len(values)
                )
                for (of_field, values), of_models in zip(votes, models, strict=True)
            ),
            *(certainty.reindex(answers.index).fillna(0.0) for certainty in merged),
        ],
        axis="columns",
    ).min(axis="columns")
    is_asked_again = (sure < rule.until) & (answers < rule.most)
    return pd.DataFrame(
        {
            "probability": sure.astype("float64"),
            "wanted": (answers + is_asked_again).astype("int64"),
        }
    )


def certainty_of_merged(votes: pd.DataFrame, field: Field) -> pd.Series[float]:
    """Return how far what workers merged would agree with what as many others merge.

    Spearman and Brown (British Journal of Psychology 3, 1910) step the agreement of single
    raters up to that of their means: n raters who agree by r give n r / (1 + (n - 1) r).
    Marks and transcripts are no means, so this is an estimate.

    Args:
        votes: on the field (`piecework.analyses.votes`).
        field: with marks or a transcript (`Field.is_merged`).

    Returns:
        float64 from 0 to 1 by `item_id`; NaN with fewer than two workers.
    """
    if field.is_transcript:
        # It loads pandas, and passes that find nothing to do load this module too.
        from piecework.analyses.transcripts import item_transcripts  # noqa: PLC0415

        of_items = item_transcripts(votes)
        alike = of_items["likeness"]
    else:
        of_items = item_regions(
            votes, next(part for part in MERGED.values() if part == field.regions)
        )
        alike = of_items["f1"]
    workers = of_items["workers"]
    return workers * alike / (1 + (workers - 1) * alike)


def _probabilities(
    votes: pd.DataFrame, values: Sequence[object], machine: pd.DataFrame | None
) -> pd.Series[float]:
    known = votes[votes["value"].isin(list(values))]
    if known.empty:
        return pd.Series(dtype="float64")
    fit = ability(known, values=tuple(values), machine=machine)
    return fit.labels["probability"]
