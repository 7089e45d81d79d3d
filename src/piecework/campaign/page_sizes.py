"""Measure the pages of HITs in a separate process.

A template from someone else may loop forever or use all memory. Then the process that
renders its pages ends itself and reports where it was.
"""

import faulthandler
import multiprocessing
import re
import resource
import signal
import tempfile
import warnings
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TextIO

from piecework.campaign.questions import posted_question
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.hit import PlannedHit
from piecework.hit_templates.templates import QUESTION, line_of_template
from piecework.platforms.wire import question_bytes

PAGE_SECONDS = 20
"""Time limit for one page; a page with fifty items takes a tenth of a second."""

_MORE_BYTES = 2 << 30
"""Memory that the process may use beyond what it starts with."""

_FRAME = re.compile(r'^  File "(.+)", line (\d+) in ', re.MULTILINE)


def largest_page(campaign: Campaign, hits: Iterable[PlannedHit]) -> int:
    """Return the size of the largest question, in bytes.

    In a campaign that grows, a pass divides HITs that no page can show, and sets rows
    aside. So only rows that a page can show alone count, if there are any.

    Raises:
        ConfigError: an item or template has an error, or a page takes too long.
    """
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe(duplex=False)
    with ours, tempfile.TemporaryFile("w+") as stack:
        child = fork.Process(target=_make, args=(campaign, hits, theirs, stack), daemon=True)
        with warnings.catch_warnings():
            # About threads of libraries: the child only renders pages, without their
            # locks.
            warnings.simplefilter("ignore", DeprecationWarning)
            child.start()
        theirs.close()
        try:
            outcome = ours.recv()
        except EOFError:
            child.join()
            stack.seek(0)
            outcome = _ended_by_itself(campaign, stack.read())
        child.join()
    if isinstance(outcome, Exception):
        raise outcome
    return int(outcome)


def _make(
    campaign: Campaign, hits: Iterable[PlannedHit], parent: Connection, stack: TextIO
) -> None:
    """Send the size of the largest page, or what went wrong."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _limit_memory()
    items = {item.item_id: item for item in campaign.items}
    largest, first_fault, queue = 0, None, deque(hits)
    try:
        while queue:
            hit = queue.popleft()
            faulthandler.dump_traceback_later(PAGE_SECONDS, file=stack, exit=True)
            try:
                asked = posted_question(campaign, hit, items)
                largest = max(largest, question_bytes(asked))
            except ConfigError as fault:
                if campaign.growth is None:
                    raise
                first_fault = first_fault or fault
                if len(hit.item_ids) > 1:
                    queue += [replace(hit, item_ids=(each,)) for each in hit.item_ids]
        faulthandler.cancel_dump_traceback_later()
    except Exception as fault:  # noqa: BLE001 - the parent raises it
        faulthandler.cancel_dump_traceback_later()
        parent.send(fault)
        return
    parent.send(largest or first_fault or 0)


def _limit_memory() -> None:
    pages = Path("/proc/self/statm")
    if not pages.exists():  # only Linux has it
        return
    taken = int(pages.read_text("ascii").split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    allowed = taken + _MORE_BYTES
    if most == resource.RLIM_INFINITY or allowed < most:
        resource.setrlimit(resource.RLIMIT_AS, (allowed, most))


def _ended_by_itself(campaign: Campaign, stack: str) -> ConfigError:
    """Return why there is no result, with the line of the template, if known."""
    task = campaign.task
    folder = Path(task.own.path) if task.own else Path("hit_templates") / task.name
    where = f"{folder if task.html_page else folder / QUESTION}"
    for file, line in _FRAME.findall(stack):
        if (at := line_of_template(task, Path(file), int(line))) is not None:
            where = f"{file}:{at}"
            break
    fault = (
        f"{where}: a page takes more than {PAGE_SECONDS} seconds to render, but should "
        "take a fraction of one; a loop never ends, or has far too many rounds"
        if stack
        else f"{where}: the process that renders the pages was ended from outside, "
        "probably because memory ran out"
    )
    return ConfigError(
        [fault], next_step="docs/reference/macros.md says what templates can use, with examples"
    )
