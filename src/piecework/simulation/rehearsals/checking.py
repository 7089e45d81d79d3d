"""Checks a campaign before anything is posted: pages, price, pictures, crowd."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time
from itertools import chain
from pathlib import Path

from piecework.campaign.assembling import assemble_anywhere, warnings_of_earlier
from piecework.campaign.binding import digest_of
from piecework.campaign.caps import check_caps
from piecework.campaign.columns import is_on_the_web
from piecework.campaign.dealing import all_first_rounds
from piecework.campaign.deriving import derived_values
from piecework.campaign.draft import free_name
from piecework.campaign.growing_source import see_source
from piecework.campaign.live_changes import LiveChange, live_changes, refusal_of_changes
from piecework.campaign.price_list import terms_of
from piecework.campaign.pricing import (
    FirstPass,
    Price,
    expected_out_of_reach,
    first_pass,
    market_prices,
    price,
)
from piecework.campaign.questions import largest_page
from piecework.campaign.reachable_pictures import SAMPLE, sample_of_pictures, unreached
from piecework.campaign.shown_media import unseen, warnings_of_ends
from piecework.campaign.warnings import campaign_warnings
from piecework.config.campaign_file import CampaignFile, parse_untrusted
from piecework.config.trust import confined, refusal_of
from piecework.domain.campaign import Campaign, Rewards
from piecework.domain.clock import SystemClock
from piecework.domain.crowds import MarketPrice
from piecework.domain.errors import ConfigError, StoreError
from piecework.domain.hit import PROLIFIC
from piecework.domain.money import PriceList
from piecework.domain.received_files import about_left_out
from piecework.engine.begun import as_priced, known_store
from piecework.hit_templates.own_html.task import several_to_state
from piecework.markets.registry import market
from piecework.platforms.endpoint import normal_endpoint
from piecework.platforms.mturk import MTurk
from piecework.results.pictures import warnings_about_pictures
from piecework.simulation.crowd.people import people
from piecework.simulation.rehearsals.campaign import answering_of, refuse_faulty_test
from piecework.store import dealt_items, ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A campaign that could start.

    Attributes:
        campaign: the campaign as read.
        price: what it costs.
        first_pass: what the next pass would post of a source that grows.
        markets: what it costs at each of its markets; empty without [markets].
        least_per_hour_cents: the least pay for an hour that the marketplace asks for;
            0 if not known.
        largest_question_bytes: the size of the largest HIT's question.
        warnings: sentences about what is allowed but probably not meant.
        reached: the number of pictures that were tried and load.
        sinks_reached: the number of sinks that were asked and answer.
        changes: what has changed since the last pass of live work.
        refusal: why the next pass would refuse these changes, and what to do; `None`
            if it takes them.
    """

    campaign: Campaign
    price: Price
    first_pass: FirstPass | None
    markets: tuple[MarketPrice, ...]
    least_per_hour_cents: int
    largest_question_bytes: int
    warnings: tuple[str, ...]
    reached: int
    sinks_reached: int
    changes: tuple[LiveChange, ...]
    refusal: StoreError | None

    def as_dict(self) -> dict[str, object]:
        """Return plain values for `--json`; money in cents."""
        rewards = self.campaign.rewards
        priced = {
            f"{name}_cents" if name in _MONEY else name: value
            for name, value in asdict(self.price).items()
        }
        return {
            **priced,
            "on": self.price.on.isoformat(),
            "first_pass": self.first_pass and asdict(self.first_pass),
            "fees_from": self.price.fees_from.isoformat(),
            "campaign": self.campaign.name,
            "columns": {
                name or field.name: field.name
                for field in self.campaign.task.fields
                for name in field.names_sent
            },
            "markets": [
                {**asdict(each), "fee_percent": float(each.fee_percent)} for each in self.markets
            ],
            "items": len(self.campaign.items),
            "plain_cents": self.price.plain,
            "expected_cents": self.price.expected,
            "expected_at_most_cents": self.price.expected_at_most,
            "at_most_cents": self.price.at_most,
            "currency": rewards.currency,
            "reward_cents": rewards.reward_cents,
            "agreed_cents": rewards.agreed_cents,
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
            "sinks_reached": self.sinks_reached,
            "changes": [
                {**asdict(each), "means": each.means.name.lower()} for each in self.changes
            ],
            "refusal": self.refusal and str(self.refusal),
            "derived": {each.key: each.value for each in derived_values(self.campaign)},
            "unused_rules": list(self.campaign.unused_rules),
            "digest": digest_of(self.campaign),
            "missing_for_publishing": list(self.campaign.dataset.missing),
        }


