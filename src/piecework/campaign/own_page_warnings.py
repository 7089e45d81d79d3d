"""Warnings about a requester's own page: what is not sent, or not shown as meant."""

from collections.abc import Iterator

from piecework.domain.campaign import Campaign
from piecework.domain.counts import plural
from piecework.domain.task import HtmlPage, Task
from piecework.hit_templates.own_html.controls import controls_of
from piecework.hit_templates.own_html.embedding import IS_MISSING
from piecework.hit_templates.own_html.fields import REST
from piecework.hit_templates.own_html.markup import is_markup
from piecework.hit_templates.own_html.page import controls_in, files_beside
from piecework.hit_templates.own_html.placeholders import MARKS, cut, value_of

_SHOWN = 60
_MOST_ITEMS = 200
"""Items that are looked at: columns of markup hold it in most rows."""

_KEPT = (
    "the store keeps such answers, and datasets have columns for what came. To name, "
    'type or require them before, add [fields.NAME] kind = "text"'
)


def own_page_warnings(campaign: Campaign) -> Iterator[str]:
    """Yield each warning about a campaign's own page as a sentence."""
    task, page = campaign.task, campaign.task.html_page
    if page is None or task.own is None:
        return
    if len(task.columns) == 1 and not task.optional_columns:  # the first is the id
        yield (
            "the page has no placeholder for an item's column, such as ${image_url}: "
            "all items look the same on it"
        )
    controls = controls_in(page.html)
    yield from (f"{task.own.path}: {loss}" for loss in controls.losses)
    if controls.made_by_script and not _collects_all(task):
        yield (
            f"{task.own.path}: line {controls.made_by_script}: a script makes or "
            f"renames inputs, or reads the form by its names, and check runs no "
            f"script: {_KEPT}"
        )
    yield from _about_files(task, page)
    yield from _about_markup(campaign, page)


def _collects_all(task: Task) -> bool:
    return any(field.sent_as == REST for field in task.fields)


def _about_files(task: Task, page: HtmlPage) -> Iterator[str]:
    """Yield which files beside the page workers cannot load."""
    path = task.own.path if task.own else ""
    for address, line in files_beside(page.html).items():
        shown = _cut(MARKS.sub("...", address))
        reason = page.left_out.get(address, "")
        remedy = (
            f"put it into the folder of items.pictures, and write {_cut(f'/pictures/{shown}')!r}"
        )
        if reason.endswith(IS_MISSING):
            remedy = f"put {shown} beside the page"
        why = f" ({reason})" if reason else ""
        yield (
            f"{path}: line {line}: {shown!r} is a file beside the page, which workers "
            f"cannot load{why}: {remedy}"
        )
    yield from (
        f"{clause} cannot be loaded from a file that is a part of the page: load it "
        "in the page itself"
        for clause in page.lost
    )


def _about_markup(campaign: Campaign, page: HtmlPage) -> Iterator[str]:
    """Yield what to write if cells hold markup, and what inputs are in them."""
    template = cut(page.html)
    as_text = dict.fromkeys(gap.column for gap in template.gaps if gap.shows_markup)
    marked_up: dict[str, tuple[str, str]] = {}
    made: dict[str, None] = {}
    for item in campaign.items[:_MOST_ITEMS]:
        for column in as_text:
            cell = value_of(item.columns, column)
            if not is_markup(cell):
                continue
            if column in page.html_columns:
                made |= dict.fromkeys(controls_of(cell).by_name)
            else:
                marked_up.setdefault(column, (str(item.item_id), cell))
    if marked_up:
        columns = ", ".join(f'"{name}"' for name in [*page.html_columns, *marked_up])
        name, (item_id, cell) = next(iter(marked_up.items()))
        yield (
            f"{plural(len(marked_up), 'column holds', 'columns hold')} markup that "
            f"workers see as text: {name} of item {item_id} is {_cut(cell)!r}. If you "
            "trust it, as MTurk did, add [page] html_columns = "
            f"[{columns}]"
        )
    known = {field.sent_as for field in campaign.task.fields}
    if (more := [name for name in made if name not in known]) and REST not in known:
        yield (
            f"items hold inputs ({_cut(', '.join(more))}) that are no fields of the page: {_KEPT}"
        )


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
