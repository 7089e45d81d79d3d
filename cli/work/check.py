"""What `piecework check` finds out: everything that can be known before a call."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time
from itertools import chain
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from cli.work.reach import sample_of_addresses, unreached
from domain.campaign import Campaign, Rewards
from domain.counts import plural
from domain.dataset import STATEMENTS
from domain.errors import ConfigError
from domain.scales import is_unlimited
from domain.task import Field
from flows.assembling import read_anywhere
from flows.caps import check_caps
from flows.opening import as_begun
from flows.planning.dealing import all_first_rounds
from flows.planning.pricing import Price, expected_out_of_reach, price
from flows.planning.warnings import campaign_warnings
from flows.prices import ask_prices, with_prices
from flows.steps.launch import question
from platforms.endpoint import normal_endpoint, refuse_closed_host
from platforms.mturk import MTurk
from platforms.question import question_bytes
from rehearsal.crowd.campaign_crowd import answering_of
from rehearsal.crowd.people import people

_Rows = list[tuple[str, str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A campaign that could start.

    Attributes:
        campaign: as it was read.
        price: what it costs.
        least_per_hour_cents: what the marketplace wants an hour to be paid at least;
            0 is not known.
        largest_question_bytes: of the largest HIT.
        warnings: what is allowed and probably not meant, a sentence each.
        reached: how many addresses of pictures were tried, and answered.
    """

    campaign: Campaign
    price: Price
    least_per_hour_cents: int
    largest_question_bytes: int
    warnings: tuple[str, ...]
    reached: int

    def as_dict(self) -> dict[str, object]:
        """Plain values, for `--json`; money in cents."""
        rewards = self.campaign.rewards
        priced = {
            f"{name}_cents" if name in _MONEY else name: value
            for name, value in asdict(self.price).items()
        }
        return {
            **priced,
            "on": self.price.on.isoformat(),
            "fees_from": self.price.fees_from.isoformat(),
            "campaign": self.campaign.name,
            "items": len(self.campaign.items),
            "plain_cents": self.price.plain,
            "expected_cents": self.price.expected,
            "at_most_cents": self.price.at_most,
            "currency": rewards.currency,
            "reward_cents": rewards.reward_cents,
            "batch_cap_cents": rewards.batch_budget_cents,
            "day_cap_cents": rewards.day_budget_cents,
            "wage_floor_cents_per_hour": rewards.wage_floor_cents_per_hour,
            "expected_loss": float(rewards.expected_loss),
            "expected_seconds": rewards.expected_seconds,
            "least_cents_per_hour": self.least_per_hour_cents,
            "largest_question_bytes": self.largest_question_bytes,
            "workers": self.campaign.crowd_size,
            "answers_out_of_reach": expected_out_of_reach(self.campaign),
            "warnings": list(self.warnings),
            "pictures_reached": self.reached,
            "missing_for_publishing": list(self.campaign.dataset.missing),
        }


_MONEY = {
    "batches",
    "rewards",
    "fees",
    "replacements",
    "bonus_each",
    "bonuses",
    "worst",
    "cap",
}


def check_campaign(
    path: Path, *, on: date, endpoint: str | None = None, reach: bool = False
) -> Checked:
    """Read, render and price a campaign by the fees of a day, or of a marketplace.

    Args:
        path: of the campaign file.
        on: the day.
        endpoint: of a marketplace that is asked what it takes.
        reach: ask a sample of the items' addresses for their pictures.

    Raises:
        ConfigError: every fault of file, items, heuristics, policy, pages and the
            crowd of the rehearsal; or addresses that give no picture.
        BudgetExceeded: a cap is below the plain cost.
        StoreError: it was begun in another currency.
    """
    campaign = as_begun(read_anywhere(path))
    prices = None
    if endpoint is not None:
        address = normal_endpoint(endpoint)
        refuse_closed_host(address)
        prices = ask_prices(campaign, MTurk.with_keys(address, None), today=on)
        campaign = with_prices(campaign, prices)
    check_caps(campaign, at=datetime.combine(on, time.min, UTC))
    people(campaign.rehearsal.crowd, seed=campaign.rehearsal.seed)
    if campaign.rehearsal.replay is not None:
        answering_of(campaign)
    urls = sample_of_addresses(campaign) if reach else []
    if faults := unreached(urls):
        raise ConfigError(
            faults,
            next_step="open one in a browser that is signed in nowhere: workers see "
            "the same",
        )
    items = {item.item_id: item for item in campaign.items}
    cost = price(campaign, on=on)
    least = 0 if prices is None else prices.least_per_hour_cents
    return Checked(
        campaign=campaign,
        price=cost,
        warnings=(
            *_about_marketplace(campaign.rewards, least),
            *campaign_warnings(campaign, cost),
        ),
        reached=len(urls),
        least_per_hour_cents=least,
        largest_question_bytes=max(
            question_bytes(question(campaign, hit, items))
            for hit in chain(*all_first_rounds(campaign, on=on))
        ),
    )


