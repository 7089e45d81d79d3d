"""The choices for a new campaign, and what follows from them: its pay, its budget."""

import math
import os
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import ROUND_CEILING, Decimal
from pathlib import Path

from piecework.campaign.assembling import assemble
from piecework.campaign.composing.campaign_text import Statement, campaign_text
from piecework.campaign.composing.default_policy import default_policy
from piecework.campaign.pricing import price
from piecework.campaign.warnings import within_reach
from piecework.config.campaign_file import parse_text
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.money import Currency
from piecework.domain.task import Task
from piecework.hit_templates.own_html.embedding import embedded
from piecework.hit_templates.own_html.page import hosts_refused
from piecework.hit_templates.own_html.placeholders import cut
from piecework.hit_templates.own_html.task import Around, html_task
from piecework.hit_templates.tasks import load_task, task_names

_ROOM = Decimal("1.2")
"""A budget is a fifth more than the expected cost, rounded up to a whole unit."""

_MOST_CENTS = 10**8
"""A budget to price with; it is never written."""

_BATCHES, _ITEMS_A_BATCH = 5, 10
"""Bad workers of one batch are kept out of the next, so there are several batches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What workers are asked: a task, or a requester's own page.

    Attributes:
        named: its name as a campaign file beside it writes it.
        is_page: whether it is HTML.
        hosts: hosts that the page may load from.
        needed: columns of items that it requires; the first is the id.
        addresses: columns that hold addresses of pictures, optional ones too.
    """

    named: str
    is_page: bool
    task: Task
    hosts: tuple[str, ...] = ()
    needed: tuple[str, ...]
    addresses: tuple[str, ...]

    @property
    def has_title(self) -> bool:
        """Whether it has its own title for the HIT."""
        return not self.is_page or self.task.title != Path(self.named).stem


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Everything that a campaign file will say.

    Attributes:
        path: path of the file.
        items_file: relative to it, like `pictures`.
        wage_cents: pay per hour, which is also the floor.
        minutes: minutes that one HIT is expected to take.
    """

    path: Path
    name: str
    asked: Asked
    count: int
    items_file: str = ""
    pictures: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    description: str
    assignments: int
    batches: int
    minutes: Decimal
    wage_cents: int
    currency: Currency = "USD"

    @property
    def items_per_hit(self) -> int:
        """As many as the task shows, or as a batch has."""
        return items_per_hit(self.asked.task, self.count, self.batches)

    @property
    def reward_cents(self) -> int:
        """The pay for a HIT's time at the wage."""
        return reward_of(self.minutes, self.wage_cents)


def reward_of(minutes: Decimal, wage_cents: int) -> int:
    """Return the pay for some minutes at a wage in cents per hour, rounded up.

    >>> reward_of(Decimal("5.3"), 1000)  # 88.33 cents
    89
    """
    exact = minutes * wage_cents / 60
    return max(1, int(exact.to_integral_value(ROUND_CEILING)))


def items_per_hit(task: Task, count: int, batches: int) -> int:
    """Return as many as the task shows at most, or as a batch has."""
    return max(1, min(task.items_per_hit, math.ceil(count / batches)))


def usual_description(asked: Asked, title: str) -> str:
    """Return the purpose of a collection, as far as its task tells."""
    if title or asked.has_title:
        name = (title or asked.task.title).strip()
        ends = unicodedata.category(name[-1:] or ".") == "Po"
        return name if ends else f"{name}."
    return "Answers to a page of questions about each item."


