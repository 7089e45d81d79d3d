"""How large the pages of HITs are, made in a process of their own.

A template that somebody sent may loop without end or ask for all memory. The process
that makes its pages ends itself then, and says where it was.
"""

import faulthandler
import multiprocessing
import re
import resource
import signal
import tempfile
import warnings
from collections.abc import Iterable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TextIO

from piecework.campaign.questions import question
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.hit import PlannedHit
from piecework.hit_templates.templates import QUESTION, line_of_template
from piecework.platforms.question import question_bytes

PAGE_SECONDS = 20
"""A page with fifty items takes a tenth of one."""

_MORE_BYTES = 2 << 30
"""What the process may take beyond what it begins with."""

_FRAME = re.compile(r'^  File "(.+)", line (\d+) in ', re.MULTILINE)


def largest_page(campaign: Campaign, hits: Iterable[PlannedHit]) -> int:
    """Bytes of the largest question.

    Raises:
        ConfigError: an item or template has a fault, or a page takes too long.
    """
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe(duplex=False)
    with ours, tempfile.TemporaryFile("w+") as stack:
        child = fork.Process(
            target=_make, args=(campaign, hits, theirs, stack), daemon=True
        )
        with warnings.catch_warnings():
            # Threads of libraries: the child makes pages, and takes no lock of theirs.
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
    largest = 0
    try:
        for hit in hits:
            faulthandler.dump_traceback_later(PAGE_SECONDS, file=stack, exit=True)
            largest = max(largest, question_bytes(question(campaign, hit, items)))
        faulthandler.cancel_dump_traceback_later()
    except Exception as fault:  # noqa: BLE001 - the parent raises it
        faulthandler.cancel_dump_traceback_later()
        parent.send(fault)
        return
    parent.send(largest)


def _limit_memory() -> None:
    pages = Path("/proc/self/statm")
    if not pages.exists():  # Linux alone says so
        return
    taken = int(pages.read_text("ascii").split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    allowed = taken + _MORE_BYTES
    if most == resource.RLIM_INFINITY or allowed < most:
        resource.setrlimit(resource.RLIMIT_AS, (allowed, most))


def _ended_by_itself(campaign: Campaign, stack: str) -> ConfigError:
    """Why there is no outcome, with the line of the template that was under way."""
    task = campaign.task
    folder = Path(task.own.path) if task.own else Path("hit_templates") / task.name
    where = f"{folder if task.html_page else folder / QUESTION}"
    for file, line in _FRAME.findall(stack):
        if (at := line_of_template(task, Path(file), int(line))) is not None:
            where = f"{file}:{at}"
            break
    fault = (
        f"{where}: a page takes more than {PAGE_SECONDS} seconds to make, and should "
        "take a fraction of one; a loop has no end, or far too many rounds"
        if stack
        else f"{where}: the process that makes the pages was ended from outside, as "
        "happens where memory runs out"
    )
    return ConfigError(
        [fault],
        next_step="docs/reference/macros.md says what templates can use, with examples",
    )