def say_checked(checked: Checked) -> None:
    """Print what a campaign is and costs, for people."""
    campaign, cost = checked.campaign, checked.price
    console = Console()
    for title, rows in (
        (f"campaign {campaign.name}", _work(checked)),
        (f"price, by the fees of {cost.on}", _price(campaign, cost)),
        ("caps", _caps(campaign, cost)),
        ("dataset, to be published", _dataset(campaign)),
    ):
        table = Table(title=title, title_justify="left", show_header=False)
        table.add_column("what", no_wrap=True)
        table.add_column("how much", justify="right", no_wrap=True)
        table.add_column("why")
        for row in rows:
            table.add_row(*row)
        console.print(table)
    console.print(f"fees: {cost.fees_source}", soft_wrap=True, highlight=False)
    if checked.reached:
        console.print(f"pictures: {checked.reached} addresses tried, all answer")
    for warning in checked.warnings:
        click.secho(f"WARNING: {warning}", fg="yellow")


def _about_marketplace(rewards: Rewards, least: int) -> Iterator[str]:
    """What the marketplace wants, and what is only assumed of it."""
    if rewards.fees_are_listed and rewards.currency != "USD":
        yield (
            "the list of fees is in dollars and only assumed: a marketplace in "
            f"{rewards.currency} says what it takes when the campaign begins there"
        )
    if not least:
        return
    wanted = f"the marketplace asks for {rewards.shown(least)} an hour at least"
    if not rewards.expected_seconds:
        yield f"{wanted}; state rewards.expected_minutes to have it compared"
        return
    hourly = rewards.reward_cents * 3600 // rewards.expected_seconds
    if hourly < least:
        yield f"UNDERPAID: {rewards.shown(hourly)} an hour, and {wanted}"


def _work(checked: Checked) -> _Rows:
    campaign, cost = checked.campaign, checked.price
    posting = campaign.posting
    return [
        (
            "items",
            f"{len(campaign.items):,}",
            f"in {plural(posting.batches, 'batch', 'batches')}",
        ),
        *_test(campaign),
        *_crowd(campaign),
        ("HITs", f"{cost.hits:,}", f"of up to {plural(posting.items_per_hit, 'item')}"),
        ("assignments", f"{cost.assignments:,}", f"{posting.assignments} for each HIT"),
        *_fields(campaign),
        (
            "largest question",
            f"{checked.largest_question_bytes:,} bytes",
            "65,535 are allowed",
        ),
    ]


def _fields(campaign: Campaign) -> _Rows:
    """What was found on a page of one's own; [fields] may say otherwise."""
    if campaign.task.html_page is None:
        return []
    return [("field", field.name, _asked(field)) for field in campaign.task.fields]


def _asked(field: Field) -> str:
    if field.options:
        several = "one of" if field.kind == "choice" else "any of"
        options = ", ".join(option.value for option in field.options)
        return f"{several} {options}" + (" (a guess)" if field.is_open else "")
    if field.kind == "number" and not is_unlimited(field):
        return f"{field.minimum:g} to {field.maximum:g}"
    return field.kind


def _crowd(campaign: Campaign) -> _Rows:
    crowd, wanted = campaign.crowd_size, campaign.posting.assignments
    if crowd is None:
        return []
    return [("workers", f"{crowd:,}", f"for {wanted} answers to each item")]


def _test(campaign: Campaign) -> _Rows:
    test = campaign.qualification
    if test is None:
        return []
    needed = ", ".join(
        f"{name} {test.correct_at_least[name]} of {len(items)}"
        for name, items in test.sections.items()
    )
    hours = (test.retry_seconds or 0) / 3600
    again = "once only" if test.retry_seconds is None else f"again after {hours:g} h"
    minutes = f"{test.duration_seconds / 60:g} minutes"
    return [
        ("test before", plural(len(test.items), "question"), f"{minutes}, {again}"),
        ("to pass it", f"{test.least_passing} right", needed),
    ]


