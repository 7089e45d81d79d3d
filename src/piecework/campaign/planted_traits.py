"""What a rehearsal knows of its workers and real life never does: who was planted.

Kept in the store, so that a report written later says the same. No step but the report
reads it: a pipeline that peeked would be rehearsing nothing.
"""

import json
from collections.abc import Mapping

from piecework.domain.ids import WorkerId
from piecework.store.database import Store, get_setting, keep_setting

_KEY = "traits of simulated workers"


def remember_planted(
    store: Store, traits: Mapping[WorkerId, str], bad: frozenset[str]
) -> None:
    """Write down each simulated worker's trait, and which traits are bad work.

    Participants are workers only when they have come, so more may follow.
    """
    known = json.loads(get_setting(store, _KEY) or "{}")
    rows = known | {worker: [trait, trait in bad] for worker, trait in traits.items()}
    if rows != known:
        keep_setting(store, _KEY, json.dumps(rows, sort_keys=True))


def planted(store: Store) -> dict[WorkerId, tuple[str, bool]]:
    """Trait, and whether it is bad work, by worker; empty outside a rehearsal."""
    rows = json.loads(get_setting(store, _KEY) or "{}")
    return {
        WorkerId(worker): (str(trait), bool(is_bad))
        for worker, (trait, is_bad) in rows.items()
    }
