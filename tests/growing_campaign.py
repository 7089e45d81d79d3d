"""A campaign whose items grow, on a rehearsal's marketplace."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.domain.hit import PlannedHit
from piecework.domain.progress import Progress
from piecework.engine.opening import open_for_rehearsal
from piecework.engine.run_pass import run_pass
from piecework.marketplace.http.server import Marketplace, serve
from piecework.platforms.clocks import VirtualClock
from piecework.store import hits
from tests.crash.people import People
from tests.small_campaign import CAMPAIGN, write_files
from tests.trusted import own

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
TEXT = CAMPAIGN.replace("batches = 2\n", "").replace(
    "[posting]", "[grows]\nbatch = 4\nevery_hours = 24\n[posting]"
)
TEXT = TEXT.replace("answers = 2", "answers = 1").replace('"20.00"', '"900.00"')


@dataclass(slots=True)
class Growing:
    """The campaign at work.

    Attributes:
        path: its file.
        run: the open campaign.
        clock: the marketplace's time.
        people: whoever works on it, always well.
    """

    path: Path
    run: CampaignRun
    clock: VirtualClock
    people: People

    @property
    def items(self) -> Path:
        """The file with its rows."""
        return self.path.parent / "items.csv"

    def append(self, *names: str) -> None:
        """Let rows arrive at the end of the file."""
        with self.items.open("a") as file:
            file.writelines(row(name) for name in names)

    def advance(self) -> Progress:
        """Make a pass."""
        return run_pass(self.run)

    def finish(self) -> Progress:
        """Make passes, with people at work between them, until nothing can be done."""
        progress = self.advance()
        while progress.waiting_for == "workers" and self.people.work():
            progress = self.advance()
        return progress

    def shown(self) -> list[str]:
        """Return the items of all HITs that were posted, sorted, with repetitions."""
        return sorted(name for hit in self.posted() for name in hit.item_ids)

    def posted(self) -> list[PlannedHit]:
        """Return the HITs that were posted."""
        return [hit for hit in hits.load_hits(self.run.store) if hit.hit_id]

    def move(self, **span: float) -> None:
        """Let time pass."""
        self.clock.let_pass(timedelta(**span))


def row(name: str, picture: str = "") -> str:
    """Return a row of the items file."""
    return f"{name},https://example.org/{picture or name}.jpg\n"


def write_growing(folder: Path, names: Iterable[str], text: str = TEXT) -> Path:
    """Write the campaign's file and its first rows; return the file's path."""
    path = folder / "crash.toml"
    write_files(path, text)
    rows = "".join(row(name) for name in names)
    (folder / "items.csv").write_text("image_id,url\n" + rows)
    return own(path)


def names(first: int, last: int) -> list[str]:
    """Return the ids of rows."""
    return [f"p{number:03}" for number in range(first, last + 1)]


@contextmanager
def growing(folder: Path, first_rows: Iterable[str], text: str = TEXT) -> Iterator[Growing]:
    """Open a campaign with these rows."""
    path = write_growing(folder, first_rows, text)
    script = tuple((f"worker {number}", "good") for number in range(500))
    with serve(Marketplace(folder / "m.db", rehearsal=True, seed=1, start=START)) as running:
        clock = VirtualClock(running.endpoint_url)
        with open_for_rehearsal(load_campaign(path), running.endpoint_url, clock) as run:
            yield Growing(path, run, clock, People(running.endpoint_url, script))


def settle_all(run: CampaignRun, *, size: int, each: int = 1) -> int:
    """Deal all rows that were taken in, in batches whose work is decided and paid.

    One worker answered each item. SQLite writes it all, because a million items take
    days through the marketplace.

    Args:
        run: the campaign, between two passes.
        size: items in a batch.
        each: items in a HIT; `size` is a multiple of it.

    Returns:
        How many batches there are now.
    """
    at = (START - timedelta(days=3)).isoformat(timespec="microseconds")
    values = {"size": size, "each": each, "at": at, "day": at[:10]}
    with run.store.db.atomic():
        for statement in _SETTLED.split(";\n"):
            run.store.db.execute(statement, values)
    (batches,) = run.store.db.execute("SELECT max(batch) FROM hits").fetchone()
    return int(batches)


_SETTLED = """
UPDATE source_items SET batch = 1 + (number - 1) / :size;
INSERT INTO source_batches SELECT batch, count(*) FROM source_items GROUP BY 1;
INSERT INTO source_days (day, dealt) SELECT :day, count(*) FROM source_items WHERE true
    ON CONFLICT (day) DO UPDATE SET dealt = excluded.dealt;
INSERT INTO items (item_id, batch) SELECT item_id, batch FROM source_items;
INSERT INTO hits (hit_key, batch, round, max_assignments, reward_cents, fee_cents,
    item_ids, hit_type_id, hit_id, posted_at, looked_at, collected_at)
    SELECT 'old' || ((number - 1) / :each), min(batch), 0, 1, 50, 10,
        json_group_array(item_id), 'T', 'OLD' || ((number - 1) / :each), :at, :at, :at
    FROM source_items GROUP BY (number - 1) / :each;
INSERT INTO assignments (assignment_id, hit_id, worker_id, status_when_collected,
    accepted_at, submitted_at)
    SELECT 'A' || hit_id, hit_id, 'W' || rowid % 500, 'Submitted', :at, :at FROM hits;
INSERT INTO answers (answer_id, assignment_id, item_id, position, fields, problems)
    SELECT 'A' || hit_id || '.' || (key + 1), 'A' || hit_id, value, key + 1,
        json_object('values', json_object('caption',
            'a red bus with number ' || value || ' stops near the old station'),
            'shown_ms', 20000, 'pastes', 0, 'keystrokes', 40, 'focus_losses', 0),
        '[]'
    FROM hits, json_each(item_ids);
INSERT INTO raw_answers (assignment_id, raw)
    SELECT assignment_id, '<Answers>' || hex(randomblob(200)) || '</Answers>'
    FROM assignments;
INSERT INTO decisions (subject_kind, subject_id, verdict, decided_by, decided_at,
    because)
    SELECT 'assignment', assignment_id, 'approve', 'policy:crash', :at, ''
    FROM assignments
    UNION ALL SELECT 'answer', answer_id, 'keep', 'policy:crash', :at, '' FROM answers;
INSERT INTO intents SELECT 'publish:' || hit_key, 'publish', 'hit', hit_key, 1, '{}',
    60, :at, :at, 'done' FROM hits;
INSERT INTO intents SELECT 'approve:' || assignment_id, 'approve', 'assignment',
    assignment_id, 1, '{}', 60, :at, :at, 'done' FROM assignments;
INSERT INTO ledger (intent_key, credit, debit, amount_cents, batch, at)
    SELECT 'publish:' || hit_key, 'requester', 'held', 60, batch, :at FROM hits
    UNION ALL
    SELECT 'approve:A' || hit_id, 'held', 'rewards', 50, batch, :at FROM hits
    UNION ALL
    SELECT 'approve:A' || hit_id, 'held', 'fees', 10, batch, :at FROM hits;
UPDATE assignments SET outcome = 'done'"""