_MONEY = {
    "batches",
    "rewards",
    "fees",
    "replacements",
    "bonus_each",
    "bonuses",
    "more",
    "worst",
    "cap",
}


def check_campaign(
    path: Path,
    *,
    on: date,
    endpoint: str | None = None,
    reach: bool = False,
    internal: bool = False,
) -> Checked:
    """Read, render and price a campaign by the fees of a day, or of a marketplace.

    Of a campaign that is not trusted, only its own folder is read.

    Args:
        path: the campaign file.
        on: the day.
        endpoint: a marketplace to ask for its fees.
        reach: whether to try a sample of the items' addresses, and each sink.
        internal: whether to try addresses inside this machine's network too.

    Raises:
        ConfigError: every fault of file, items, heuristics, policy, pages and the
            crowd of the rehearsal; or addresses and files that are not pictures.
        BudgetExceeded: a cap is below the plain cost.
        StoreError: the campaign was started in another currency.
        SinkFailed: a sink does not answer.
        RefusedForSafety: it is not trusted, and its items or task are elsewhere, or
            `reach` is wanted.
    """
    file = parse_untrusted(path)
    refusal = refusal_of(file)
    if refusal is not None and reach:
        raise refusal
    campaign = assemble_anywhere(confined(file))
    campaign, prices = as_priced(campaign, endpoint, on=on)
    if campaign.growth is not None and not campaign.items:
        raise ConfigError(
            [
                *see_source(campaign, None).warnings,
                f"{campaign.growth.source.name}: no row that can be used yet",
            ],
            next_step=several_to_state(campaign.task)
            or "without a row, nothing can be priced or rendered",
        )
    midnight = datetime.combine(on, time.min, UTC)
    check_caps(campaign, at=midnight)
    _refuse_low_wage(campaign)
    refuse_faulty_test(campaign)
    people(campaign.rehearsal.crowd, seed=campaign.rehearsal.seed)
    if campaign.rehearsal.replay is not None:
        answering_of(campaign)
    largest = largest_page(campaign, chain(*all_first_rounds(campaign, on=on)))
    reached, unknown = _try_pictures(campaign, endpoint, reach=reach, internal=internal)
    if reach and campaign.sinks:
        from piecework.results.releases import reach_sinks  # noqa: PLC0415 - most have no sink

        reach_sinks(campaign)
    cost = price(campaign, on=on)
    with known_store(campaign) as store:
        changes = () if store is None else live_changes(store, campaign)
        refused = None if store is None or not changes else refusal_of_changes(store, campaign)
        seen = see_source(campaign, store)
        waiting = 0 if store is None else dealt_items.waiting(store).rows
        taken_cents = 0 if store is None else ledger.taken_cents(store)
    least = _least_by_market(campaign, prices)
    return Checked(
        campaign=campaign,
        price=cost,
        first_pass=first_pass(campaign, len(seen.new) + waiting, on=on),
        markets=market_prices(campaign, on=on),
        warnings=(
            *([f"{refusal}; next: {refusal.next_step}"] if refusal else ()),
            *_about_marketplace(campaign, least),
            *(_about_digest(campaign) if store is None else ()),
            *_about_taken(campaign, taken_cents),
            *campaign_warnings(campaign, cost),
            *warnings_of_earlier(campaign),
            *warnings_about_pictures(campaign),
            *warnings_of_ends(campaign, campaign.items, max(midnight, SystemClock().now())),
            *_about_left_out(file),
            *seen.warnings,
            *(f"a picture could not be tried from here: {sentence}" for sentence in unknown),
        ),
        reached=reached,
        sinks_reached=len(campaign.sinks) if reach else 0,
        least_per_hour_cents=max(least.values(), default=0),
        largest_question_bytes=largest,
        changes=changes,
        refusal=refused,
    )


def _about_taken(campaign: Campaign, taken_cents: int) -> Iterator[str]:
    """Yield that a cap was lowered below what is spent and held."""
    rewards = campaign.rewards
    if taken_cents > rewards.cap_cents:
        yield (
            f"{rewards.cap_name} is {rewards.shown(rewards.cap_cents)}, and "
            f"{rewards.shown(taken_cents)} is spent or held already: no more HITs can be posted"
        )


