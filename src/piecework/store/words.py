"""What people decided about words that cleaning would change, per campaign."""

from piecework.domain.review import WordVerdict
from piecework.store.columns import from_text, to_text
from piecework.store.database import Store


def keep(store: Store, verdict: WordVerdict) -> None:
    """Store the decision about a word, in place of an earlier one."""
    with store.db.atomic():
        store.db.execute(
            "INSERT INTO words (word, meant, reviewer, reviewed_at) "
            "VALUES (?, ?, ?, ?) ON CONFLICT (word) DO UPDATE SET "
            "meant = excluded.meant, reviewer = excluded.reviewer, "
            "reviewed_at = excluded.reviewed_at",
            [verdict.word, verdict.meant, verdict.reviewer, to_text(verdict.reviewed_at)],
        )


def forget(store: Store, word: str) -> None:
    """Delete the decision about a word, so that cleaning proposes it again."""
    with store.db.atomic():
        store.db.execute("DELETE FROM words WHERE word = ?", [word])


def load(store: Store) -> dict[str, WordVerdict]:
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
