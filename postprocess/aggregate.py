"""What the answers about one item say together.

Difficulty follows Gurari et al., "Captioning Images Taken by People Who Are Blind"
(ECCV 2020, section 3.2): of five workers nobody, a minority (1-2), a majority (3-4) or
everybody said that the image cannot be recognised. Here the same words serve any number
of answers; exactly half is no majority.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

import pandas as pd

from analyses.majority import majority

Difficulty = Literal["easy", "medium", "difficult", "unrecognizable", "unknown"]

FLAWS = (
    "blur", "bright", "dark", "obscured", "framing", "rotation", "other", "none",
)  # fmt: skip
"""The flaws that the caption page offers."""


def difficulty(*, canned: int, answers: int) -> Difficulty:
    """How hard an item was, by how many of its answers are the canned text.

    >>> [difficulty(canned=n, answers=5) for n in (0, 2, 3, 5)]
    ['easy', 'medium', 'difficult', 'unrecognizable']

    Raises:
        ValueError: more canned answers than answers.
    """
    if not 0 <= canned <= answers:
        raise ValueError(f"{canned} canned answers of {answers}")
    if answers == 0:
        return "unknown"
    if canned == answers:
        return "unrecognizable"
    if canned == 0:
        return "easy"
    return "difficult" if 2 * canned > answers else "medium"


def aggregate(
    frame: pd.DataFrame,
    item_ids: Iterable[str],
    *,
    flaws: Sequence[str] = FLAWS,
) -> pd.DataFrame:
    """One row for each of `item_ids`, in their order; index `item_id`.

    Counted are accepted answers that are not surplus, canned ones included. Columns:
    `answers`, `canned`, `captions` (int64; answers = canned + captions), `difficulty`
    (str; "unknown" without answers), `text_detected` (str; the majority, "" for a tie),
    `text_yes`, `text_no` (int64; votes), and `votes_<value>` (int64) for each of
    `flaws`.
    """
    counted = frame.loc[~(frame["is_rejected"] | frame["is_surplus"])]
    groups = dict(iter(counted.groupby("item_id")))
    nobody = counted.iloc[:0]
    said = majority(
        # Whoever answered an item twice was paid twice and is heard twice.
        counted[["item_id"]].assign(worker="", value=counted["text_detected"])
    )["value"].dropna()
    rows = {
        item_id: _about_one_item(groups.get(item_id, nobody), flaws)
        | {"text_detected": said.get(item_id, "")}
        for item_id in item_ids
    }
    columns = _about_one_item(nobody, flaws)
    return pd.DataFrame(
        {
            name: pd.Series(
                [row[name] for row in rows.values()],
                dtype="str" if isinstance(example, str) else "int64",
            )
            for name, example in columns.items()
        },
    ).set_index(pd.Index(list(rows), dtype="str", name="item_id"))


def _about_one_item(answers: pd.DataFrame, flaws: Sequence[str]) -> dict[str, object]:
    canned = int(answers["is_precanned"].sum())
    text_votes = Counter(answers["text_detected"])
    flaw_votes = Counter(flaw for ticked in answers["flaws"] for flaw in set(ticked))
    return {
        "answers": len(answers),
        "canned": canned,
        "captions": len(answers) - canned,
        "difficulty": difficulty(canned=canned, answers=len(answers)),
        "text_detected": "",
        "text_yes": text_votes["yes"],
        "text_no": text_votes["no"],
        **{f"votes_{flaw}": flaw_votes[flaw] for flaw in flaws},
    }
