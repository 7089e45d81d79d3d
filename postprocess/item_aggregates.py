"""What the answers about one item say together, in the ways that a task declares.

`majority` of a choice: the value most people chose ("" for a tie), its share of the
votes, and the votes for each option. `shares` of choices: for each option the share of
people who ticked it, and the options that more than half ticked. `mean` of a number, or
of a choice between grades: the mean, the standard deviation (of a sample), and the 95 %
interval of Student's t for the mean; both are missing for fewer than two answers.
Counted are answers that are neither rejected nor surplus.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import pandas as pd
from scipy.stats import t as student

from domain.task import Aggregate, AggregateKind, Field
from postprocess.fields import counted, votes

Row = dict[str, object]

_HALF = 0.5
_CONFIDENCE = 0.95


def item_aggregates(
    frame: pd.DataFrame,
    item_ids: Iterable[str],
    fields: Sequence[Field],
    aggregates: Sequence[Aggregate],
) -> pd.DataFrame:
    """One row for each of `item_ids`, in their order; index `item_id`.

    Columns `answers` (int64), then for each aggregate those of its kind, whose names
    begin with the field's: `<field>`, `<field>_share`, `<field>_votes_<option>`;
    `<field>_share_<option>`, `<field>_majority`; `<field>_mean`, `<field>_sd`,
    `<field>_low`, `<field>_high`, `<field>_votes`.
    """
    rows = counted(frame)
    by_name = {field.name: field for field in fields}
    said = [(one, votes(rows, by_name[one.field])) for one in aggregates]
    answers = rows.groupby("item_id").size()
    made = {}
    for item_id in item_ids:
        row: Row = {"answers": int(answers.get(item_id, 0))}
        for one, about in said:
            values = about.loc[about["item_id"] == item_id, "value"].tolist()
            row |= _KINDS[one.kind](by_name[one.field], values)
        made[item_id] = row
    index = pd.Index(list(made), dtype="str", name="item_id")
    return pd.DataFrame(list(made.values()), index=index)


def _majority(field: Field, values: Sequence[object]) -> Row:
    count = Counter(str(value) for value in values if value)
    best = max(count.values(), default=0)
    leaders = [option.value for option in field.options if count[option.value] == best]
    is_clear = best > 0 and len(leaders) == 1
    return {
        field.name: leaders[0] if is_clear else "",
        f"{field.name}_share": best / count.total() if best else math.nan,
        **{
            f"{field.name}_votes_{option.value}": count[option.value]
            for option in field.options
        },
    }


def _shares(field: Field, values: Sequence[object]) -> Row:
    ticked = [set(value) for value in values if isinstance(value, tuple | list)]
    shares = {
        option.value: sum(option.value in one for one in ticked) / len(ticked)
        if ticked
        else math.nan
        for option in field.options
    }
    return {
        **{f"{field.name}_share_{name}": share for name, share in shares.items()},
        f"{field.name}_majority": [
            name for name, share in shares.items() if share > _HALF
        ],
    }


def _mean(field: Field, values: Sequence[object]) -> Row:
    numbers = [
        number
        for number in (_number(value) for value in values)
        if not math.isnan(number)
    ]
    count = len(numbers)
    mean = sum(numbers) / count if count else math.nan
    sd = half = math.nan
    if count > 1:
        sd = math.sqrt(sum((one - mean) ** 2 for one in numbers) / (count - 1))
        quantile = float(student.ppf((1 + _CONFIDENCE) / 2, count - 1))
        half = quantile * sd / math.sqrt(count)
    return {
        f"{field.name}_mean": mean,
        f"{field.name}_sd": sd,
        f"{field.name}_low": mean - half,
        f"{field.name}_high": mean + half,
        f"{field.name}_votes": count,
    }


def _number(value: object) -> float:
    try:
        return float(str(value)) if value not in (None, "") else math.nan
    except ValueError:  # what is no grade is no vote for one
        return math.nan


_KINDS: Mapping[AggregateKind, Callable[[Field, Sequence[object]], Row]] = {
    "majority": _majority,
    "shares": _shares,
    "mean": _mean,
}
