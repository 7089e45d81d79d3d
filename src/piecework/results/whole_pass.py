"""A whole pass: its steps, what it archives, and the results once the campaign is finished.

`piecework.engine.run_pass` defines the steps and their order; this module adds what comes
after them, for commands, flows and rehearsals. In a campaign that grows, settled batches are
archived (`piecework.store.archive`).
"""

import logging
import sqlite3
from dataclasses import dataclass

from piecework.campaign.opened import CampaignRun, OpenedCampaign
from piecework.domain.errors import ConfigError, StoreError
from piecework.domain.progress import BY_A_PERSON, Progress
from piecework.domain.text import plural
from piecework.engine.next_action import is_settled
from piecework.engine.opening import open_environment
from piecework.engine.pass_request import PassRequest
from piecework.engine.payments.outside_prices import book_outside_prices, say_unsettled
from piecework.engine.progress import read_progress
from piecework.engine.run_pass import run_pass
from piecework.engine.snapshot import Call, call_plainly, take_snapshot, timed
from piecework.engine.watching.pass_watcher import Unwatched, Watch
from piecework.store import archive, campaign_facts, hits, last_pass
from piecework.store.archive import ARCHIVE_FOLDER, Part
from piecework.store.database import Store

KEPT_BATCHES = 20
"""Batches that the command keeps, unless the campaign file says more or less."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """What was moved, and how large the store was before and after, in bytes."""

    parts: tuple[Part, ...]
    bytes_before: int
    bytes_after: int

    @property
    def answers(self) -> int:
        """How many answers were moved."""
        return sum(part.answers for part in self.parts)


def archive_folder(store: Store) -> str:
    """Return where the archive of a store is."""
    if store.address.url:
        return f"{store.address}, table archive_files"
    return str(store.address.folder / ARCHIVE_FOLDER)


def archive_settled(opened: OpenedCampaign, *, keep: int, compacts: bool = False) -> Archived:
    """Move what workers wrote in settled batches out of the store.

    The caller holds the campaign's lock.

    Args:
        opened: a campaign that grows.
        keep: how many of the newest batches stay in the store.
        compacts: give the space back to the file system.

    Raises:
        ConfigError: the campaign does not grow.
    """
    if opened.campaign.growth is None:
        raise ConfigError([f"{opened.campaign.path}: only a campaign that grows has an archive"])
    store = opened.store
    before = archive.size_bytes(store)
    parts = tuple(
        archive.move(store, batch, at=opened.clock.now())
        for batch in archive.settled_batches(store, keep=keep)
    )
    if compacts and parts:
        try:
            archive.compact(store)
        except (sqlite3.OperationalError, StoreError) as fault:  # it takes as much space again
            _logger.warning("the store keeps its size on disk: %s", fault)
    moved = Archived(parts=parts, bytes_before=before, bytes_after=archive.size_bytes(store))
    if parts:
        _logger.info(
            "%s of %s moved into %s",
            plural(moved.answers, "answer"),
            plural(len({part.batch for part in parts}), "batch"),
            archive_folder(store),
        )
    return moved


def advance_without_prefect(
    request: PassRequest, watch: Watch | None = None, *, poll_open_hits: bool = False
) -> Progress:
    """Make a pass over a campaign without Prefect: for cron or a terminal.

    Args:
        request: the options of the pass.
        watch: learns how long each step takes, if given.
        poll_open_hits: ask for submissions of open HITs, even if done recently.

    Raises:
        PieceworkError: a step failed; running it again is always safe.
    """
    call = timed(call_plainly, watch or Unwatched())
    with open_environment(request) as run:
        progress = run_pass(run, call=call, poll_open_hits=poll_open_hits)
        progress, _ = finish_pass(run, progress, call=call)
        remember_pass(run, progress, request)
    return progress


def finish_pass(
    run: CampaignRun, progress: Progress, *, call: Call = call_plainly
) -> tuple[Progress, str | None]:
    """If a campaign is finished, book outside prices and write its results.

    A campaign that grows writes them whenever another batch is settled.

    Returns:
        The progress of the campaign, and the report's path; `None` if it was not
        written.
    """
    if not progress.is_finished:
        return progress, _write_batch(run, call=call)
    book_outside_prices(run.store, run.platform.prices(), run.clock)
    return read_progress(run), write_results(run, call=call)


def _write_batch(run: CampaignRun, *, call: Call) -> str | None:
    """Write results that have a settled batch more than the last ones, if there is one.

    If a sink fails, the next pass tries again. Old batches are archived afterwards.
    """
    growth = run.campaign.growth
    if growth is None:
        return None
    at_work = hits.batch_at_work(run.store)
    exported = campaign_facts.read_notes(run.store).exported_batch
    if at_work <= exported:
        return None
    settled = at_work if is_settled(take_snapshot(run)) else at_work - 1
    if settled <= exported:
        return None
    report = None
    if run.campaign.has_releases:
        report = write_results(run, call=call, with_other_rules=False)
    campaign_facts.keep_note(run.store, "exported_batch", settled)
    if growth.archive_after is not None:
        after = growth.archive_after
        call("archive", lambda: archive_settled(run, keep=after))
    return report


def remember_pass(run: CampaignRun, progress: Progress, request: PassRequest) -> None:
    """Store the campaign's progress, unless the next pass has something to book or adopt."""
    if progress.stopped_by == BY_A_PERSON and campaign_facts.read_notes(run.store).is_adopting:
        return
    if progress.is_finished and campaign_facts.read_notes(run.store).outside_unsettled:
        say_unsettled(run.store)
        return
    digest = request.digest()
    last_pass.remember(run.store, progress.as_dict(), request_digest=digest)


def write_results(
    opened: OpenedCampaign, *, call: Call = call_plainly, with_other_rules: bool = True
) -> str:
    """Clean all text, then write dataset and report; return the report's path.

    Args:
        opened: the campaign.
        call: calls the steps.
        with_other_rules: whether the report shows what other rules would have done, which
            takes longer than a pass may.
    """
    # These imports take a second, and most passes write nothing.
    from piecework.results.cleaning import clean_answers  # noqa: PLC0415

    opened.batches.forget()  # a hundred megabytes for 195,905 answers
    call("clean", lambda: clean_answers(opened))
    from piecework.results.export import export  # noqa: PLC0415 - cleaning needs its memory

    return str(call("export", lambda: export(opened, with_other_rules=with_other_rules)))