def _about_digest(campaign: Campaign) -> Iterator[str]:
    """Yield how to have a plain name, while no store has the derived one."""
    path = campaign.path
    plain = free_name(path, campaign.name)
    is_derived = any(each.key == "name" for each in campaign.derived)
    if is_derived and campaign.name not in {plain, path.stem}:
        yield (
            f"name: {campaign.name!r} ends with a digest, because {path.name!r} is no plain name; "
            f'for a plain name, write this line before the first run: name = "{plain}"'
        )


def _about_left_out(file: CampaignFile) -> Iterator[str]:
    """Yield what of a folder of pictures is no item, although somebody may think so."""
    shown = file.pictures
    if file.tables.items.file is None and shown is not None and shown.folder is not None:
        yield from filter(None, [about_left_out(shown.folder)])


def _try_pictures(
    campaign: Campaign, endpoint: str | None, *, reach: bool, internal: bool
) -> tuple[int, tuple[str, ...]]:
    """Try a sample of the pictures; return how many, and what is not known.

    Args:
        campaign: the campaign.
        endpoint: the marketplace that shows those in the campaign's folder or bucket.
        reach: whether to try files here and other hosts too.
        internal: whether other hosts may be inside this machine's network.

    Raises:
        ConfigError: workers would not see some of them.
    """
    if campaign.rehearsal.scenes:
        return 0, ()
    files = sample_of_pictures(campaign) if reach else []
    files = [name for name in files if not is_on_the_web(name)]
    shown = campaign.pictures
    bucket = shown.address if shown is not None and shown.folder is None else ""
    faults = unreached(files, bucket=bucket)
    platform = None if endpoint is None else MTurk.with_keys(normal_endpoint(endpoint), None)
    sample = unseen(
        campaign,
        list(campaign.items),
        platform,
        asks_others=reach,
        asks_inside=internal,
        most=SAMPLE,
    )
    faults += [*sample.faults, *(sample.unknown if reach else ())]
    if faults:
        raise ConfigError(faults, next_step=sample.next_step)
    return len(files) + sample.tried, sample.unknown


def _least_by_market(campaign: Campaign, prices: PriceList | None) -> dict[str, int]:
    """Return the least pay an hour that each market asks for, if it does."""
    if prices is None:
        return {}
    names = [market or "the marketplace" for market in campaign.markets]
    return {
        name: terms.least_per_hour_cents
        for name, terms in zip(names, terms_of(campaign, prices), strict=True)
        if terms.least_per_hour_cents
    }


def _refuse_low_wage(campaign: Campaign) -> None:
    """Refuse an hourly wage below the least that a market of the campaign allows."""
    rewards = campaign.rewards
    named = [name for name in campaign.markets if name]
    asks = [each.qualification_type_id for each in campaign.requirements]
    if campaign.recruiting is not None or any(asked.startswith(PROLIFIC) for asked in asks):
        named.append("prolific")
    for name in dict.fromkeys(named):
        least = dict(market(name).least_per_hour).get(rewards.currency, 0)
        wage = rewards.wage_floor_cents_per_hour
        if wage < least:
            fault = (
                f"{campaign.path}: hourly_wage: is {rewards.shown(wage)}, but {name} asks for "
                f"{rewards.shown(least)} an hour at least"
            )
            raise ConfigError(
                [fault], next_step=f'write hourly_wage = "{rewards.shown(least)}" or more'
            )


def _about_marketplace(campaign: Campaign, least: Mapping[str, int]) -> Iterator[str]:
    """Yield warnings about the least pay of each market and about fees that are not known."""
    rewards, known = campaign.rewards, dict(campaign.rewards.fees_by_market)
    unknown = [name for name in campaign.markets if name and name not in known]
    if unknown:
        yield (
            f"the fees of {' and '.join(unknown)} are not known here, so it is priced as your own "
            "marketplace; --endpoint asks the marketplace for them"
        )
    for name, cents in least.items():
        yield from _about_least(rewards, name, cents)


def _about_least(rewards: Rewards, name: str, least: int) -> Iterator[str]:
    wanted = f"{name} asks for at least {rewards.shown(least)} an hour"
    if not rewards.expected_seconds:
        yield f"{wanted}; set minutes to compare"
        return
    hourly = rewards.reward_cents * 3600 // rewards.expected_seconds
    if hourly < least:
        yield f"UNDERPAID: {rewards.shown(hourly)} an hour, and {wanted}"
