"""Edits to accepted text; the text itself stays with the answer.

Proposals are edits that cleaning is not sure enough of: they are not part of the clean
text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from piecework.domain.edit import Edit
from piecework.domain.ids import AnswerId
from piecework.store.columns import insert
from piecework.store.database import Store

EditsByAnswer = Mapping[AnswerId, Sequence[Edit]]


def replace_all(store: Store, edits: EditsByAnswer, proposals: EditsByAnswer) -> None:
    """Store these and delete all others: cleaning always covers the whole campaign."""
    with store.db.atomic():
        for table, kept in (("edits", edits), ("edit_proposals", proposals)):
            store.db.execute(f"DELETE FROM {table}")
            insert(store, table, _rows(kept))


def load(store: Store) -> dict[AnswerId, tuple[Edit, ...]]:
    """Edits by answer; an answer without edits is absent."""
    return _load(store, "edits")


def load_proposals(store: Store) -> dict[AnswerId, tuple[Edit, ...]]:
    """Return proposals by answer, with offsets into the answer's own text."""
    return _load(store, "edit_proposals")


def _rows(edits: EditsByAnswer) -> Iterator[dict[str, object]]:
    for answer_id, many in edits.items():
        for number, edit in enumerate(many):
            yield {"answer_id": answer_id, "number": number, **asdict(edit)}


def _load(store: Store, table: str) -> dict[AnswerId, tuple[Edit, ...]]:
    edits_by_answer: dict[AnswerId, list[Edit]] = {}
    for row in store.db.query(f"SELECT * FROM {table} ORDER BY answer_id, number"):
        answer_id = AnswerId(row.pop("answer_id"))
        del row["number"]
        edits_by_answer.setdefault(answer_id, []).append(Edit(**row))
    return {answer_id: tuple(edits) for answer_id, edits in edits_by_answer.items()}
