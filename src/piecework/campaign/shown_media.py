"""Check on a sample, before HITs are posted, that workers' browsers can load what they show.

A worker who sees an empty page is paid for nothing. So the addresses that browsers will
open are asked: those of the marketplace, which it names itself, and those of other hosts.
What `reachable_pictures` says about addresses inside this machine's network holds here;
only the marketplace's own host, which a person has named, is asked wherever it is.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from piecework.campaign.questions import item_on_page
from piecework.campaign.reachable_pictures import Answer, answer, sample_of
from piecework.config.campaign_file import HOUR
from piecework.domain.campaign import Campaign
from piecework.domain.errors import RefusedForSafety
from piecework.domain.hit import Item, is_picture
from piecework.domain.task import HtmlPage
from piecework.domain.text import one_line, plural, shell_word
from piecework.platforms.endpoint import ALTHOUGH_UNSEEN, is_on_this_machine

if TYPE_CHECKING:
    from piecework.platforms.mturk import MTurk

MOST = 12
"""Pictures, sounds and videos that are tried before HITs are posted."""

_SERVED = "/pictures/"
_AT_ONCE = 6
_SECONDS = 10.0
_LONGEST = 300
_CLIENT_FAULTS = range(400, 500)
_BUSY = (408, 425, 429)
"""Statuses that say nothing about whether browsers can load an address."""

_NOT_THERE, _SUCCESS = 404, 2
_WEB = ("http://", "https://")


class Medium(NamedTuple):
    """A picture, sound or video of an item.

    Attributes:
        where: the item and its column.
        address: as it is on the page: a URL, or a path of the marketplace.
        kind: `picture`, `audio` or `video`.
    """

    where: str
    address: str
    kind: str

    def __str__(self) -> str:
        """Return it for a message."""
        return f"{self.where}: {one_line(self.address, at_most=_LONGEST)}"


class Unseen(NamedTuple):
    """What browsers cannot load, and what is not known, each in a sentence.

    Attributes:
        faults: what workers would not see.
        unknown: what could not be asked from here.
        tried: how many were tried.
        next_step: what helps against the first fault.
    """

    faults: tuple[str, ...]
    unknown: tuple[str, ...]
    tried: int
    next_step: str


def media_of(campaign: Campaign, items: Iterable[Item]) -> Iterator[Medium]:
    """Yield what a page loads for items."""
    task = campaign.task
    kinds = {part.column: part.kind for part in task.parts if part.kind in _KINDS}
    for item in items:
        cells = item_on_page(campaign, item).columns
        for column in _columns(campaign, cells):
            if cell := cells.get(column, ""):
                where = f"item {one_line(item.item_id, at_most=_LONGEST)}, column {column}"
                yield Medium(where, cell, kinds.get(column, "picture"))


_KINDS = ("picture", "audio", "video")


def _columns(campaign: Campaign, cells: Mapping[str, str]) -> Iterator[str]:
    """Yield the columns of an item whose cells a page loads."""
    task = campaign.task
    if task.is_generic:
        yield from (part.column for part in task.parts if part.kind in _KINDS)
    elif task.shown_pictures is None:
        rest = (name for name in cells if name != task.columns[0])
        yield from (name for name in rest if name == "url" or is_picture(cells[name]))
    else:
        yield from (name for name in cells if name in task.shown_pictures)


def unseen(
    campaign: Campaign,
    items: Sequence[Item],
    platform: "MTurk | None",
    *,
    asks_others: bool = True,
    asks_inside: bool = False,
    most: int = MOST,
) -> Unseen:
    """Try a sample of what the pages of items load.

    Args:
        campaign: the campaign.
        items: the items, in the order in which they are posted.
        platform: the marketplace that shows them; `None`: other hosts alone are asked.
        asks_others: whether to ask other hosts too.
        asks_inside: also request other hosts inside this machine's network.
        most: how many are tried.
    """
    sample = [*sample_of(items, most, seed=campaign.name), *campaign.practice]
    media = [
        medium
        for medium in dict.fromkeys(media_of(campaign, sample))
        if _is_shown(campaign, medium)
    ]
    own = [each for each in media if each.address.startswith(_SERVED)]
    own = sample_of(own, most, seed=campaign.name) if platform is not None else []
    others = [each for each in media if each.address.startswith(_WEB)]
    others = sample_of(others, most, seed=campaign.name) if asks_others else []
    serving = _Serving("", {}) if platform is None else _Serving.of(platform, own)
    # Only plain addresses depend on it, so a marketplace is not asked for nothing.
    has_plain = any(each.address.startswith("http:") for each in others)
    site = platform.live_site().url if platform is not None and has_plain else ""
    of_other = partial(_of_other_host, asks_inside=asks_inside, is_secure=site.startswith("https:"))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = [
            *pool.map(partial(_of_marketplace, serving), own),
            *pool.map(of_other, others),
        ]
    faults = [reply.fault for reply in answers if reply.fault and reply.status]
    is_own = any(reply.fault and reply.status for reply in answers[: len(own)])
    return Unseen(
        faults=tuple(faults),
        unknown=tuple(reply.fault for reply in answers if reply.fault and not reply.status),
        tried=len(answers),
        next_step=(
            f"piecework market serve {shell_word(campaign.path)} serves the campaign's "
            "pictures, and "
            "--pictures FOLDER those of a folder"
            if is_own
            else "open it in a private window of a browser: workers see the same"
        ),
    )


def refuse_unseen(campaign: Campaign, items: Sequence[Item], platform: "MTurk") -> tuple[str, ...]:
    """Refuse to post what workers would not see; return what is not known, for warnings.

    Raises:
        RefusedForSafety: a picture of the sample cannot be loaded; no HIT was posted.
    """
    sample = unseen(campaign, items, platform)
    if os.environ.get(ALTHOUGH_UNSEEN) == "1":
        return (*sample.faults, *sample.unknown)
    if sample.faults:
        raise RefusedForSafety(
            f"{campaign.path}: no HITs were posted, because workers would not see "
            f"{len(sample.faults)} of {plural(sample.tried, 'picture')} that were tried: "
            f"{sample.faults[0]}",
            next_step=f"{sample.next_step}; if browsers can load it: --although unseen",
        )
    return sample.unknown


def warnings_of_ends(campaign: Campaign, items: Iterable[Item], at: datetime) -> Iterator[str]:
    """Yield how many signed addresses end before HITs with items, posted at a moment, do.

    Practice items are looked at as well.
    """
    posting = campaign.posting
    open_seconds = posting.lifetime_seconds + posting.assignment_duration_seconds
    done = at + timedelta(seconds=open_seconds)
    signed = (
        item
        for item in chain(items, campaign.practice)
        if any("?" in cell and _end_of(cell) for cell in item.columns.values())
    )
    early = [
        (end, medium.where)
        for medium in media_of(campaign, signed)
        if (end := _end_of(medium.address)) and end < done and _is_shown(campaign, medium)
    ]
    if early:
        end, where = min(early)
        yield (
            f"{plural(len(early), 'signed address')} of items can end before workers are done: the "
            f"first ({where}) works until {end:%Y-%m-%d %H:%M} UTC, but a HIT is "
            f"open for {open_seconds / HOUR:g} hours after it is posted (lifetime_hours and "
            "assignment_minutes of [posting]); sign for longer, or let the marketplace read the "
            'bucket: pictures = "s3://bucket/folder"'
        )


def _end_of(address: str) -> datetime | None:
    """Return until when a signed address works, if it says so as Amazon, Google or Azure do.

    The time is in UTC.
    """
    with suppress(ValueError, OverflowError, OSError):
        parts = urlsplit(address)
        query = {name.lower(): value for name, value in parse_qsl(parts.query)}
        if parts.scheme not in {"http", "https"}:
            return None
        for signer in ("x-amz", "x-goog"):
            if signed := query.get(f"{signer}-date"):
                begin = datetime.strptime(signed, "%Y%m%dT%H%M%S%z").astimezone(UTC)
                return begin + timedelta(seconds=int(query.get(f"{signer}-expires", "")))
        if "sig" in query:
            # A plus that is not escaped reads as a space.
            end = datetime.fromisoformat(query.get("se", "").replace(" ", "+"))
            return end.astimezone(UTC) if end.tzinfo else end.replace(tzinfo=UTC)
        if "signature" in query:
            return datetime.fromtimestamp(int(query.get("expires", "")), UTC)
    return None


def _is_shown(campaign: Campaign, medium: Medium) -> bool:
    """Whether a cell is loaded as a picture: a page may also link to it or frame it."""
    page = campaign.task.html_page
    if page is None or is_picture(medium.address):
        return True
    return _is_in_image(page, medium.where.rpartition("column ")[2])


_SHOWING = "image|bounding|keypoint|polygon|polyline|line|semantic|instance"
"""How the names of crowd elements that show a picture begin, after `crowd-`."""


def _is_in_image(page: HtmlPage, column: str) -> bool:
    names = [name for name, of_items, _ in page.numbered if of_items == column] or [column]
    name = "|".join(map(re.escape, names))
    place = rf"<(?:img|image|crowd-(?:{_SHOWING}))\b[^>]*(?:\$\{{\s*|\.)(?:{name})\b"
    return re.search(place, page.html, re.IGNORECASE) is not None


class _Serving(NamedTuple):
    """Where a marketplace shows its pictures.

    Attributes:
        endpoint: its URL.
        addresses: of the pictures, by path on a page; empty if it does not say.
    """

    endpoint: str
    addresses: Mapping[str, str]

    @classmethod
    def of(cls, platform: "MTurk", own: Sequence[Medium]) -> "_Serving":
        """Ask the marketplace."""
        names = {each.address: unquote(each.address.removeprefix(_SERVED)) for each in own}
        known = platform.picture_addresses([*dict.fromkeys(names.values())]) or {}
        return cls(platform.endpoint, {path: known[name] for path, name in names.items() if known})


def _of_marketplace(serving: _Serving, medium: Medium) -> Answer:
    """Return what a marketplace's picture answers; status 0 if that is not known."""
    address = serving.addresses.get(medium.address)
    if address is None:
        return Answer(f"{medium}: {serving.endpoint} does not say where workers see it", 0)
    if not address:
        fault = f"{medium}: the marketplace {serving.endpoint} serves no pictures"
        return Answer(fault, _NOT_THERE)
    # A person named the endpoint; where it leads elsewhere, the usual rule holds.
    is_named = _host(address) == _host(serving.endpoint) or all(
        map(is_on_this_machine, (address, serving.endpoint))
    )
    reply = answer(address, kind=medium.kind, asks_inside=is_named, seconds=_SECONDS)
    if reply.status or not reply.fault:
        return _about(medium, address, reply)
    # Its own name may not be known here, as behind a proxy on the same machine.
    here = address.replace(_origin(address), _origin(serving.endpoint), 1)
    direct = answer(here, kind=medium.kind, asks_inside=True, seconds=_SECONDS)
    return _about(medium, here, direct) if direct.status else _about(medium, address, reply)


