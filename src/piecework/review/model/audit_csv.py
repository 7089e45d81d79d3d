"""The audit trail of a review as a CSV (docs/how-to/sign-in.md)."""

from piecework.campaign.opened import OpenedCampaign
from piecework.postprocess.datasets.file_table import to_csv
from piecework.store import reviews

COLUMNS = ("at", "event", "name", "role", "subject", "issuer", "about")


def audit_csv(opened: OpenedCampaign) -> tuple[bytes, int]:
    """Return the file, the oldest entry first, and its number of rows.

    Times are UTC. A decision has the role with which its author had signed in before.
    """
    rows = [
        (
            entry.at.isoformat(timespec="seconds"),
            entry.event,
            entry.identity.name,
            entry.identity.role,
            entry.identity.subject,
            entry.identity.issuer,
            entry.about,
        )
        for entry in reviews.trail(opened.store)
    ]
    columns = {name: [row[number] for row in rows] for number, name in enumerate(COLUMNS)}
    return to_csv(columns), len(rows)
