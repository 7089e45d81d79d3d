"""The input frame of aggregation and agreement: votes by item and worker.

A *votes* frame has one row per vote and the columns `item_id` (str), `worker` (str) and
`value` (str or a number). Two rules decide which votes count, for every method:

- a vote without a value (missing or "") does not count;
- only a worker's first vote about an item, in the frame's order, counts. Votes of
  unknown workers (worker missing or "") are all by different people.
"""

import pandas as pd

COLUMNS = ("item_id", "worker", "value")


def counted(votes: pd.DataFrame) -> pd.DataFrame:
    """Return the votes that count, in their order, with a new index and these columns.

    Raises:
        ValueError: a column is missing.
    """
    missing = [name for name in COLUMNS if name not in votes.columns]
    if missing:
        raise ValueError(
            f"votes have no column {', '.join(missing)}; the required columns are "
            f"{', '.join(COLUMNS)}, found {', '.join(map(str, votes.columns))}"
        )
    cast = votes.loc[votes["value"].notna() & (votes["value"] != ""), list(COLUMNS)]
    is_known = cast["worker"].notna() & (cast["worker"] != "")
    is_repeated = cast.duplicated(["item_id", "worker"]) & is_known
    return cast.loc[~is_repeated].reset_index(drop=True)


def vote_table(votes: pd.DataFrame) -> pd.DataFrame:
    """Count the votes: index `item_id`, one column per value, both sorted; int64.

    Only items and values with votes are included.
    """
    valid = counted(votes)
    if valid.empty:
        return pd.DataFrame(index=pd.Index([], dtype="str", name="item_id"), dtype="int64")
    return pd.crosstab(valid["item_id"], valid["value"]).astype("int64")
