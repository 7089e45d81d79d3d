"""Edits to accepted text; the text itself stays with the answer."""

from collections.abc import Mapping, Sequence

from domain.edit import Edit
from domain.ids import AnswerId
from store.columns import insert
from store.database import Store


def replace_all(store: Store, edits: Mapping[AnswerId, Sequence[Edit]]) -> None:
    """Keep these edits and no others: cleaning always works on the whole campaign."""
    rows = (
        {
            "answer_id": answer_id,
            "number": number,
            "start": edit.start,
            "end": edit.end,
            "before": edit.before,
            "after": edit.after,
            "rule": edit.rule,
            "reason": edit.reason,
        }
        for answer_id, many in edits.items()
        for number, edit in enumerate(many)
    )
    with store.db.atomic():
        store.db.execute("DELETE FROM edits")
        insert(store, "edits", rows)


def load(store: Store) -> dict[AnswerId, tuple[Edit, ...]]:
    """Edits by answer; an answer without edits is absent."""
    edits_by_answer: dict[AnswerId, list[Edit]] = {}
    for row in store.db.query("SELECT * FROM edits ORDER BY answer_id, number"):
        answer_id = AnswerId(row.pop("answer_id"))
        del row["number"]
        edits_by_answer.setdefault(answer_id, []).append(Edit(**row))
    return {answer_id: tuple(edits) for answer_id, edits in edits_by_answer.items()}
