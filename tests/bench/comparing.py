"""What it costs to try other rules on as many answers as VizWiz-Captions has.

The answers of `tests.bench.heuristics`, in a store, in five batches. Own and new rules
differ in one heuristic and in the policy. Run: `make bench`, or with a number of items:
`python -m tests.bench.comparing 5000`.
"""

import resource
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pandas as pd

from piecework.domain.verdicts import PolicyRule
from piecework.library.answers import opened_answers
from piecework.results.comparing.comparison import compare_opened
from piecework.results.comparing.page import comparison_page
from piecework.results.comparing.rules_to_try import TriedRules
from tests.bench.heuristics import BATCHES, ITEMS, captions
from tests.bench.targets import Figure

OWN = (
    PolicyRule(
        subject_kind="answer",
        any_of=("rule_violation", "capitals"),
        then="drop",
        because="Set aside: {evidence}.",
    ),
)
NEW = (
    *OWN,
    PolicyRule(
        subject_kind="worker",
        any_of=("canned_share", "same_sentence"),
        share=0.4,
        then="exclude",
        because="Not invited again: {evidence}.",
    ),
)


def main(n_items: int) -> dict[str, Figure]:
    """Print the seconds and the memory of a comparison, for either who decides."""
    figures = {}
    frame = _frame(n_items)
    print(f"| compare --rules, {len(frame):,} answers | changed | seconds | processor | MiB |")
    print("|---|---:|---:|---:|---:|")
    with opened_answers(frame, fields={}, task="caption") as stored:
        opened = stored.opened
        opened.store.db.execute(
            "UPDATE hits SET batch = 1 + (rowid - 1) * ? / (SELECT count(*) FROM hits)", [BATCHES]
        )
        by: tuple[tuple[Literal["policy", "person"], str], ...] = (
            ("policy", "the policy decides"),
            ("person", "people decide"),
        )
        for decided_by, decides in by:
            own = replace(opened.campaign, policy=OWN, decided_by=decided_by)
            tried = replace(
                own, policy=NEW, heuristics={**own.heuristics, "canned_share": {"min_images": 4}}
            )
            wall, processor = time.perf_counter(), time.process_time()
            compared = compare_opened(
                replace(opened, campaign=own),
                TriedRules(campaign=tried, path=Path("new.toml"), changed=()),
            )
            comparison_page(compared)
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            changed = int(compared.answers["is_changed"].sum())
            print(
                f"| {decides} | {changed:,} | {wall:.1f} | {processor:.1f} | {peak:,.0f} |",
                flush=True,
            )
            figures[f"other rules, {decides}, s"] = Figure(processor)
    return figures


def _frame(n_items: int) -> pd.DataFrame:
    table = captions(n_items)
    return pd.DataFrame(
        {
            "task": table["item_id"],
            "worker": table["worker_id"],
            "assignment": table["assignment_id"],
            "hit": table["hit_id"],
            "position": table["position"],
            "accepted_at": table["accepted_at"],
            "submitted_at": table["submitted_at"],
            "seconds": table["shown_seconds"],
            "caption": table["value.caption"],
            "has_text": table["value.has_text"],
        }
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else ITEMS)
