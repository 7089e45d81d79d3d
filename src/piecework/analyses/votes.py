"""The one frame that aggregation and agreement read: who said what about which item.

A *votes* frame has a row a vote and the columns `item_id` (str), `worker` (str) and
`value` (str or a number). Two rules make every method agree on what counts:

- a vote without a value (missing or "") is no vote;
- a worker's second vote about an item does not count, the first in the frame's order
  does. Votes of unknown workers (worker missing or "") are all by different people.
"""

import pandas as pd

COLUMNS = ("item_id", "worker", "value")


def counted(votes: pd.DataFrame) -> pd.DataFrame:
    """The votes that count, in their order, with a new index and these columns alone.

    Raises:
        ValueError: a column is missing.
    """
    missing = [name for name in COLUMNS if name not in votes.columns]
    if missing:
        raise ValueError(
            f"votes have no column {', '.join(missing)}; needed are "
            f"{', '.join(COLUMNS)}, found {', '.join(map(str, votes.columns))}"
        )
    cast = votes.loc[votes["value"].notna() & (votes["value"] != ""), list(COLUMNS)]
    is_known = cast["worker"].notna() & (cast["worker"] != "")
    is_repeated = cast.duplicated(["item_id", "worker"]) & is_known
    return cast.loc[~is_repeated].reset_index(drop=True)


def vote_table(votes: pd.DataFrame) -> pd.DataFrame:
    """How many said what: index `item_id`, a column a value, both sorted; int64.

    Only items and values with votes are in it.
    """
    valid = counted(votes)
    if valid.empty:
        return pd.DataFrame(
            index=pd.Index([], dtype="str", name="item_id"), dtype="int64"
        )
    return pd.crosstab(valid["item_id"], valid["value"]).astype("int64")
