"""What heuristics found, with its evidence; replaced when more answers are known."""

import json
from collections.abc import Iterable, Mapping

from piecework.domain.verdicts import JOINED, Finding, SubjectKind
from piecework.store.database import Row, Store, insert


def replace(
    store: Store, findings: Iterable[Finding], *, subjects: Mapping[SubjectKind, Iterable[str]]
) -> None:
    """Store these findings, and delete older ones about the same subjects.

    Findings without any suspicion are not stored: a missing row means the same.

    Args:
        store: the campaign's memory.
        findings: what heuristics found, each about one of `subjects`.
        subjects: everything that was looked at, by kind.
    """
    looked_at = [(kind, subject) for kind, many in subjects.items() for subject in many]
    with store.db.atomic():
        store.db.execute(
            "DELETE FROM findings WHERE (subject_kind, subject_id) IN ("
            "SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') "
            "FROM json_each(?) AS chosen)",
            [json.dumps(looked_at)],
        )
        insert(
            store,
            "findings",
            (
                {
                    "subject_kind": finding.subject_kind,
                    "subject_id": finding.subject_id,
                    "heuristic": finding.heuristic,
                    "version": finding.version,
                    "suspicion": finding.suspicion,
                    "flag": finding.flag,
                    "evidence": finding.evidence,
                }
                for finding in findings
                if finding.flag or finding.suspicion > 0
            ),
        )


def load_findings(store: Store, *, only_flags: bool = False) -> list[Finding]:
    """Return all stored findings by subject, or only flags."""
    return _load(store, "WHERE flag = 1" if only_flags else "")


def load_for_rules(store: Store) -> list[Finding]:
    """Return what a policy's rules look at: flags, and all joined suspicions.

    For the joined suspicion, each rule has its own threshold.
    """
    return _load(store, f"WHERE flag = 1 OR heuristic = '{JOINED}'")


def _load(store: Store, chosen: str) -> list[Finding]:
    return [
        _finding(row)
        for row in store.db.query(
            f"SELECT * FROM findings {chosen} ORDER BY subject_kind, subject_id, heuristic"
        )
    ]


def about(store: Store, subjects: Iterable[tuple[SubjectKind, str]]) -> list[Finding]:
    """Return the findings about these subjects."""
    rows = store.db.query(
        "SELECT findings.* FROM json_each(?) AS chosen JOIN findings "
        "ON subject_kind = json_extract(chosen.value, '$[0]') "
        "AND subject_id = json_extract(chosen.value, '$[1]') "
        "ORDER BY subject_kind, subject_id, heuristic",
        [json.dumps(list(subjects))],
    )
    return [_finding(row) for row in rows]


def strongest_of_each(
    store: Store, subjects: Mapping[SubjectKind, Iterable[str]], *, but: str
) -> list[tuple[Finding, int]]:
    """Return the flags of these subjects by heuristic, the most suspicious first.

    Args:
        store: the campaign's memory.
        subjects: ids by kind.
        but: a heuristic to leave out.

    Returns:
        Each heuristic's strongest flag, and how many subjects it flags.
    """
    strongest: dict[str, tuple[Finding, int]] = {}
    for kind, names in subjects.items():
        rows = store.db.query(
            "SELECT * FROM (SELECT findings.*, "
            "count(*) OVER (PARTITION BY heuristic) AS flags, "
            "row_number() OVER (PARTITION BY heuristic "
            "ORDER BY suspicion DESC, subject_id) AS at FROM findings "
            "WHERE flag = 1 AND heuristic <> ? AND subject_kind = ? "
            "AND subject_id IN (SELECT value FROM json_each(?))) AS flagged "
            "WHERE at = 1 ORDER BY heuristic",
            [but, kind, json.dumps(list(names))],
        )
        for row in rows:
            finding, flags = _finding(row), int(row["flags"])
            other, before = strongest.get(finding.heuristic, (finding, 0))
            stronger = max(other, finding, key=lambda candidate: candidate.suspicion)
            strongest[finding.heuristic] = stronger, before + flags
    return sorted(strongest.values(), key=lambda pair: (-pair[0].suspicion, pair[0].heuristic))


def strongest(store: Store, *, but: str) -> dict[tuple[str, str], float]:
    """Return the strongest suspicion of any flag, by kind and id of its subject.

    Args:
        store: the campaign's memory.
        but: a heuristic to leave out.
    """
    rows = store.db.execute(
        "SELECT subject_kind, subject_id, max(suspicion) FROM findings "
        "WHERE flag = 1 AND heuristic <> ? GROUP BY 1, 2 ORDER BY 1, 2",
        [but],
    )
    return {(kind, subject_id): suspicion for kind, subject_id, suspicion in rows}


def flagged_by(store: Store, heuristic: str) -> frozenset[str]:
    """Ids of the subjects that a heuristic flags."""
    rows = store.db.execute(
        "SELECT subject_id FROM findings WHERE flag = 1 AND heuristic = ?", [heuristic]
    )
    return frozenset(subject_id for (subject_id,) in rows)


def count_flagged(store: Store) -> int:
    """Return how many subjects have at least one flag."""
    (number,) = store.db.execute(
        "SELECT count(*) FROM (SELECT DISTINCT subject_kind, subject_id "
        "FROM findings WHERE flag = 1) AS flagged"
    ).fetchone()
    return int(number)


def _finding(row: Row) -> Finding:
    return Finding(
        heuristic=str(row["heuristic"]),
        version=row["version"],  # type: ignore[arg-type]
        subject_kind=row["subject_kind"],  # type: ignore[arg-type]
        subject_id=str(row["subject_id"]),
        suspicion=row["suspicion"],  # type: ignore[arg-type]
        flag=bool(row["flag"]),
        evidence=str(row["evidence"]),
    )
