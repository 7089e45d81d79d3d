"""The table of answers for results: verdicts and clean text, but no worker ids."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.column_names import MARKET, OUTCOME
from piecework.domain.dataset import SPLITS, Shares, Split
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.task import MIXED_IN
from piecework.domain.verdicts import Decision
from piecework.postprocess.answers import FOR_HEURISTICS, answer_columns, with_edits
from piecework.postprocess.hidden_ids import HiddenIds, hide_in_answers
from piecework.postprocess.pseudonyms import pseudonyms
from piecework.postprocess.splits import splits
from piecework.store import assignments, hits, imports, item_totals, results
from piecework.store.tables import read_verdicts

_NOT_YET = "not decided yet"


def answers_table(
    opened: OpenedCampaign,
    *,
    proposed: Mapping[str, Decision] | None = None,
    name_of: Callable[[str], str] = str,
) -> pd.DataFrame:
    """Return all answers in the order of their ids.

    `piecework.postprocess.answers` describes the columns; `MARKET` is another one if
    HITs went to markets of their own. An answer without a decision
    is provisional, and not rejected.

    Args:
        opened: the campaign.
        proposed: decisions to show for undecided answers, by answer id.
        name_of: returns the name of an answer for its id, if the rows are needed in the order
            of other names: to sort them again would copy the table.
    """
    campaign, store, ids = opened.campaign, opened.store, hidden_ids(opened)
    table = opened.answers().drop(columns=FOR_HEURISTICS)
    table = table.take(table.index.map(name_of).argsort())
    table = table.assign(
        **_verdicts(opened, table, proposed or {}), **_published(opened, table, ids)
    )
    columns = answer_columns(campaign.task)
    edited = with_edits(
        table, {str(answer_id): made for answer_id, made in results.load_edits(store).items()}
    )
    edited = hide_in_answers(edited, campaign.task, ids)
    more = dict[str, pd.Series]()
    if opened.is_imported:
        outcomes = imports.outcomes(store)
        more[OUTCOME] = pd.Series(outcomes["outcome"], index=outcomes["answer_id"])
    elif of_hit := hits.markets(store):
        more[MARKET] = edited["hit_id"].map(of_hit).fillna("").astype("str")
    return edited.assign(**more)[[*columns, *more]]


def hidden_ids(opened: OpenedCampaign) -> HiddenIds:
    """Return what puts pseudonyms in the place of all known ids."""
    workers = assignments.all_workers(opened.store)
    ids = (workers, assignments.ids_unlike_items(opened.store))
    # An export asks ten times, and making it takes longer than comparing ids.
    known = opened.kept.get("hidden ids")
    if known is None or known[0] != ids:
        made = HiddenIds(workers, opened.pseudonym_key, assignment_ids=ids[1])
        known = opened.kept["hidden ids"] = (ids, made)
    hidden: HiddenIds = known[1]
    return hidden


def surplus(
    table: pd.DataFrame, is_kept: "pd.Series[bool]", *, least: int, wanted: Mapping[ItemId, int]
) -> "pd.Series[bool]":
    """Kept answers beyond the number wanted: paid, and set aside.

    An item takes one kept answer per worker, up to the number wanted, the earliest
    first.

    Args:
        table: with the columns `item_id`, `worker_id`, `submitted_at`,
            `assignment_id` and `position`.
        is_kept: by answer id.
        least: answers wanted for an item.
        wanted: the number for items that need more.

    Returns:
        By answer id, in the order of the table.
    """
    by = ["submitted_at", "assignment_id", "position"]
    kept = table.loc[is_kept, [*by, "item_id", "worker_id"]].sort_values(by)
    first = kept.drop_duplicates(["item_id", "worker_id"])
    place = first.groupby("item_id").cumcount()
    most = first["item_id"].map(wanted).astype("float64").fillna(least)
    is_counted = (place < most).reindex(table.index, fill_value=False)
    # What counts is kept.
    return is_kept != is_counted


def _verdicts(
    opened: OpenedCampaign, table: pd.DataFrame, proposed: Mapping[str, Decision]
) -> dict[str, "pd.Series[bool] | pd.Series[str]"]:
    decided = read_verdicts(opened.store).reindex(table.index)
    is_provisional = decided["verdict"].isna()
    open_ids = [name for name in table.index[is_provisional] if name in proposed]
    decided.loc[open_ids, "verdict"] = [proposed[name].verdict for name in open_ids]
    decided.loc[open_ids, "because"] = [
        f"{_NOT_YET}: {proposed[name].because}" for name in open_ids
    ]
    is_rejected = decided["verdict"].isin(["drop"])
    is_kept = decided["verdict"].isin(["keep"])
    posting = opened.campaign.posting
    wanted = item_totals.wanted(opened.store, posting)
    return {
        "is_rejected": is_rejected,
        "is_provisional": is_provisional,
        "rejected_because": decided["because"].where(is_rejected, "").astype("str"),
        "is_surplus": surplus(table, is_kept, least=posting.assignments, wanted=wanted),
    }


def _published(
    opened: OpenedCampaign, table: pd.DataFrame, ids: HiddenIds
) -> dict[str, "pd.Series[str]"]:
    campaign = opened.campaign
    urls = {str(item.item_id): ids.everywhere(item.picture) for item in campaign.items}
    return {
        "worker": pseudonyms(table["worker_id"], opened.pseudonym_key),
        "url": table["item_id"].map(urls).astype("str"),
        "split": table["item_id"]
        .map(split_of_items(campaign.items, campaign.dataset.shares))
        .astype("str"),
    }


def split_of_items(items: Sequence[Item], shares: Shares) -> dict[str, Split]:
    """Return the split of each item; mixed-in ones, which no file has, are in the first."""
    own = [item for item in items if not item.columns.get(MIXED_IN)]
    return {str(item.item_id): SPLITS[0] for item in items} | splits(own, shares)


def moments(texts: "pd.Series[str]") -> "pd.Series[pd.Timestamp]":
    """Read the times of a store; missing ones are NaT, of the same resolution."""
    times = pd.to_datetime(texts, utc=True, format="ISO8601")
    return times.astype("datetime64[us, UTC]")


def worked_seconds(rows: pd.DataFrame) -> "pd.Series[float]":
    """Return the time of each assignment, from `accepted_at` to `submitted_at`; NaN if unknown."""
    return (moments(rows["submitted_at"]) - moments(rows["accepted_at"])).dt.total_seconds()
