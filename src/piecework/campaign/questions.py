"""The question document of a HIT, its size, or why a row or a page of items cannot be shown.

The document is the rendered page in MTurk's envelope. Pages are measured in a process of
their own: a template from someone else may loop forever or use all memory. Then the process
ends itself and reports where it was.
"""

import faulthandler
import multiprocessing
import re
import resource
import signal
import tempfile
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TextIO
from urllib.parse import quote

from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.experiment import PLAIN, Arm
from piecework.domain.hit import Item, PlannedHit, is_picture
from piecework.domain.ids import HitKey, ItemId
from piecework.domain.pictures import PictureLocation
from piecework.domain.text import one_line
from piecework.hit_templates.item_faults import faults_of_item_alone
from piecework.hit_templates.own_html.page import parts_of_page
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.templates import QUESTION, line_of_template
from piecework.platforms.wire import SharedQuestion, html_question, page_question, question_bytes
from piecework.postprocess.splits import faults_of_splits
from piecework.qc.heuristics.canary import planted_word

_SERVED = "/pictures/"
_WHOLE = ("http://", "https://", "/", "data:")
"""Beginnings of addresses that stay as they are, apart from those that are served."""


def posted_question(
    campaign: Campaign, hit: PlannedHit, items: Mapping[ItemId, Item]
) -> str | SharedQuestion:
    """Return the question of a HIT; a requester's long page in its parts.

    Args:
        campaign: the campaign.
        hit: as it was planned.
        items: all items of the campaign.
    """
    if campaign.task.html_page is None or len(hit.item_ids) > campaign.task.items_per_hit:
        return question(campaign, hit, items)
    shown = [item_on_page(campaign, items[item_id]) for item_id in hit.item_ids]
    title = campaign.title or campaign.task.title
    page = parts_of_page(campaign.task, shown, title=title)
    with _naming_items(campaign, hit, items):
        return page_question(*page)


def question(campaign: Campaign, hit: PlannedHit, items: Mapping[ItemId, Item]) -> str:
    """Return the question document of a HIT, as XML.

    Args:
        campaign: the campaign.
        hit: as it was planned.
        items: all items of the campaign.
    """
    page = render_hit(
        campaign.task,
        [item_on_page(campaign, items[item_id]) for item_id in hit.item_ids],
        practice=[item_on_page(campaign, item) for item in campaign.practice],
        title=campaign.title,
        round_number=hit.round,
        canary=planted_word(campaign.heuristics),
        records_typing=campaign.posting.records_typing,
        arm=Arm.from_text(hit.arm) if hit.arm else PLAIN,
    )
    with _naming_items(campaign, hit, items):
        return html_question(page)


_MOST_NAMED, _LONGEST_ID = 10, 80


@contextmanager
def _naming_items(
    campaign: Campaign, hit: PlannedHit, items: Mapping[ItemId, Item]
) -> Iterator[None]:
    """Say which items a page that cannot be posted shows, and what makes it shorter."""
    try:
        yield
    except ConfigError as error:
        shown = campaign.task.shown_columns
        cells = {
            (one_line(name, at_most=_LONGEST_ID), column): len(cell.encode())
            for name in hit.item_ids
            for column, cell in items[name].columns.items()
            if column in shown
        }
        name, column = max(cells, key=cells.__getitem__, default=("", ""))
        shorter = f"shorten the column {column!r} of item {name}"
        where, number = f"item {name}", len(hit.item_ids)
        if number > 1:
            ids = [one_line(each, at_most=_LONGEST_ID) for each in hit.item_ids[:_MOST_NAMED]]
            named = ", ".join(ids) + ", …" * (number > _MOST_NAMED)
            where = f"a HIT of {number} items ({named}; the longest is {name})"
            stated = f"posting.items_per_hit, now {campaign.posting.items_per_hit}"
            shorter = f"lower {stated}, in {campaign.path}; or {shorter}"
        faults = [f"{where}: {fault}" for fault in error.faults]
        raise ConfigError(faults, next_step=shorter) from error


def item_on_page(campaign: Campaign, item: Item) -> Item:
    """Return an item with paths of the marketplace for pictures that it serves."""
    task, page = campaign.task, campaign.task.html_page
    named = {*task.picture_columns}
    pictures = campaign.pictures
    if page is not None and pictures is not None:
        named |= {
            name for name in page.possible_addresses if is_picture(item.columns.get(name, ""))
        }
    served = {
        # File names may contain spaces and "#", addresses may not.
        name: f"{_SERVED}{quote(_name(inside, pictures))}"
        for name, url in item.columns.items()
        if name in named and (inside := url.removeprefix(_SERVED)) and not inside.startswith(_WHOLE)
    }
    if not served:
        return item
    return replace(item, columns={**item.columns, **served})


def _name(url: str, pictures: PictureLocation | None) -> str:
    """Return a picture's path in its bucket; in a folder it is as written."""
    if pictures is None or pictures.folder is not None:
        return url
    return pictures.name_of(url)


_SURELY_FITS = 1_000
"""Characters of a row that fit onto each page of piecework's own tasks."""

_LONGEST_FAULT = 500


def faults_of_row(campaign: Campaign, item: Item) -> list[str]:
    """Return what is wrong with an item that arrived after the campaign began.

    Ids and addresses were checked when the row was read.
    """
    faults = faults_of_item_alone(campaign.task, item_on_page(campaign, item))
    faults += faults_of_splits([item], campaign.dataset.shares)
    word = planted_word(campaign.heuristics)
    if word:
        shown = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
        columns = campaign.task.shown_columns
        if any(shown.search(item.columns.get(name, "")) for name in columns):
            faults.append(f"{word!r} is in it, the word of heuristics.canary")
    length = sum(map(len, item.columns.values()))
    if not faults and (campaign.task.own is not None or length > _SURELY_FITS):
        faults += faults_of_page(campaign, {item.item_id: item}, [item.item_id])
    return [one_line(fault, at_most=_LONGEST_FAULT) for fault in faults]


def faults_of_page(
    campaign: Campaign,
    items: Mapping[ItemId, Item],
    item_ids: Sequence[ItemId],
    *,
    round_number: int = 0,
) -> list[str]:
    """Return why no page can show these items together, in any arm of an experiment.

    Args:
        campaign: the campaign.
        items: the items by id; perhaps with others.
        item_ids: the items of the page, in their order.
        round_number: the round of the HIT.
    """
    arms = campaign.experiment.arms if campaign.experiment else [PLAIN]
    for arm in arms:
        hit = PlannedHit(
            hit_key=HitKey("none"),
            batch=1,
            round=round_number,
            max_assignments=1,
            reward_cents=0,
            fee_cents=0,
            item_ids=tuple(item_ids),
            arm=arm.as_text(),
        )
        try:
            posted_question(campaign, hit, items)
        except ConfigError as fault:
            return list(fault.faults)
        except RecursionError:
            return ["its markup is nested too deeply"]
    return []


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
        child = fork.Process(target=_send_size, args=(campaign, hits, theirs, stack), daemon=True)
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


def _send_size(
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
