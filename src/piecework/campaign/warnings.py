"""Settings that are allowed but probably not meant: wages, caps, crowds, policies, pages.

A campaign with warnings may begin; forbidden settings are errors, reported elsewhere.

Two kinds need a longer look. On a requester's own page, something may not be sent, or
not be shown as meant. And rules of a policy can never apply if the campaign is too small:
many heuristics need a minimum number of items per worker or answers per item before they
flag anything. In a smaller campaign they stay silent, and a policy that relies on them
misses what it was written for.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from piecework.campaign.dealing import deal
from piecework.campaign.pricing import Price, expected_out_of_reach, largest_hit
from piecework.config.rewards import reward_of
from piecework.config.user_files import names_beside
from piecework.domain.campaign import AGREED, Campaign
from piecework.domain.growing import MOST_IN_BATCH
from piecework.domain.hit import PROLIFIC, Item
from piecework.domain.task import HtmlPage, Task
from piecework.domain.text import plural
from piecework.domain.verdicts import PolicyRule
from piecework.hit_templates.own_html.controls import controls_of
from piecework.hit_templates.own_html.embedding import IS_MISSING
from piecework.hit_templates.own_html.fields_of_controls import REST
from piecework.hit_templates.own_html.markup import is_markup, loses_scripts
from piecework.hit_templates.own_html.page import controls_in, files_beside
from piecework.hit_templates.own_html.placeholders import AS_MARKUP, MARKS, template_of, value_of
from piecework.qc.heuristics import gold_failed
from piecework.qc.parameters import Counted
from piecework.qc.registry import HEURISTICS, is_on, params_of
from piecework.qc.silence import Unreached, unreached

_HOUR = 3600
_ONE_IN_TWO = 0.5
"""Expected number of missing answers from which a warning is given."""


def campaign_warnings(campaign: Campaign, price: Price) -> list[str]:
    """Return each warning as a sentence with the key that it is about.

    Args:
        campaign: as it was read.
        price: what it costs.
    """
    return [
        *_about_name(campaign),
        *_about_title(campaign),
        *own_page_warnings(campaign),
        *_about_pay(campaign),
        *_about_time(campaign),
        *_about_crowd(campaign),
        *_about_most(campaign),
        *_about_limit(campaign),
        *_about_markets(campaign),
        *_about_policy(campaign),
        *_about_gold(campaign),
        *_about_repeated_rows(campaign),
        *_about_shown_answers(campaign),
        *_about_manifests(campaign),
        *rules_out_of_reach(campaign),
        *_about_cap(campaign, price),
    ]


def _about_name(campaign: Campaign) -> Iterator[str]:
    """Say which other file has the same name, and so the same store."""
    for file, name in names_beside(campaign.path).items():
        if name == campaign.name:
            yield (
                f"name: {file.name} has the name {name!r} too, so both files act on the results in "
                f"{campaign.out}; state another name in one of them"
            )


def own_seconds(campaign: Campaign) -> float:
    """Return the seconds for a HIT at the task's own pace, as in rehearsals."""
    most = campaign.posting.items_per_hit
    if campaign.growth is None:
        a_batch = max(1, -(-len(campaign.own_items) // campaign.posting.batches))
        most = largest_hit(a_batch, most, campaign.task)
    return campaign.task.seconds_of_hit(most)


def _about_repeated_rows(campaign: Campaign) -> Iterator[str]:
    """Yield how many rows of a file repeat an earlier one, or the id of one that rows lack."""
    if campaign.growth is not None or campaign.imported is not None:
        return  # of a row that arrives, a repeated id is set aside
    key, seen, repeated = campaign.task.columns[0], set[object](), list[Item]()
    for n, item in enumerate(campaign.own_items, start=1):
        own = {name: cell for name, cell in item.columns.items() if name != key}
        is_numbered = item.item_id == f"row_{n}"  # if not, the rows have another id
        row = (is_numbered and own.get("id")) or frozenset(own.items())
        if own and row in seen:
            repeated.append(item)
        seen.add(row)
    if repeated:
        yield (
            f"items: an earlier row or its id is repeated in {plural(len(repeated), 'row')}, "
            f"first {repeated[0].item_id}; workers are asked about each, and paid"
        )


def _about_shown_answers(campaign: Campaign) -> Iterator[str]:
    """Yield columns that seem to show the right answers of a generic task to workers."""
    options = {option.value for field in campaign.task.fields for option in field.options}
    for part in campaign.task.parts:
        cells = {item.columns.get(part.column, "") for item in campaign.items} - {""}
        if len(cells) > 1 and cells <= options and not part.is_option:
            yield (
                f"items: workers see the column {part.column!r}, and all its cells are answers; "
                "if they are the right ones, call it truth.answer"
            )


def _about_manifests(campaign: Campaign) -> Iterator[str]:
    """Yield why a manifest would name pictures by what is no address for another program."""
    if campaign.rehearsal.scenes or not any(sink.is_manifest for sink in campaign.sinks):
        return
    names = (name for item in campaign.own_items if (name := item.picture) and "://" not in name)
    is_in_bucket = campaign.pictures is not None and campaign.pictures.folder is None
    if not is_in_bucket and (first := next(names, "")):
        yield (
            f"sink: manifests name pictures as the rows do, and {first!r} is no address that "
            'SageMaker can read; write pictures = "s3://bucket/folder"'
        )


def _about_title(campaign: Campaign) -> Iterator[str]:
    own = campaign.task.own
    is_page = campaign.task.html_page is not None
    if is_page and own is not None and campaign.title == Path(own.path).stem:
        yield (
            f"posting.title is not stated and the page has no <title>: workers see "
            f"{campaign.title!r}, the name of the file, as the title of the HIT"
        )


def _about_pay(campaign: Campaign) -> Iterator[str]:
    rewards = campaign.rewards
    floor = rewards.wage_floor_cents_per_hour
    if not floor:
        yield ("hourly_wage is 0: no bonuses will be paid to slow workers")
        return
    if rewards.expected_seconds is None:
        seconds = own_seconds(campaign)
        yield (
            "bonuses are not priced: state minutes "
            f"({seconds / 60:.1f} by the page's fields), better from a pilot"
        )
        return
    minutes = Decimal(rewards.expected_seconds) / 60
    wanted = reward_of(minutes, floor)
    if rewards.reward_cents < wanted:
        shown = rewards.shown
        yield (
            f"reward: {minutes.normalize():f} minutes at {shown(floor)} an hour are "
            f"{shown(wanted)}, but a HIT pays {shown(rewards.reward_cents)}, so bonuses make up "
            f'the rest: write reward = "{shown(wanted)}", or leave it out'
        )


def _about_time(campaign: Campaign) -> Iterator[str]:
    seconds, allowed = own_seconds(campaign), campaign.posting
    if seconds > allowed.assignment_duration_seconds:
        minutes = allowed.assignment_duration_seconds / 60
        yield (
            f"posting.assignment_minutes is {minutes:g}, but a HIT takes "
            f"{seconds / 60:.1f} at the task's own pace: about half of the workers "
            "will run out of time"
        )
    expected = campaign.rewards.expected_seconds
    if expected is not None and expected * 2 < seconds:
        yield (
            f"minutes is {expected / 60:g}, but the task's own pace "
            f"gives {seconds / 60:.1f}: bonuses may cost more than the estimate"
        )


def _about_crowd(campaign: Campaign) -> Iterator[str]:
    crowd, wanted = campaign.crowd_size, campaign.posting.assignments
    lost = expected_out_of_reach(campaign)
    if crowd is not None and lost >= _ONE_IN_TWO:
        loss = f"{float(campaign.rewards.expected_loss):.0%} of answers lost"
        yield (
            f"requirements.workers: {crowd} workers cannot give {wanted} answers each "
            f"with {loss}; about {lost:.0f} will stay missing"
        )


def _about_limit(campaign: Campaign) -> Iterator[str]:
    """Say if the limit leaves answers that no worker can give."""
    crowd, posting = campaign.crowd_size, campaign.posting
    if crowd is None:
        return
    if campaign.growth is None:
        batches = [-(-len(items) // posting.items_per_hit) for items in deal(campaign)]
        kinds = [
            ("per_worker", campaign.most_per_worker, sum(batches), "the campaign needs"),
            (
                "per_worker_in_batch",
                campaign.most_in_batch,
                max(batches),
                "the largest batch needs",
            ),
        ]
    else:
        batch = -(-campaign.growth.batch_size // posting.items_per_hit)
        kinds = [("per_worker_in_batch", campaign.most_in_batch, batch, "a full batch needs")]
    for key, most, hits, needs in kinds:
        wanted = hits * posting.assignments
        if most is not None and crowd * most < wanted:
            workers, each = plural(crowd, "worker"), plural(most, "HIT")
            yield (
                f"{key}: {workers} with at most {each} each do {crowd * most}, "
                f"but {needs} {wanted}; allow {-(-wanted // crowd)}"
            )


def _about_markets(campaign: Campaign) -> Iterator[str]:
    crowds = campaign.crowds
    if crowds is None:
        return
    filters = [
        requirement
        for requirement in campaign.requirements
        if requirement.qualification_type_id.startswith(PROLIFIC)
    ]
    if (filters or campaign.recruiting) and "prolific" not in crowds.markets:
        yield (f"[prolific] has no effect: markets names only {' and '.join(crowds.markets)}")
    is_whole = campaign.posting.batches == 1 and campaign.growth is None
    if len(crowds.cheapest) > 1 and is_whole:
        yield (
            "cheapest_within_hours: with batches = 1 the cheapest market gets every "
            "HIT before its pace is known; only replacements may go to others"
        )


def _about_most(campaign: Campaign) -> Iterator[str]:
    posting, crowd = campaign.posting, campaign.crowd_size
    if crowd is not None and posting.assignments <= crowd < posting.most:
        yield (
            f"requirements.workers: {crowd} workers cannot give {posting.most} answers "
            "each, which answers asks for unsure items"
        )


def _about_policy(campaign: Campaign) -> Iterator[str]:
    if any(rule.then in {"drop", "reject"} for rule in campaign.policy):
        return
    if campaign.decided_by == "policy":
        yield (
            "decisions: no [[decisions.rule]] drops or rejects answers, so every "
            "answer becomes part of the dataset"
        )
    else:
        yield (
            "decisions: no [[decisions.rule]] proposes to drop answers: a person "
            "decides about everything that heuristics flag, and a rehearsal keeps it"
        )


def _about_gold(campaign: Campaign) -> Iterator[str]:
    """Warn if pay depends on so few known answers that one slip or error decides."""
    least = params_of(gold_failed, campaign.heuristics, seed=0).min_items
    usual = gold_failed.Params().min_items
    rejects = any(
        rule.then == "reject" and rule.at_least == 1 and gold_failed.NAME in rule.any_of
        for rule in campaign.policy
    )
    if rejects and least < usual:
        yield (
            f"heuristics.gold_failed.min_items is {least}, and a rule rejects by it: "
            f"with fewer than {usual} known answers, one slip or one wrong known "
            "answer may cost a worker their pay"
        )


def _about_cap(campaign: Campaign, price: Price) -> Iterator[str]:
    lacking, name = price.expected - price.cap, campaign.rewards.cap_name
    if lacking > 0:
        shown = campaign.rewards.shown(lacking)
        more = "; run --spend-at-most agrees to more" * (name == AGREED)
        yield f"{name} is {shown} below the expected cost: some answers may stay missing{more}"
    elif price.expected_at_most > price.cap:
        shown = campaign.rewards.shown(price.expected_at_most - price.cap)
        yield (
            f"{name} is {shown} below the cost of {campaign.posting.most} "
            "answers per item: some items may stay unsure"
        )


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
        remedy = f"put it into the folder of pictures, and write {_cut(f'/pictures/{shown}')!r}"
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
    template = template_of(page)
    inserted = dict.fromkeys(gap.column for gap in template.gaps if gap.inserts_markup)
    cleaned = {gap.column for gap in template.gaps if gap.makes_markup_safe}
    as_text = [gap.column for gap in template.gaps if gap.shows_markup]
    first_text = first_cleaned = ""
    made: dict[str, None] = {}
    for item in campaign.items[:_MOST_ITEMS]:
        for column in dict.fromkeys((*inserted, *as_text)):
            cell = value_of(item.columns, column)
            is_loss = column in cleaned and "<" in cell and loses_scripts(cell)
            if not (is_loss or is_markup(cell)):
                continue
            if column not in inserted:
                first_text = first_text or _at(item, column, cell)
                continue
            made |= dict.fromkeys(controls_of(cell).by_name)
            first_cleaned = first_cleaned or _at(item, column, cell) * is_loss
    yield from _markup_of(first_text, "that workers see as text", _UNLESS_TEXT)
    yield from _markup_of(first_cleaned, "without its scripts and frames", _UNLESS_CLEANED)
    known = {field.sent_as for field in campaign.task.fields}
    if (more := [name for name in made if name not in known]) and REST not in known:
        yield (
            f"items hold inputs ({_cut(', '.join(more))}) that are no fields of the page: {_KEPT}"
        )


_UNLESS_TEXT = "If they shall read it so, change nothing. To leave tags out, write {} | strip_html"
_UNLESS_CLEANED = (
    "A script of your own belongs into the page. If workers shall read the markup, write {}"
)


def _markup_of(where: str, how: str, otherwise: str) -> Iterator[str]:
    """Yield what becomes of the first markup, and what can be done with and without trust."""
    if where:
        name = f"task.input.{where.partition(' ')[0]}"
        yield (
            f"items hold markup {how}: {where}. {otherwise.format('{{ ' + name)} }}}}. To show it "
            f"whole, if you trust it as MTurk did, write {{{{ {name} | {AS_MARKUP} }}}}"
        )


def _at(item: Item, column: str, cell: str) -> str:
    return f"{column} of item {item.item_id} is {_cut(cell)!r}"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def rules_out_of_reach(campaign: Campaign) -> list[str]:
    """Return a sentence if the policy names heuristics that can flag no work here."""
    wants = "; ".join(
        f"heuristics.{name}.{wants.parameter} is {wants.wanted} {wants.counted}, "
        f"but there are at most {wants.there}"
        for name, wants in _unreached(campaign)
    )
    if wants:
        return [f"the policy relies on heuristics that can never flag here: {wants}"]
    return []


def not_used(campaign: Campaign) -> tuple[str, ...]:
    """Return what the heuristics of the policy that can flag nothing here would need."""
    titles = {heuristic.NAME: heuristic.TITLE for heuristic in HEURISTICS}
    return tuple(
        f'"{titles[name]}" needs {wants.wanted} {wants.counted}; you have {wants.there}'
        for name, wants in _unreached(campaign)
    )


def within_reach(
    campaign: Campaign, policy: Sequence[PolicyRule]
) -> tuple[tuple[PolicyRule, ...], tuple[str, ...]]:
    """Return the rules without what can never flag here, and what that is."""
    silent = {name for name, _ in _unreached(replace(campaign, policy=tuple(policy)))}
    rules = (
        replace(rule, any_of=tuple(name for name in rule.any_of if name not in silent))
        for rule in policy
    )
    kept = tuple(rule for rule in rules if len(rule.any_of) >= rule.at_least)
    left = {name for rule in kept for name in rule.any_of}
    named = dict.fromkeys(name for rule in policy for name in rule.any_of)
    return kept, tuple(name for name in named if name not in left)


def _unreached(campaign: Campaign) -> Iterator[tuple[str, Unreached]]:
    """Yield each heuristic of the policy with what it needs more of than there is."""
    most, settings = _most(campaign), campaign.heuristics
    named = {name for rule in campaign.policy for name in rule.any_of}
    for heuristic in HEURISTICS:
        name = heuristic.NAME
        if name in named and is_on(name, settings):
            params = params_of(heuristic, settings, seed=0)
            yield from ((name, wants) for wants in unreached(params, most))


def _most(campaign: Campaign) -> Mapping[Counted, int]:
    """Return how many of each a campaign can give, without replacements.

    If it grows, its largest batch counts, and gold items may be added.
    """
    posting, items, gold = campaign.posting, len(campaign.items), len(campaign.known_items)
    if campaign.growth is not None:
        items, gold = MOST_IN_BATCH, MOST_IN_BATCH if gold or campaign.gold else 0
    a_batch = -(-items // posting.batches)
    hits = -(-a_batch // posting.items_per_hit)
    return {
        Counted.OF_WORKER: items,
        Counted.KNOWN_OF_WORKER: gold,
        Counted.OF_HIT: largest_hit(a_batch, posting.items_per_hit, campaign.task),
        Counted.ITEMS: items,
        Counted.ASSIGNMENTS: hits * posting.most,
        Counted.ANSWERS: posting.most,
        Counted.OTHERS: posting.most - 1,
    }