def usual_batches(count: int) -> int:
    """Return the default number of batches for a number of items.

    >>> [usual_batches(count) for count in (6, 25, 4000)]
    [1, 2, 5]
    """
    return max(1, min(_BATCHES, count // _ITEMS_A_BATCH))


def own_minutes(task: Task, items: int) -> Decimal:
    """Return the minutes for a HIT at the task's own pace, rounded up to a tenth."""
    return Decimal(math.ceil(task.seconds_of_hit(items) / 6)) / 10


def read_asked(named: str, *, folder: Path, hosts: tuple[str, ...] = ()) -> Asked:
    """Read the task or page that a person names.

    Args:
        named: a task of the gallery, a folder, or an HTML page, relative to the current
            directory.
        folder: where the campaign file will be.
        hosts: hosts that a page may load from.

    Raises:
        ConfigError: it does not exist, or it has errors.
    """
    path = Path(named)
    if path.suffix.lower() in {".html", ".htm"}:
        return _page(path, folder, hosts)
    is_folder = named not in task_names() and path.is_dir()
    beside = relative(path, folder) if is_folder or "/" in named else named
    if is_folder and not beside.startswith((".", "/")):
        beside = f"./{beside}"
    task = load_task(beside, beside=folder)
    return Asked(
        named=beside,
        is_page=False,
        task=task,
        needed=task.columns,
        addresses=tuple(
            name
            for name in (*task.columns, *task.optional_columns)
            if name == "url" or name.endswith("_url")
        ),
    )


def unknown_hosts(named: str, *, folder: Path, allowed: Sequence[str]) -> dict[str, str]:
    """Return refused hosts that a page loads from, with reasons; none for a task."""
    path = Path(named)
    if path.suffix.lower() not in {".html", ".htm"} or not path.is_file():
        return {}
    html = path.read_text("utf-8-sig", errors="replace")
    return hosts_refused(path, html, allowed, embedded(html, path, folder).styles)


def _page(path: Path, folder: Path, hosts: tuple[str, ...]) -> Asked:
    around = Around(title="", description="A page.", fields={}, hosts=hosts, folder=folder)
    task = html_task(path, around)
    assert task.html_page is not None  # noqa: S101 - html_task made it
    template = cut(task.html_page.html)
    with_default = {
        gap.column
        for gap in template.gaps
        if any(filter_.name == "default" for filter_ in gap.filters)
    }
    parts = (name.partition(".")[0] for name in template.columns if name not in with_default)
    return Asked(
        named=relative(path, folder),
        is_page=True,
        task=task,
        hosts=hosts,
        needed=tuple(dict.fromkeys((*task.columns, *parts))),
        addresses=task.columns[1:],
    )


def relative(path: Path, folder: Path) -> str:
    """Return a path as a campaign file in a folder writes it.

    >>> relative(Path("/a/items.csv"), Path("/a/b"))
    '../items.csv'
    """
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def compose(draft: Draft, *, today: date) -> tuple[str, Campaign]:
    """Return the text of the campaign file, and the campaign that it describes.

    Raises:
        ConfigError: the items have errors, or do not fit the task.
    """
    statement = _statement(draft)
    unpriced = _read(draft.path, campaign_text(statement, budget_cents=_MOST_CENTS))
    usual = default_policy(unpriced.task, (*unpriced.items, *unpriced.practice))
    policy, left_out = within_reach(unpriced, usual)
    expected = price(unpriced, on=today).expected
    units = (Decimal(expected) * _ROOM / 100).to_integral_value(ROUND_CEILING)
    text = campaign_text(
        replace(statement, policy=policy, left_out=left_out, expected_cents=expected),
        budget_cents=int(units) * 100,
    )
    return text, _read(draft.path, text)


def _read(path: Path, text: str) -> Campaign:
    return assemble(parse_text(path, text))


def _statement(draft: Draft) -> Statement:
    asked = draft.asked
    if not draft.count:
        where = draft.items_file or draft.pictures
        raise ConfigError([f"{where}: there are no items" if where else "there are no items"])
    return Statement(
        file_name=draft.path.name,
        name=draft.name,
        description=draft.description,
        named=asked.named,
        hosts=asked.hosts,
        items_file=draft.items_file,
        pictures=draft.pictures,
        columns=draft.columns,
        title=draft.title,
        has_title=asked.has_title,
        assignments=draft.assignments,
        batches=draft.batches,
        items_per_hit=draft.items_per_hit,
        minutes=draft.minutes,
        wage_cents=draft.wage_cents,
        reward_cents=draft.reward_cents,
        currency=draft.currency,
        is_caption=asked.task.dataset == "captions",
    )
