"""Aggregate the answers about each item in the ways that a task declares.

`majority` of a choice: the value most people chose ("" for a tie), its share of the
votes, and the votes for each option. `shares` of choices: for each option the share of
workers who ticked it, and the options that more than half ticked. `mean` of a number,
or of a choice between grades: the mean, the standard deviation (of a sample), and the
95 % interval of Student's t for the mean; both are missing for fewer than two answers.
Also the mean without each rater's own use of the scale
(`piecework.analyses.rating_scales`), with its standard error. `boxes` and `spans` of a
region: see `piecework.analyses.regions`; `transcript` of a text:
`piecework.analyses.transcripts`; `best_edit` of a text: `piecework.postprocess.edits`.
Only answers that are neither rejected nor surplus count. A worker's second answer about
an item does not count (`piecework.analyses.votes`), nor does a value that is not an
option, or is outside the scale.

Labels of `majority` and `shares` also have probabilities: `piecework.analyses.labels_from_votes`
is applied to all votes about a field. A majority gives the most frequent label; this
gives the label an expert would most probably choose, and its probability. A tie has no
likeliest label, few votes give an unsure one, and an item without votes has no label.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import t as student

from piecework.analyses.labels_from_votes import ability
from piecework.analyses.machine_labels import machine_table
from piecework.analyses.rating_scales import rating_scales
from piecework.analyses.regions import item_regions
from piecework.analyses.transcripts import item_transcripts
from piecework.analyses.votes import answers_that_count, on_scale, votes
from piecework.analyses.votes import votes_that_count as voices
from piecework.domain import column_names as names
from piecework.domain.campaign import MachineVote
from piecework.domain.column_names import LIKELIEST, PROBABILITY
from piecework.domain.field import MERGED, Aggregate, AggregateKind, Field, Regions
from piecework.postprocess.edits import best_edits

_HALF = 0.5
_CONFIDENCE = 0.95
_DECIMALS = 4
"""Of adjusted means; another machine may differ in the last digits of a float."""


def item_aggregates(
    table: pd.DataFrame,
    item_ids: Iterable[str],
    fields: Sequence[Field],
    aggregates: Sequence[Aggregate],
    *,
    columns: Mapping[str, Mapping[str, str]] | None = None,
    are_all: bool = True,
    machine: Sequence[MachineVote] = (),
) -> pd.DataFrame:
    """Return a row for each of `item_ids`, in order; index `item_id`.

    Columns `answers` (int64), then for each aggregate those of its kind, prefixed with
    the field's name: `<field>`, `<field>_share`, `<field>_votes_<option>`,
    `<field>_likeliest`, `<field>_probability`; `<field>_share_<option>`,
    `<field>_majority` (tuple of str), `<field>_probability_<option>`; `<field>_mean`,
    `<field>_sd`, `<field>_low`, `<field>_high`, `<field>_votes`, `<field>_adjusted`,
    `<field>_adjusted_error`; `<field>_merged` (str; regions as JSON),
    `<field>_agreement`; `<field>`, `<field>_share`, `<field>_votes` for a best edit, which
    needs the `columns` of the items, by id. Probabilities and adjusted means require that
    the table has all answers; labels of models (`machine`) shift probabilities.
    """
    rows = answers_that_count(table)
    by_name = {field.name: field for field in fields}
    items = pd.Index(list(dict.fromkeys(item_ids)), dtype="str", name="item_id")
    answers = rows.groupby("item_id").size().reindex(items, fill_value=0)
    parts = [pd.DataFrame({names.COUNT: answers.astype("int64")}, index=items)]
    for aggregate in aggregates:
        field = by_name[aggregate.field]
        field_votes = voices(votes(rows, field))
        if aggregate.kind == "best_edit":
            before = {
                item_id: cells.get(aggregate.column, "")
                for item_id, cells in (columns or {}).items()
            }
            parts.append(best_edits(field.name, field_votes, items, before))
        else:
            parts.append(_KINDS[aggregate.kind](field, field_votes, items))
        if are_all:
            labels = machine_table(machine, field.name)
            parts.append(_estimates(aggregate, field, field_votes, items, labels))
    whole = pd.concat(parts, axis="columns")
    # Two aggregates of a field may both count its votes.
    return whole.loc[:, ~whole.columns.duplicated(keep="last")]


def option_votes(
    field_votes: pd.DataFrame, options: Sequence[str], items: "pd.Index[str]"
) -> pd.DataFrame:
    """Count the votes for each option; index `item_id`, a column per option; int64.

    Args:
        field_votes: votes (`piecework.analyses.votes`); values str, or tuples of str.
        options: the options; other values are ignored.
        items: the item ids, which are the rows of the table.
    """
    chosen = field_votes[["item_id", "value"]].reset_index(drop=True).explode("value")
    chosen = chosen[chosen["value"].isin(options)]
    # An answer with an option twice has one vote for it.
    chosen = chosen[~chosen.set_index("value", append=True).index.duplicated()]
    counts = chosen.groupby(["item_id", "value"]).size().unstack(fill_value=0)  # noqa: PD010 - a table of counts
    return counts.reindex(index=items, columns=list(options), fill_value=0).astype("int64")


def most_chosen(counts: pd.DataFrame) -> pd.DataFrame:
    """Return the option with the most votes for each item, from `option_votes`.

    Columns `value` (str; "" for a tie and without votes) and `share` (float64: the
    leading option's share of the votes; NaN without votes).
    """
    table = counts.to_numpy()
    most = table.max(axis=1, initial=0)
    leaders = (table == most[:, None]).sum(axis=1)
    labels = np.array([*counts.columns, ""], dtype="object")
    place = np.where((leaders == 1) & (most > 0), table.argmax(axis=1), len(labels) - 1)
    total = table.sum(axis=1)
    share = np.divide(most, total, out=np.full(len(table), np.nan), where=total > 0)
    return pd.DataFrame(
        {"value": pd.Series(labels[place], index=counts.index, dtype="str"),
         "share": share},
        index=counts.index,
    )  # fmt: skip


def _majority(field: Field, field_votes: pd.DataFrame, items: "pd.Index[str]") -> pd.DataFrame:
    counts = option_votes(field_votes, [option.value for option in field.options], items)
    leaders = most_chosen(counts)
    return pd.DataFrame(
        {field.name: leaders["value"], f"{field.name}{names.SHARE}": leaders["share"]}, index=items
    ).join(counts.add_prefix(f"{field.name}{names.VOTES}_"))


def _shares(field: Field, field_votes: pd.DataFrame, items: "pd.Index[str]") -> pd.DataFrame:
    counts = option_votes(field_votes, [option.value for option in field.options], items)
    voters = field_votes.groupby("item_id").size().reindex(items)
    shares = counts.div(voters, axis="index")
    options = shares.columns.to_numpy()
    most = [tuple(options[row]) for row in (shares > _HALF).to_numpy()]
    whole = shares.add_prefix(f"{field.name}{names.SHARE}_")
    whole[f"{field.name}{names.MAJORITY}"] = pd.Series(most, index=items, dtype="object")
    return whole


def _mean(field: Field, field_votes: pd.DataFrame, items: "pd.Index[str]") -> pd.DataFrame:
    by_item = on_scale(field, field_votes["value"]).dropna().groupby(field_votes["item_id"])
    spread = by_item.agg(["size", "mean", "std"]).reindex(items)
    size = spread["size"].fillna(0).astype("int64")
    quantile = student.ppf((1 + _CONFIDENCE) / 2, np.maximum(size - 1, 1))
    reach = quantile * spread["std"] / np.sqrt(np.maximum(size, 1))
    return pd.DataFrame(
        {
            f"{field.name}{names.MEAN}": _rounded(spread["mean"]),
            f"{field.name}{names.SD}": _rounded(spread["std"]),
            f"{field.name}{names.LOW}": _rounded(spread["mean"] - reach),
            f"{field.name}{names.HIGH}": _rounded(spread["mean"] + reach),
            f"{field.name}{names.VOTES}": size,
        },
        index=items,
    )


def _regions(
    part: Regions, field: Field, field_votes: pd.DataFrame, items: "pd.Index[str]"
) -> pd.DataFrame:
    about = field_votes[field_votes["item_id"].isin(items)]
    whole = item_regions(about, part).reindex(items)
    return pd.DataFrame(
        {
            f"{field.name}{names.MERGED}": whole["merged"].fillna("").astype("str"),
            f"{field.name}{names.AGREEMENT}": _rounded(whole["f1"]),
        },
        index=items,
    )


def _transcripts(field: Field, field_votes: pd.DataFrame, items: "pd.Index[str]") -> pd.DataFrame:
    about = field_votes[field_votes["item_id"].isin(items)]
    whole = item_transcripts(about).reindex(items)
    return pd.DataFrame(
        {
            f"{field.name}{names.MERGED}": whole["merged"].fillna("").astype("str"),
            f"{field.name}{names.AGREEMENT}": _rounded(whole["likeness"]),
        },
        index=items,
    )


def _estimates(
    aggregate: Aggregate,
    field: Field,
    field_votes: pd.DataFrame,
    items: "pd.Index[str]",
    machine: pd.DataFrame | None,
) -> pd.DataFrame:
    """Return what all votes together say; no columns for fields without estimates."""
    if aggregate.kind == "mean":
        return _adjusted(field, field_votes, items)
    if probability_columns(field):
        if aggregate.kind == "majority":
            options = [option.value for option in field.options]
            return of_choice(field.name, field_votes, options, items, machine)
        if aggregate.kind == "shares":
            return of_ticks(field, field_votes, items)
    return pd.DataFrame(index=items)


def _adjusted(field: Field, field_votes: pd.DataFrame, items: "pd.Index[str]") -> pd.DataFrame:
    ratings = field_votes.assign(value=on_scale(field, field_votes["value"])).dropna(subset="value")
    estimated = rating_scales(ratings).items.reindex(items).round(_DECIMALS)
    return estimated.rename(
        columns={
            "adjusted": f"{field.name}{names.ADJUSTED}",
            "error": f"{field.name}{names.ADJUSTED_ERROR}",
        }
    )


_Kind = Callable[[Field, pd.DataFrame, "pd.Index[str]"], pd.DataFrame]

_KINDS: Mapping[AggregateKind, _Kind] = {
    "majority": _majority,
    "shares": _shares,
    "mean": _mean,
    **{kind: partial(_regions, part) for kind, part in MERGED.items()},
    "transcript": _transcripts,
}


_TICKED, _NOT = "ticked", "not"


def of_choice(
    name: str,
    field_votes: pd.DataFrame,
    options: Sequence[str],
    items: "pd.Index[str]",
    machine: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the likeliest option of each item and its probability; index `items`.

    Args:
        name: the prefix of the column names.
        field_votes: votes (`piecework.analyses.votes`); values str. A value that is not
            among the options does not count.
        options: all options.
        items: the item ids, which are the rows of the table.
        machine: labels of models (`piecework.analyses.machine_labels`), if there are any.

    Returns:
        Columns `<name>_likeliest` (str; "" for a tie and without votes) and
        `<name>_probability` (float64; NaN without votes).
    """
    votes = field_votes[field_votes["value"].isin(list(options))]
    if votes.empty:
        labels = pd.DataFrame({"value": pd.Series(dtype="str"), "probability": []})
    else:
        labels = ability(votes, values=tuple(options), machine=machine).labels
    item_labels = labels.reindex(items)
    return pd.DataFrame(
        {
            f"{name}{LIKELIEST}": item_labels["value"].fillna("").astype("str"),
            f"{name}{PROBABILITY}": _rounded(item_labels["probability"]),
        },
        index=items,
    )


def of_ticks(field: Field, field_votes: pd.DataFrame, items: "pd.Index[str]") -> pd.DataFrame:
    """Return the probability that each option applies to each item; index `items`.

    Args:
        field: a field of the kind `choices`.
        field_votes: votes (`piecework.analyses.votes`); values tuples of str.
        items: the item ids, which are the rows of the table.

    Returns:
        Columns `<field>_probability_<option>` (float64; NaN without votes; below 0.5
            if no worker ticked it, and above 0.5 if all did).
    """
    columns = {}
    for option in field.options:
        ticks_of_option = field_votes["value"].map(
            lambda ticks, value=option.value: _TICKED if value in ticks else _NOT
        )
        votes = field_votes.assign(value=ticks_of_option.astype("str"))
        name = f"{field.name}{PROBABILITY}_{option.value}"
        columns[name] = _rounded(_probabilities(votes).reindex(items))
    return pd.DataFrame(columns, index=items)


def _probabilities(votes: pd.DataFrame) -> "pd.Series[float]":
    if votes.empty:
        return pd.Series(dtype="float64")
    return ability(votes, values=(_TICKED, _NOT)).probabilities[_TICKED]


def _rounded(probabilities: "pd.Series[float]") -> "pd.Series[float]":
    """Round to six places: further ones may differ between processors."""
    return probabilities.astype("float64").round(6)


def probability_columns(field: Field) -> tuple[str, ...]:
    """Return the columns of a field's probabilities.

    Opinions have none, because there is no right label.
    """
    if field.is_opinion or field.kind not in {"choice", "choices"}:
        return ()
    if field.kind == "choice":
        return (f"{field.name}{PROBABILITY}",)
    return tuple(f"{field.name}{PROBABILITY}_{option.value}" for option in field.options)
