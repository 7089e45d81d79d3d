"""What results are made of besides answers: edits, decided words, settled labels.

An edit changes accepted text; the text itself stays with the answer. Proposals are edits
that cleaning is not sure enough of: they are not part of the clean text. People decide
about words that cleaning would change, and settle labels where workers differed.

Nobody replaces another person's label or word: a page says with a decision what it showed
of it before, and if that has changed meanwhile, nothing is stored. Workers' decisions about
words may be replaced by any reviewer.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from piecework.domain.edit import Edit
from piecework.domain.errors import ConfigError
from piecework.domain.ids import AnswerId
from piecework.domain.verdicts import Label, WordVerdict
from piecework.store.database import Store, from_text, insert, to_text

EditsByAnswer = Mapping[AnswerId, Sequence[Edit]]


def replace_edits(store: Store, edits: EditsByAnswer, proposals: EditsByAnswer) -> None:
    """Store these and delete all others: cleaning always covers the whole campaign."""
    with store.db.atomic():
        for table, kept in (("edits", edits), ("edit_proposals", proposals)):
            store.db.execute(f"DELETE FROM {table}")
            insert(store, table, _rows_of_edits(kept))


def load_edits(store: Store) -> dict[AnswerId, tuple[Edit, ...]]:
    """Edits by answer; an answer without edits is absent."""
    return _load_edits(store, "edits")


def load_proposed_edits(store: Store) -> dict[AnswerId, tuple[Edit, ...]]:
    """Return proposals by answer, with offsets into the answer's own text."""
    return _load_edits(store, "edit_proposals")


def _rows_of_edits(edits: EditsByAnswer) -> Iterator[dict[str, object]]:
    for answer_id, many in edits.items():
        for number, edit in enumerate(many):
            yield {"answer_id": answer_id, "number": number, **asdict(edit)}


def _load_edits(store: Store, table: str) -> dict[AnswerId, tuple[Edit, ...]]:
    edits_by_answer: dict[AnswerId, list[Edit]] = {}
    for row in store.db.query(f"SELECT * FROM {table} ORDER BY answer_id, number"):
        answer_id = AnswerId(row.pop("answer_id"))
        del row["number"]
        edits_by_answer.setdefault(answer_id, []).append(Edit(**row))
    return {answer_id: tuple(edits) for answer_id, edits in edits_by_answer.items()}


def keep_word(store: Store, verdict: WordVerdict) -> None:
    """Store the decision about a word, in place of an earlier one."""
    with store.db.atomic():
        store.db.execute(
            "INSERT INTO words (word, meant, reviewer, reviewed_at) "
            "VALUES (?, ?, ?, ?) ON CONFLICT (word) DO UPDATE SET "
            "meant = excluded.meant, reviewer = excluded.reviewer, "
            "reviewed_at = excluded.reviewed_at",
            [verdict.word, verdict.meant, verdict.reviewer, to_text(verdict.reviewed_at)],
        )


def forget_word(store: Store, word: str) -> None:
    """Delete the decision about a word, so that cleaning proposes it again."""
    with store.db.atomic():
        store.db.execute("DELETE FROM words WHERE word = ?", [word])


def load_words(store: Store) -> dict[str, WordVerdict]:
    """Return the decisions by word, in alphabetical order."""
    return {
        row["word"]: WordVerdict(
            word=row["word"],
            meant=row["meant"],
            reviewer=row["reviewer"],
            reviewed_at=from_text(row["reviewed_at"]),
        )
        for row in store.db.query("SELECT * FROM words ORDER BY word")
    }


def keep_label(store: Store, label: Label) -> None:
    """Store a label, in place of an earlier one."""
    with store.db.atomic():
        store.db.execute(
            "INSERT INTO labels "
            "(item_id, field, value, reviewer, reviewed_at, because) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (item_id, field) DO UPDATE SET "
            "value = excluded.value, reviewer = excluded.reviewer, "
            "reviewed_at = excluded.reviewed_at, because = excluded.because",
            [
                label.item_id,
                label.field,
                label.value,
                label.reviewer,
                to_text(label.reviewed_at),
                label.because,
            ],
        )


def forget_label(store: Store, item_id: str, field: str) -> None:
    """Delete a label, so that only the answers determine it."""
    with store.db.atomic():
        store.db.execute("DELETE FROM labels WHERE item_id = ? AND field = ?", [item_id, field])


def load_labels(store: Store) -> dict[tuple[str, str], Label]:
    """Return all settled labels, by item and field."""
    return {
        (row["item_id"], row["field"]): Label(
            item_id=row["item_id"],
            field=row["field"],
            value=row["value"],
            reviewer=row["reviewer"],
            reviewed_at=from_text(row["reviewed_at"]),
            because=row["because"],
        )
        for row in store.db.query("SELECT * FROM labels ORDER BY item_id, field")
    }


Stored = Label | WordVerdict | None
"""What is decided about a label or a word; `None`: it is open."""

OPEN = "open"


class DecidedSince(Exception):  # noqa: N818 - not an error; another person was faster
    """A label or word is not as the page showed it.

    Attributes:
        stored: what is decided now.
    """

    def __init__(self, stored: Stored) -> None:
        super().__init__("decided since")
        self.stored = stored


def mark_of(stored: Stored) -> str:
    """Return what identifies a decision: who made it, and when."""
    return OPEN if stored is None else f"{to_text(stored.reviewed_at)} {stored.reviewer}"


def may_replace(stored: Stored, *, by: str, is_requester: bool) -> bool:
    """Return whether a person may replace or remove a decision."""
    is_of_workers = isinstance(stored, WordVerdict) and stored.is_of_workers
    return stored is None or is_requester or is_of_workers or stored.reviewer == by


def refuse_overwriting(stored: Stored, *, by: str, seen: str, is_requester: bool) -> None:
    """Return if a person may decide now, in the transaction that stores the decision.

    Args:
        stored: what is decided now.
        by: the person.
        seen: `mark_of` what they saw.
        is_requester: whether the person may replace what others decided.

    Raises:
        DecidedSince: it is not what they saw.
        ConfigError: another person decided it.
    """
    if seen != mark_of(stored):
        raise DecidedSince(stored)
    if stored is not None and not may_replace(stored, by=by, is_requester=is_requester):
        raise ConfigError([f"{stored.reviewer} decided it; a requester can change it"])