def _of_other_host(medium: Medium, *, asks_inside: bool, is_secure: bool) -> Answer:
    """Return what another host answers; status 0 if that says nothing about browsers.

    On an https page, browsers load a picture with a plain address by https, or not at all.
    """
    ask = partial(answer, kind=medium.kind, asks_inside=asks_inside, seconds=_SECONDS)
    plain = address = medium.address
    if is_secure and plain.startswith("http:"):
        address = f"https{plain.removeprefix('http')}"
    reply = ask(address)
    if reply.fault and address != plain and not ask(plain).fault:
        shut = f"{reply.fault}; workers' pages are https, so browsers do not load it by http"
        return _about(medium, address, Answer(shut, _NOT_THERE))
    is_known = reply.status in _CLIENT_FAULTS and reply.status not in _BUSY
    is_known |= reply.status // 100 == _SUCCESS
    return _about(medium, address, reply if is_known else reply._replace(status=0))


def _about(medium: Medium, address: str, reply: Answer) -> Answer:
    """Return the answer with the medium and its address in its sentence."""
    shown = one_line(address.partition("?signed=")[0], at_most=_LONGEST)
    return reply._replace(fault=reply.fault and f"{medium.where}: {shown}: {reply.fault}")


def _host(address: str) -> str:
    return urlsplit(address).hostname or ""


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
