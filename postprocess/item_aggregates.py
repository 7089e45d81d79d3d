"""What the answers about one item say together, in the ways that a task declares.

`majority` of a choice: the value most people chose ("" for a tie), its share of the
votes, and the votes for each option. `shares` of choices: for each option the share of
people who ticked it, and the options that more than half ticked. `mean` of a number, or
of a choice between grades: the mean, the standard deviation (of a sample), and the 95 %
interval of Student's t for the mean; both are missing for fewer than two answers.
`best_edit` of a text: see `postprocess.best_edit`.
Counted are answers that are neither rejected nor surplus; a worker's second answer
about an item is no second voice (`analyses.votes`), nor is a value that is
none of the options.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import t as student

from analyses.fields import counted, votes
from analyses.majority import majority
from analyses.votes import counted as voices
from analyses.votes import vote_table
from domain.task import Aggregate, AggregateKind, Field
from postprocess.best_edit import best_edits

_HALF = 0.5
_CONFIDENCE = 0.95


def item_aggregates(
    frame: pd.DataFrame,
    item_ids: Iterable[str],
    fields: Sequence[Field],
    aggregates: Sequence[Aggregate],
    *,
    columns: Mapping[str, Mapping[str, str]] | None = None,
) -> pd.DataFrame:
    """One row for each of `item_ids`, in their order; index `item_id`.

    Columns `answers` (int64), then for each aggregate those of its kind, whose names
    begin with the field's: `<field>`, `<field>_share`, `<field>_votes_<option>`;
    `<field>_share_<option>`, `<field>_majority`; `<field>_mean`, `<field>_sd`,
    `<field>_low`, `<field>_high`, `<field>_votes`; `<field>`, `<field>_share`,
    `<field>_votes` for a best edit, which needs the `columns` of the items, by id.
    """
    rows = counted(frame)
    by_name = {field.name: field for field in fields}
    items = pd.Index(list(dict.fromkeys(item_ids)), dtype="str", name="item_id")
    answers = rows.groupby("item_id").size().reindex(items, fill_value=0)
    parts = [pd.DataFrame({"answers": answers.astype("int64")}, index=items)]
    for one in aggregates:
        field = by_name[one.field]
        said = voices(votes(rows, field))
        if one.kind == "best_edit":
            before = {
                name: of.get(one.column, "") for name, of in (columns or {}).items()
            }
            parts.append(best_edits(field.name, said, items, before))
        else:
            parts.append(_KINDS[one.kind](field, said, items))
    whole = pd.concat(parts, axis="columns")
    # Two aggregates of a field may both count its votes.
    return whole.loc[:, ~whole.columns.duplicated(keep="last")]


def _majority(field: Field, said: pd.DataFrame, items: "pd.Index[str]") -> pd.DataFrame:
    options = [option.value for option in field.options]
    said = said.assign(value=said["value"].astype("str"))
    said = said.loc[said["value"].isin(options)]
    leading = majority(said).reindex(items)
    table = vote_table(said).reindex(index=items, columns=options, fill_value=0)
    return pd.DataFrame(
        {
            field.name: leading["value"].fillna("").astype("str"),
            f"{field.name}_share": leading["share"].astype("float64"),
        }
        | {
            f"{field.name}_votes_{name}": table[name].astype("int64")
            for name in options
        },
        index=items,
    )


def _shares(field: Field, said: pd.DataFrame, items: "pd.Index[str]") -> pd.DataFrame:
    said = said.loc[said["value"].map(lambda ticked: isinstance(ticked, tuple | list))]
    shares = pd.DataFrame(
        {
            option.value: said["value"]
            .map(lambda ticked, name=option.value: name in ticked)
            .astype("float64")
            .groupby(said["item_id"])
            .mean()
            .reindex(items)
            for option in field.options
        },
        index=items,
    )
    names = shares.columns.to_numpy()
    most = [names[row].tolist() for row in (shares > _HALF).to_numpy()]
    whole = shares.add_prefix(f"{field.name}_share_")
    whole[f"{field.name}_majority"] = pd.Series(most, index=items, dtype="object")
    return whole


def _mean(field: Field, said: pd.DataFrame, items: "pd.Index[str]") -> pd.DataFrame:
    # What is no grade is no vote for one.
    numbers = pd.to_numeric(said["value"], errors="coerce").astype("float64")
    of_item = numbers.dropna().groupby(said["item_id"])
    found = of_item.agg(["size", "mean", "std"]).reindex(items)
    size = found["size"].fillna(0).astype("int64")
    quantile = student.ppf((1 + _CONFIDENCE) / 2, np.maximum(size - 1, 1))
    reach = quantile * found["std"] / np.sqrt(np.maximum(size, 1))
    return pd.DataFrame(
        {
            f"{field.name}_mean": found["mean"],
            f"{field.name}_sd": found["std"],
            f"{field.name}_low": found["mean"] - reach,
            f"{field.name}_high": found["mean"] + reach,
            f"{field.name}_votes": size,
        },
        index=items,
    )


_Kind = Callable[[Field, pd.DataFrame, "pd.Index[str]"], pd.DataFrame]

_KINDS: Mapping[AggregateKind, _Kind] = {
    "majority": _majority,
    "shares": _shares,
    "mean": _mean,
}