def _price(campaign: Campaign, cost: Price) -> _Rows:
    rewards, shown = campaign.rewards, campaign.rewards.shown
    again = f"{float(rewards.expected_loss):.0%} of answers lost, asked for again"
    rounds = campaign.posting.max_rounds
    return [
        (
            "rewards",
            shown(cost.rewards),
            f"{cost.assignments:,} x {shown(rewards.reward_cents)}",
        ),
        (
            "fees",
            shown(cost.fees),
            (
                f"{cost.assignments:,} x {shown(cost.fee_cents)}"
                + (f", in force since {cost.fees_from}" * (cost.fees_from > date.min))
            ),
        ),
        ("every item once", shown(cost.plain), _by_batch(campaign, cost)),
        ("+ replacements", f"about {shown(cost.replacements)}", again),
        ("+ bonuses", *_bonuses(campaign, cost)),
        ("expected", f"about {shown(cost.expected)}", ""),
        (
            "worst, without caps",
            shown(cost.worst),
            f"all answers of {plural(rounds + 1, 'round')} are paid and lost",
        ),
        ("worst, within caps", shown(cost.at_most), "what posting can cost at most"),
    ]


def _by_batch(campaign: Campaign, cost: Price) -> str:
    shown = campaign.rewards.shown
    least, most = min(cost.batches), max(cost.batches)
    if least == most:
        return f"{shown(most)} a batch"
    return f"{shown(least)} to {shown(most)} a batch"


def _bonuses(campaign: Campaign, cost: Price) -> tuple[str, str]:
    rewards, shown = campaign.rewards, campaign.rewards.shown
    floor = f"{shown(rewards.wage_floor_cents_per_hour)} an hour"
    if cost.bonus_each is None:
        if not rewards.wage_floor_cents_per_hour:
            return shown(0), "there is no wage floor"
        allowed = 60 * rewards.reward_cents / rewards.wage_floor_cents_per_hour
        return (
            "unknown",
            (
                f"state rewards.expected_minutes; the reward alone pays {floor} for "
                f"{allowed:.1f} minutes a HIT"
            ),
        )
    minutes = f"{(rewards.expected_seconds or 0) / 60:g} minutes a HIT"
    if not cost.bonus_each:
        return shown(0), f"{minutes}: the reward reaches {floor}"
    return (
        f"about {shown(cost.bonuses)}",
        (f"{minutes}: {shown(cost.bonus_each)} and fee for each to reach {floor}"),
    )


def _caps(campaign: Campaign, cost: Price) -> _Rows:
    rewards = campaign.rewards
    day = rewards.day_budget_cents
    return [
        ("campaign", rewards.shown(rewards.budget_cents), _room(campaign, cost)),
        (
            "batch",
            _cap(rewards, rewards.batch_budget_cents),
            "replacements and bonuses too",
        ),
        (
            "day",
            _cap(rewards, day),
            f"posting every item once takes {plural(cost.days, 'UTC day')} or more"
            if day
            else "",
        ),
    ]


def _room(campaign: Campaign, cost: Price) -> str:
    shown = campaign.rewards.shown
    room = cost.cap - cost.expected
    if room < 0:
        return f"{shown(-room)} LESS than expected: some answers will stay missing"
    return f"{shown(room)} more than expected"


def _dataset(campaign: Campaign) -> _Rows:
    """How it is divided, and what its readers would not be told."""
    stated, shares = campaign.dataset, campaign.dataset.shares
    missing = campaign.dataset.missing
    files = "beside it" if stated.pictures == "files" else "by their addresses"
    parquet = [
        ("formats", "no Parquet", "the Hugging Face hub would not know its splits")
    ]
    return [
        (
            "splits",
            f"{shares.train_percent} / {shares.val_percent} / {shares.test_percent} %",
            f"train / val / test, by {shares.group_by or 'picture'}",
        ),
        ("pictures", files, ""),
        *(parquet if "parquet" not in campaign.formats else []),
        (
            "missing",
            f"{len(missing)} of {len(STATEMENTS)}" if missing else "nothing",
            "keys of dataset: " + ", ".join(missing) if missing else "",
        ),
    ]


def _cap(rewards: Rewards, cents: int | None) -> str:
    return "none" if cents is None else rewards.shown(cents)
