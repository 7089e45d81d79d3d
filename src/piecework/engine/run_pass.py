"""One pass over a campaign: it does what is due, in one fixed order.

`run`, `rehearse` and the tests all use it. Prefect is passed in as `call`
and does not change the order. Each step that did something writes a log line.
"""

import hashlib
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple, replace
from functools import partial
from typing import Any, TypeVar

from piecework.campaign import caps
from piecework.campaign.deriving import complete_text
from piecework.campaign.opened import CampaignRun
from piecework.campaign.provenance import code_version
from piecework.domain.campaign import Campaign
from piecework.domain.errors import BudgetExceeded
from piecework.domain.progress import Progress
from piecework.domain.text import plural
from piecework.engine.collect import collect
from piecework.engine.earn import earn
from piecework.engine.judge import assess, decide, weigh
from piecework.engine.launch import launch
from piecework.engine.plan import plan
from piecework.engine.progress import read_progress
from piecework.engine.recover.adopting import UnknownItemsError, adopt
from piecework.engine.settle import resume, settle, verify
from piecework.engine.snapshot import Call, Reader, Step, call_plainly
from piecework.engine.take_in import take_in
from piecework.engine.wind_down import wind_down
from piecework.store import campaign_facts, item_totals
from piecework.store.campaign_facts import PassNotes

_T = TypeVar("_T")
_LOG = logging.getLogger(__name__)
_DONE = {
    "collect": ("assignment came in", "assignments came in"),
    "assess": ("flag was raised by heuristics", "flags were raised by heuristics"),
    "decide": ("decision was made", "decisions were made"),
    "resume": ("payment was cut short", "payments were cut short"),
    "settle": ("decision was carried out", "decisions were carried out"),
    "earn": ("qualification was granted or revoked", "qualifications were granted or revoked"),
    "weigh": ("item is not sure yet", "items are not sure yet"),
    "wind down": ("HIT was ended", "HITs were ended"),
    "take in": ("row was taken in", "rows were taken in"),
    "plan": ("HIT was planned", "HITs were planned"),
    "launch": ("HIT was posted or extended", "HITs were posted or extended"),
    "verify": ("approval was checked again, and holds", "approvals were checked again, and hold"),
}
"""The meaning of the number that each step returns."""


CROWD = "crowd"
"""The step between two passes of a rehearsal, when simulated workers work."""


STEPS: tuple[Step[Any, Any], ...] = (
    collect,
    assess,
    decide,
    resume,
    settle,
    earn,
    weigh,
    take_in,
    wind_down,
    plan,
    launch,
    verify,
)
"""All steps, in the order of a pass."""


def run_pass(
    run: CampaignRun, *, call: Call = call_plainly, poll_open_hits: bool = False
) -> Progress:
    """Do what is due, and return how far the campaign is.

    Each step asks the reader what is due for it. A step with no work to do costs almost
    no time and is not called.

    Args:
        run: the campaign at work.
        call: what runs each step.
        poll_open_hits: check open HITs for new answers, even if that was done recently.

    Raises:
        PieceworkError: as the steps say; repeating the pass is always safe.
    """
    inputs = run.campaign.inputs.by_code(code_version())
    completed = partial(complete_text, run.campaign)
    campaign_facts.record_inputs(run.store, inputs, completed=completed, at=run.clock.now())
    notes = campaign_facts.read_notes(run.store)
    if notes.campaign_file != (path := str(run.campaign.path.resolve())):
        campaign_facts.keep_note(run.store, "campaign_file", path)
    notice_models(run, notes)
    unknown = recover(run, notes)
    reopen_items(run, notes)
    reader = Reader(run, poll_open_hits=poll_open_hits)
    for step in STEPS:
        if unknown is None or step not in {plan, launch}:
            step(run, reader, call=_with_log(call))
    progress = read_progress(run, reader)
    return progress if unknown is None else replace(progress, reason=in_full(unknown))


def post(run: CampaignRun) -> int:
    """Plan and post what is due, or wind down a stopped campaign; return the HIT count.

    New rows of a source that grows are taken in before.

    Raises:
        PieceworkError: as the steps say; repeating it is always safe.
    """
    notes = campaign_facts.read_notes(run.store)
    unknown = recover(run, notes)
    reopen_items(run, notes)
    take_in(run)
    wind_down(run)
    if unknown is not None:
        return 0
    plan(run)
    return launch(run)


def recover(run: CampaignRun, notes: PassNotes) -> UnknownItemsError | None:
    """Adopt what a newer copy of a restored store has posted, before any other step.

    HITs of a source that grows show rows that the older copy may lack, so these are
    taken in before.

    So a stopped campaign, too, expires these HITs and pays for their answers. It does so
    also if it cannot adopt them all.

    Returns:
        Why not all were adopted. Then this pass posts nothing, even if somebody undoes the
        stop now.

    Raises:
        StoreError: it is not known which items a HIT shows, and the campaign is not stopped.
    """
    if not notes.is_adopting:
        return None
    is_stopped = campaign_facts.stopped_at(run.store) is not None
    take_in(run)
    try:
        adopt(run)
    except UnknownItemsError as unknown:
        if not is_stopped:
            raise
        _LOG.warning("%s", in_full(unknown))
        return unknown
    return None


def in_full(unknown: UnknownItemsError) -> str:
    """Return which HIT cannot be adopted, and what a person does about it."""
    return f"{unknown}; next: {unknown.next_step}"


def _with_log(call: Call) -> Call:
    """Wrap `call` so that each step that did something is logged."""

    def logged(name: str, step: Callable[[], _T], /) -> _T:
        done = call(name, step)
        if isinstance(done, int) and done:
            _LOG.info(
                "%s", plural(done, *_DONE[name]), extra={"facts": {"step": name, "number": done}}
            )
        return done

    return logged


def notice_models(run: CampaignRun, notes: PassNotes) -> None:
    """Have labels weighed again if those of models have changed, and log it."""
    digest, known = _digest(run.campaign), notes.models_digest
    if digest == (known or ""):
        return
    # Repeated if the pass dies before it is noted, so nothing keeps an old estimate.
    weighed = item_totals.forget_weighed(run.store)
    if known is not None or weighed:
        _LOG.warning(
            "the labels of models ([machine]) have changed since the last pass; %s "
            "will be weighed again with the new ones, and may need more answers",
            plural(weighed, "label"),
            extra={"facts": {"weighed_again": weighed}},
        )
    campaign_facts.keep_note(run.store, "models_digest", digest)


def reopen_items(run: CampaignRun, notes: PassNotes) -> None:
    """Ask again items that were closed for their budget, if a cap or price has changed.

    Planning closes those for which it still does not pay. A campaign that has ended
    plans nothing otherwise. It stays ended if planning would refuse it for its caps.
    """
    now = run.clock.now()
    if notes.caps_digest in {None, caps.digest_of_caps(run.campaign, at=now)}:
        return
    if item_totals.any_beyond_budget(run.store):
        with suppress(BudgetExceeded):
            caps.check_caps(run.campaign, at=now)
            item_totals.reopen_within_budget(run.store)


def _digest(campaign: Campaign) -> str:
    """Return a digest of the labels, in whatever order; "" without any."""
    if not campaign.machine:
        return ""
    rows = sorted(json.dumps(astuple(vote)) for vote in campaign.machine)
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()
