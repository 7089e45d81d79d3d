"""A campaign whose policy rejects who is wrong on gold, and tells what is right.

The first to meet the item of which the answer is known is wrong about it; the work is
rejected, and asked again of others, who meet that item after it was told.
"""

import re
from pathlib import Path

from tests.as_needed_campaign import AS_NEEDED, VOTES, write_as_needed

WHY = "The picture shows a plate that is broken."
REASON = "Not approved: differs from the known answer to congruent on 1 of 1 item."
FEEDBACK = re.compile(
    re.escape(REASON) + r" The answer to item [12] of this HIT was known in advance\. "
    r'To "[^"]+" you answered "[^"]+"; the known answer is "[^"]+"\. ' + re.escape(WHY)
)
TEXT = (
    AS_NEEDED.replace(
        "[posting]", '[gold]\nfile = "gold.csv"\nshare = 0.2\nfeedback = true\n[posting]'
    )
    .replace(
        "random_sample = false", "random_sample = false\n[heuristics.gold_failed]\nmin_items = 1"
    )
    .replace(
        "[[decisions.rule]]",
        """[[decisions.rule]]
on = "assignment"
any_of = ["gold_failed"]
then = "reject"
because = "Not approved: {evidence}."
[[decisions.rule]]""",
        1,
    )
    .replace("least = 2, most = 4, until = 0.86", "least = 2, most = 3, until = 0.6")
)
AGREED = dict.fromkeys(VOTES, "yyyyyyyy") | {"p9": "ynnnnnnn"}
"""Votes by item: all agree, and the first about the known one is wrong."""


def write_gold(folder: Path, text: str = TEXT) -> Path:
    """Write the campaign's file, its items and its gold; the file's path."""
    (folder / "gold.csv").write_text(
        "pair_id,url,description,gold.congruent,gold.because\n"
        f"p9,https://example.org/p9.jpg,A plate,incongruent,{WHY}\n"
    )
    return write_as_needed(folder, text)
