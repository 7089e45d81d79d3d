"""`market serve --crowd`: the marketplace with people from other markets.

How a market's people are served is in the market's folder (`markets.registry`). This is what
the ways to serve them have in common.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from piecework.cli.options import is_typed
from piecework.domain.crowds import MARKETS
from piecework.domain.errors import ConfigError
from piecework.domain.money import cents_from_text
from piecework.markets import registry

if TYPE_CHECKING:
    import threading

    from piecework.cli.serve_options import CrowdOptions
    from piecework.domain.campaign import Campaign
    from piecework.marketplace.http.options import Marketplace
    from piecework.marketplace.state.money import PriceList
    from piecework.marketplace.state.outside_crowd import OutsideCrowd
    from piecework.markets.bridging.accounts import Account, Bridge


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedCrowd:
    """A crowd that can be served.

    Attributes:
        crowd: the marketplace's view of its people.
        prices: what its market charges.
        spend_at_most_cents: the cap on what its bridge spends; None has no cap.
        bridge: pays people there; None if people are paid from a list.
        step: makes a step of the bridge.
        news: asks the bridge for a step sooner, if the market reports events.
    """

    crowd: "OutsideCrowd"
    prices: "PriceList"
    spend_at_most_cents: int | None = None
    bridge: "Bridge | None" = None
    step: Callable[[Any], bool] = bool
    news: "threading.Event | None" = None


@cache
def _own_options() -> dict[str, tuple[click.Option, ...]]:
    """Return the options of each market; a broken market has none, and is named."""
    return registry.loaded("options", say=partial(click.echo, err=True))


def with_own_options(command: click.Command) -> click.Command:
    """Add the options of each market to a command."""
    for options in _own_options().values():
        command.params += options
    return command


_ASKED = "piecework.crowds"
_OF_CROWDS = {
    *("public_url", "token_file", "live", "spend_at_most"),
    *("hits_per_visit", "hit_seconds", "settle_seconds"),
}
"""Options that hold for every market, and for no invited people."""


class ServeCommand(click.Command):
    """Its help shows the options of a market beside `--crowd MARKET` alone."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; `--help` is called before `--crowd` is read."""
        ctx.meta[_ASKED] = crowds_in(args)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, without those that have no effect for these crowds."""
        asked: frozenset[str] = ctx.meta.get(_ASKED, frozenset())
        visible = {*asked, "MARKET"} if asked else set()
        hidden = [
            option
            for crowd, options in options_by_crowd(self).items()
            if crowd not in visible
            for option in options
        ]
        shown = self.params
        self.params = [each for each in shown if each not in hidden]
        try:
            super().format_options(ctx, formatter)
        finally:
            self.params = shown
        if rest := [name for name in _own_options() if name not in asked]:
            with formatter.section("Options of a market"):
                formatter.write_dl([(f"--crowd {name} --help", "") for name in rest])


def crowds_in(args: Sequence[str]) -> frozenset[str]:
    """Return the markets that arguments name.

    >>> sorted(crowds_in(["--crowd", "prolific", "--crowd=panel", "--live"]))
    ['panel', 'prolific']
    """
    values = [after for word, after in pairwise(args) if word == "--crowd"]
    values += [word.removeprefix("--crowd=") for word in args if word.startswith("--crowd=")]
    return frozenset(values) & frozenset(MARKETS)


def options_by_crowd(command: click.Command) -> dict[str, list[click.Parameter]]:
    """Return what `--crowd` adds to a command: for "MARKET" alike, then for each market."""
    common = [each for each in command.params if each.name in _OF_CROWDS]
    return {"MARKET": common, **{name: [*own] for name, own in _own_options().items()}}


def opened_crowd(
    crowd: str,
    marketplace: "Marketplace",
    options: "CrowdOptions",
    own: Mapping[str, Any],
    consent: tuple[str, ...],
) -> AbstractContextManager[OpenedCrowd]:
    """Open a market for the people whom it sends.

    Args:
        crowd: the market.
        marketplace: the options, as for invited people.
        options: who works, and on what terms.
        own: the values of the markets' own options, by name.
        consent: what people agree to; () is the usual text.

    Raises:
        BrokenMarket: its code cannot be loaded.
        ConfigError: it cannot be used; nothing was sent.
        RefusedForSafety: others can read the account's token.
    """
    market = registry.market(crowd)
    market.load(market.options)
    open_crowd = market.load(market.opened)
    opened: AbstractContextManager[OpenedCrowd] = open_crowd(marketplace, options, own, consent)
    return opened


def serve_crowds(
    marketplace: "Marketplace", opened: Sequence[OpenedCrowd], ready: Callable[[str], object]
) -> None:
    """Serve until the process is told to stop, with each bridge in a thread.

    HITs that name no market are for the market that was served first in the life of
    the file, so its prices are the marketplace's.

    Args:
        marketplace: the options, without crowds.
        opened: the crowds, at least one.
        ready: called with the URL when the marketplace listens.

    Raises:
        Unusable: another process serves the file.
    """
    from piecework.cli.marketplace_file import transaction_in
    from piecework.marketplace.http.server import serve_forever
    from piecework.marketplace.state import outside_crowd
    from piecework.markets.bridging.accounts import Running

    with transaction_in(marketplace.database) as transaction:
        order = [market.name for market in outside_crowd.served(transaction)]
    opened = sorted(opened, key=lambda each: order.index(each.crowd.name))
    # A bridge that only drafts studies spends nothing, so its cap of 0 limits no HITs.
    caps = [each.spend_at_most_cents for each in opened if each.spend_at_most_cents != 0]
    served = replace(
        marketplace,
        crowds=tuple(each.crowd for each in opened),
        prices=opened[0].prices,
        spend_at_most_cents=None if None in caps else sum(filter(None, caps)) or None,
        recruits=recruits_live(opened),
    )
    # For metrics, if metrics are served.
    observer = None if served.metrics is None else served.metrics.metrics.observe_step
    with ExitStack() as stack:
        for each in opened:
            if each.bridge is not None:
                running = Running(each.bridge, each.step, each.news, after_step=observer)
                stack.enter_context(running.running())
        serve_forever(served, ready)


def recruits_live(opened: Sequence[OpenedCrowd]) -> bool:
    """Return whether a bridge publishes studies and pays their people."""
    return any(each.bridge is not None and each.spend_at_most_cents for each in opened)


def priced_at(campaign: "Campaign", opened: Sequence[OpenedCrowd], own: "PriceList") -> "Campaign":
    """Return a campaign with what the marketplace charges, or the markets that it serves.

    Args:
        campaign: the campaign.
        opened: the markets.
        own: what the marketplace takes without markets.

    Raises:
        ConfigError: they have another currency.
    """
    from piecework.campaign.price_list import with_prices
    from piecework.platforms.wire import prices_from_wire

    stated = campaign.rewards.currency
    if not opened:
        return with_prices(campaign, prices_from_wire({**own.members(), "Currency": stated}))
    crowds = [{"Crowd": each.crowd.name, **each.prices.members()} for each in opened]
    prices = prices_from_wire({**opened[0].prices.members(), "Crowds": crowds})
    market = opened[0].crowd.name
    if prices.currency != stated:
        raise ConfigError(
            [f"{campaign.path}: currency is {stated}, but {market} charges {prices.currency}"],
            next_step=f'write currency = "{prices.currency}" and all amounts in it, or serve an '
            f"account in {stated}",
        )
    return with_prices(campaign, prices)


B = TypeVar("B", bound="Bridge")


@contextmanager
def opened_bridge(
    marketplace: "Marketplace",
    options: "CrowdOptions",
    account: "Account[B]",
    step: Callable[[B], bool],
    limit_cents: int,
) -> Iterator[tuple[B, OpenedCrowd]]:
    """Open a market's bridge; return it, and its crowd.

    Args:
        marketplace: the options, as for invited people.
        options: who works, and on what terms.
        account: the account that pays.
        step: makes a step of the bridge.
        limit_cents: the cap on what the bridge spends.
    """
    from piecework.marketplace.state.backend import Rules

    rules = Rules(clock_is_right=marketplace.clock_is_right)
    with account.bridge(marketplace.database, rules, among=options.crowds) as bridge:
        yield (
            bridge,
            OpenedCrowd(
                crowd=account.crowd,
                prices=account.prices,
                spend_at_most_cents=limit_cents,
                bridge=bridge,
                step=step,
            ),
        )


def token_file(crowd: str, options: "CrowdOptions") -> Path | None:
    """Return the file with a crowd's token; None to take it from the environment.

    Raises:
        ConfigError: the option does not say which crowd it is for, or names two files.
    """
    file = value_for(crowd, "--token-file", options.token_file, len(options.crowds))
    return Path(file) if file else None


def value_for(crowd: str, option: str, stated: Sequence[str], among: int) -> str:
    """Return an option's value for one crowd; "" if it has none.

    Args:
        crowd: the crowd.
        option: the option, for messages.
        stated: its values: VALUE, or CROWD=VALUE.
        among: how many crowds are served.

    Raises:
        ConfigError: a value does not say which crowd it is for, or there are two.
    """
    own = [text.partition("=")[2] for text in stated if _named(text) == crowd]
    plain = [text for text in stated if not _named(text)]
    if plain and among > 1:
        raise ConfigError([f"{option}: say for which crowd {plain[0]} is: {crowd}={plain[0]}"])
    if len(own) + len(plain) > 1:
        raise ConfigError([f"{option}: give {crowd} one value"])
    return next(iter(own + plain), "")


def check_crowds(options: "CrowdOptions", *, is_rehearsal: bool) -> None:
    """Refuse options about crowds that contradict each other.

    Raises:
        ConfigError: they do.
    """
    crowds = options.crowds
    if crowds and "invited" in options.crowd:
        raise ConfigError([f"--crowd {crowds[0]}: invited people cannot work beside another crowd"])
    if is_rehearsal and crowds:
        flags = " ".join(f"--crowd {crowd}" for crowd in crowds)
        raise ConfigError(
            [f"{flags} does not go with --rehearsal"],
            next_step=f"piecework rehearse CAMPAIGN {flags}",
        )
    _check_own_options(crowds)
    stated = {"--spend-at-most": options.spend_at_most, "--token-file": options.token_file}
    for option, values in stated.items():
        for name in filter(None, map(_named, values)):
            if name not in crowds:
                raise ConfigError([f"{option}: {name} is not served; add --crowd {name}"])


def _check_own_options(crowds: Sequence[str]) -> None:
    """Refuse options on the command line about a market that is not served."""
    for market, own in _own_options().items():
        for each in own if market not in crowds else ():
            if is_typed(str(each.name)):
                raise ConfigError([f"{each.opts[0]} needs --crowd {market}"])


def refuse_closed_addresses(marketplace: "Marketplace", address: str, *, crowd: str) -> None:
    """Refuse URLs that a participant's browser cannot open, before any call.

    Args:
        marketplace: the options.
        address: the other market's API.
        crowd: the value of --crowd.

    Raises:
        ConfigError: an option is missing.
        Unusable: participants cannot open an address.
    """
    from piecework.foundation.client.checks import (
        is_emulator,
        refuse_closed_frames,
        refuse_closed_site,
    )

    if not marketplace.site_url:
        raise ConfigError([f"--crowd {crowd} needs --public-url, where participants are sent"])
    if is_emulator(address):
        return
    refuse_closed_site(marketplace.site_url)
    if not marketplace.frames_url:
        raise ConfigError(
            [f"--crowd {crowd} needs --frames-url, the URL of the question pages"],
            next_step="give a second https name that leads to --frames-port",
        )
    refuse_closed_frames(marketplace.frames_url)


def spending_limit(crowd: str, options: "CrowdOptions") -> int:
    """Return the cents that a crowd's bridge may spend; 0 without --live.

    Raises:
        ConfigError: --live and the amount do not go together, or it is not an amount.
    """
    text = value_for(crowd, "--spend-at-most", options.spend_at_most, len(options.crowds))
    if options.live != bool(text):
        which = f" for {crowd}" if len(options.crowds) > 1 else ""
        sentence = f"--live and --spend-at-most AMOUNT{which} go together; give both"
        raise ConfigError([f"{sentence} or neither"])
    return amount_of("--spend-at-most", text)


def amount_of(option: str, text: str) -> int:
    """Return the cents of an option's amount; 0 if it is empty.

    Raises:
        ConfigError: it is not an amount.
    """
    try:
        return cents_from_text(text or "0")
    except ValueError as fault:
        raise ConfigError([f"{option}: {fault}"]) from fault


def _named(text: str) -> str:
    """Return the crowd that a value is for; "" if it names none."""
    name, mark, _ = text.partition("=")
    return name if mark and name in MARKETS else ""
