"""Removal of one person's data at their request; work and money stay, under the worker id."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from piecework.foundation.sqlitefile.files import empty_log
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import invitations
from piecework.marketplace.workers.hit_forms import NAMESPACE

_EMPTY = f'<QuestionFormAnswers xmlns="{NAMESPACE}"></QuestionFormAnswers>'
"""An answer whose content was removed."""

_FIND = (
    "SELECT workers.id, worker_id, handle FROM workers "
    "LEFT JOIN participants ON participants.worker = workers.id "
    f"WHERE handle = ?1 OR {invitations.IS_PERSON} ORDER BY workers.id"
)
_VISITS = "SELECT id FROM visits WHERE worker = :worker"
_UNFINISHED = {
    "assignments at work or not judged": "SELECT count(*) FROM assignments "
    "WHERE worker = :worker AND status IN ('Accepted', 'Submitted')",
    "tests at work": "SELECT count(*) FROM test_attempts "
    "WHERE worker = :worker AND status = 'Open'",
    "requests for a qualification without an answer": "SELECT count(*) "
    "FROM qualification_requests WHERE worker = :worker AND status = 'Pending'",
    # A panel's list settles only visits that go on or are done.
    "visits that their market has not settled": "SELECT count(*) FROM visits "
    "JOIN participants USING (worker) JOIN outside_markets ON name = visits.market "
    "WHERE worker = :worker AND outcome IS NULL AND (has_bridge OR stage IN ('Open', 'Done'))",
    # A bridge may not have listed the last ones yet.
    "bonuses that their market has not paid": "SELECT (SELECT count(*) FROM bonus_lines "
    "LEFT JOIN bonus_batches ON bonus_batches.id = batch "
    f"WHERE visit IN ({_VISITS}) AND coalesce(stage, '') <> 'Paid') "
    "+ (SELECT count(*) FROM bonuses JOIN participants USING (worker) "
    "JOIN outside_markets ON outside_markets.name = market "
    "WHERE worker = :worker AND has_bridge "
    "AND NOT EXISTS (SELECT 1 FROM bonus_lines WHERE bonus = bonuses.id))",
    "bonuses that no list for their panel has": "SELECT count(*) FROM bonuses "
    "JOIN participants USING (worker) JOIN outside_markets ON outside_markets.name = market "
    "WHERE worker = :worker AND NOT has_bridge "
    "AND NOT EXISTS (SELECT 1 FROM pay_list_lines WHERE bonus = bonuses.id)",
    "lists for their panel that are not written": "SELECT count(*) FROM pay_list_lines "
    f"JOIN pay_lists ON pay_lists.id = list WHERE visit IN ({_VISITS}) AND written_ms IS NULL",
}
_REMOVABLE = {
    "name, country or id at a market": "SELECT (handle <> :no_name) "
    "+ EXISTS (SELECT 1 FROM participants WHERE worker = :worker) "
    "FROM workers WHERE id = :worker",
    "links, accounts and sessions": "SELECT (SELECT count(*) FROM invitations "
    "WHERE worker = :worker AND (revoked_ms IS NULL OR email_hash IS NOT NULL)) "
    "+ (SELECT count(*) FROM worker_identities WHERE worker = :worker) "
    "+ (SELECT count(*) FROM worker_sessions WHERE worker = :worker) "
    "+ (SELECT count(*) FROM joined_workers WHERE worker = :worker)",
    "consents": "SELECT count(*) FROM consents WHERE worker = :worker",
    "answers": "SELECT (SELECT count(*) FROM assignments WHERE worker = :worker "
    "AND answer <> :empty) + (SELECT count(*) FROM qualification_requests "
    "WHERE worker = :worker AND answer IS NOT NULL)",
    "messages, objections and reports of problems": "SELECT "
    "(SELECT count(*) FROM messages WHERE worker = :worker) "
    "+ (SELECT count(*) FROM objections WHERE worker = :worker) "
    "+ (SELECT count(*) FROM reported_problems WHERE worker = :worker)",
}
_GIVE_UP_IDS = (
    "UPDATE visits SET submission_id = 'forgotten ' || id || '//' WHERE worker = :worker "
    "AND market IN (SELECT name FROM outside_markets WHERE NOT has_bridge)"
)
_REMOVALS = (
    "DELETE FROM participants WHERE worker = :worker",
    "UPDATE invitations SET email_hash = NULL WHERE worker = :worker",
    "DELETE FROM joined_workers WHERE worker = :worker",
    "DELETE FROM consents WHERE worker = :worker",
    "DELETE FROM messages WHERE worker = :worker",
    "DELETE FROM objections WHERE worker = :worker",
    "DELETE FROM reported_problems WHERE worker = :worker",
    f"DELETE FROM visit_links WHERE visit IN ({_VISITS})",
    # A panel's link names person or session; of this text `ids_of` reads empty ids.
    _GIVE_UP_IDS,
    "UPDATE qualification_requests SET answer = NULL WHERE worker = :worker",
    "UPDATE assignments SET answer = :empty WHERE worker = :worker AND answer IS NOT NULL",
    "UPDATE workers SET handle = :no_name, country = '', subdivision = NULL WHERE id = :worker",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPerson:
    """A worker as the marketplace knows them.

    Attributes:
        number: their row.
        worker_id: their id, which stays.
        name: the requester's name for them.
    """

    number: int
    worker_id: str
    name: str


def find_person(transaction: Transaction, word: str) -> list[KnownPerson]:
    """Return the workers with this name, worker id, or id at their market."""
    return [
        KnownPerson(number=row["id"], worker_id=row["worker_id"], name=row["handle"])
        for row in transaction.all(_FIND, word, invitations.quoted_id(word))
    ]


def unfinished(transaction: Transaction, person: KnownPerson) -> dict[str, int]:
    """Return what keeps a person from being forgotten, with its number."""
    return _counts(transaction, person, _UNFINISHED)


def removable(transaction: Transaction, person: KnownPerson) -> dict[str, int]:
    """Return what the marketplace has of a person that can be removed, with its number."""
    return _counts(transaction, person, _REMOVABLE)


def hits_elsewhere(
    transaction: Transaction, person: KnownPerson, known: Collection[str]
) -> list[str]:
    """Return the titles of HITs that the person did, without the HITs that are known.

    Args:
        transaction: the open one.
        person: the worker.
        known: the HIT ids of campaigns that forget the person, too.
    """
    rows = transaction.all(
        "SELECT DISTINCT hit_id, title FROM assignments JOIN hits ON hits.id = hit "
        "JOIN hit_types ON hit_types.id = hit_type "
        "WHERE worker = ? AND submitted_ms IS NOT NULL ORDER BY title",
        person.number,
    )
    return sorted({row["title"] for row in rows if row["hit_id"] not in known})


def forget_person(transaction: Transaction, person: KnownPerson) -> None:
    """Remove a person's name, links, consent and words; repeating it has no effect."""
    # What is deleted is overwritten, and not only marked as free.
    transaction.execute("PRAGMA secure_delete = ON")
    invitations.revoke_invitation(transaction, person.name)
    for removal in _REMOVALS:
        transaction.conn.execute(removal, _values(person))


def _counts(
    transaction: Transaction, person: KnownPerson, queries: Mapping[str, str]
) -> dict[str, int]:
    counts = {
        what: transaction.conn.execute(sql, _values(person)).fetchone()[0]
        for what, sql in queries.items()
    }
    return {what: number for what, number in counts.items() if number}


def _values(person: KnownPerson) -> dict[str, object]:
    no_name = f"forgotten {person.worker_id}"
    return {"worker": person.number, "no_name": no_name, "empty": _EMPTY}


def remove_from_log(database: Path) -> None:
    """Remove what was deleted from the log of a marketplace's file, after the transaction."""
    empty_log(database)
