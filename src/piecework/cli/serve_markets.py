"""`serve --crowd`: the marketplace with the participants of Prolific and of Connect.

What the ways to serve another market's people have in common stands first.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.connect import needed_key
from piecework.cli.errors import api_faults
from piecework.cli.prolific import needed_token
from piecework.domain.errors import ConfigError
from piecework.domain.extras import load_extra
from piecework.domain.money import cents_from_text
from piecework.domain.text import printable

if TYPE_CHECKING:
    from piecework.cli.serve_options import CrowdOptions
    from piecework.marketplace.http.options import Marketplace
    from piecework.marketplace.state.money import PriceList
    from piecework.marketplace.state.outside_crowd import OutsideCrowd
    from piecework.markets.bridging.running import StepObserver
    from piecework.markets.connect.bridge.bridge import LinkNames
    from piecework.markets.connect.bridge.serving import Office
    from piecework.markets.prolific.bridge.bridge import Bridge, Terms
    from piecework.markets.prolific.bridge.recruiting import Recruiting
    from piecework.markets.prolific.bridge.webhooks import Receiver

_CROWDS = ("prolific", "connect", "panel")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedCrowd:
    """A crowd that can be served.

    Attributes:
        crowd: the marketplace's view of its people.
        prices: what its market charges.
        spend_at_most_cents: the cap on what its bridge spends; None has no cap.
        bridge: makes the bridge's steps while it is open; None if people are paid from
            a list.
    """

    crowd: "OutsideCrowd"
    prices: "PriceList"
    spend_at_most_cents: int | None = None
    bridge: "Callable[[StepObserver | None], AbstractContextManager[None]] | None" = None


def serve_crowds(marketplace: "Marketplace", opened: Sequence[OpenedCrowd]) -> None:
    """Serve until the process is told to stop, with each bridge in a thread.

    HITs that name no market are for the market that was served first in the life of
    the file, so its prices are the marketplace's.

    Args:
        marketplace: the options, without crowds.
        opened: the crowds, at least one.

    Raises:
        Unusable: another process serves the file.
    """
    from piecework.cli.marketplace_file import transaction_in
    from piecework.marketplace.http.server import serve_forever
    from piecework.marketplace.state import outside_market

    with transaction_in(marketplace.database) as transaction:
        order = [market.name for market in outside_market.served(transaction)]
    opened = sorted(opened, key=lambda each: order.index(each.crowd.name))
    caps = [each.spend_at_most_cents for each in opened]
    served = replace(
        marketplace,
        crowds=tuple(each.crowd for each in opened),
        prices=opened[0].prices,
        spend_at_most_cents=None if None in caps else sum(filter(None, caps)),
    )
    with ExitStack() as stack:
        for each in opened:
            if each.bridge is not None:
                stack.enter_context(each.bridge(_step_observer(served)))
        serve_forever(served)


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
    if options.panel is not None and "panel" not in crowds:
        raise ConfigError(["--panel needs --crowd panel"])
    stated = {"--spend-at-most": options.spend_at_most, "--token-file": options.token_file}
    for option, values in stated.items():
        for name in filter(None, map(_named, values)):
            if name not in crowds:
                raise ConfigError([f"{option}: {name} is not served; add --crowd {name}"])


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
    return name if mark and name in _CROWDS else ""


def _step_observer(served: "Marketplace") -> "StepObserver | None":
    """Return what counts a bridge's steps for metrics, if metrics are served."""
    return None if served.metrics is None else served.metrics.metrics.observe_step


@contextmanager
def open_prolific(
    marketplace: "Marketplace", options: "CrowdOptions", consent: tuple[str, ...]
) -> Iterator[OpenedCrowd]:
    """Open the account and the bridge.

    Args:
        marketplace: the options, as for invited people.
        options: who works, and on what terms.
        consent: what people agree to; () is the usual text.

    Raises:
        ConfigError: the account or the addresses cannot be used; nothing was sent.
        RefusedForSafety: others can read the token.
    """
    load_extra("pycountry", extra="prolific", use="--crowd prolific")
    from piecework.foundation.client.token import api_address
    from piecework.marketplace.state.backend import Rules
    from piecework.markets.bridging.running import Running
    from piecework.markets.prolific.bridge.bridge import NAME
    from piecework.markets.prolific.bridge.prolific_crowd import CONSENT
    from piecework.markets.prolific.bridge.recruiting import agreed_terms
    from piecework.markets.prolific.bridge.serving import office, step
    from piecework.markets.prolific.calling import SERVICE

    recruiting = _recruiting(options, spending_limit(NAME, options))
    file = value_for(NAME, "--token-file", options.token_file, len(options.crowds))
    with api_faults():
        address = api_address(options.prolific_url, SERVICE)
        token = needed_token(Path(file) if file else None)
        refuse_closed_addresses(marketplace, address, crowd=NAME)
        terms = agreed_terms(recruiting, address, token, site_url=marketplace.site_url)
        rules = Rules(clock_is_right=marketplace.clock_is_right)
        with (
            office(address, token, terms, consent=consent or CONSENT) as opened,
            opened.bridge(marketplace.database, rules, among=options.crowds) as bridge,
        ):
            _say_prolific(opened.terms, str(opened.prices.percent))
            receiver = _receiver(bridge) if options.webhooks else None
            news = None if receiver is None else receiver.news

            def running(after_step: "StepObserver | None") -> AbstractContextManager[None]:
                return Running(bridge, step, news, after_step=after_step).running()

            yield OpenedCrowd(
                crowd=replace(opened.crowd, webhooks=receiver),
                prices=opened.prices,
                spend_at_most_cents=recruiting.spend_at_most_cents,
                bridge=running,
            )


def _recruiting(options: "CrowdOptions", limit_cents: int) -> "Recruiting":
    from piecework.markets.prolific.bridge.recruiting import Recruiting

    return Recruiting(
        workspace_id=options.workspace,
        project_id=options.project,
        is_live=options.live,
        spend_at_most_cents=limit_cents,
        hits_per_visit=options.hits_per_visit,
        hit_seconds=options.hit_seconds,
        visits_per_participant=options.visits_per_participant,
        settle_seconds=options.settle_seconds,
        screening_cents=amount_of("--screening-pay", options.screening_pay),
        screen_out_cents=amount_of("--screen-out-pay", options.screen_out_pay),
    )


def _receiver(bridge: "Bridge") -> "Receiver | None":
    """Return the receiver of webhooks; None, with a message, if Prolific refuses."""
    from piecework.foundation.client.errors import ApiError
    from piecework.marketplace.workers.visit_site import EVENTS
    from piecework.markets.prolific.bridge.webhooks import register

    url = f"{bridge.terms.site_url}{EVENTS}"
    try:
        return register(bridge.backend, bridge.prolific, bridge.terms.workspace_id, url)
    except ApiError as fault:
        click.echo(
            f"no webhooks, so the bridge polls: {printable(str(fault))} "
            f"{printable(fault.next_step)}".rstrip(),
            err=True,
        )
        return None


def _say_prolific(terms: "Terms", percent: str) -> None:
    limit = terms.money(terms.spend_at_most_cents)
    click.echo(f"Prolific adds {percent} % to what participants get, tax included", err=True)
    if terms.is_live:
        click.echo(f"the bridge publishes studies, for up to {limit} in all", err=True)
    else:
        click.echo("studies stay drafts; --live with --spend-at-most publishes them", err=True)


_MOST_PERCENT = 100
_LINK_PARTS = 3


@contextmanager
def open_connect(
    marketplace: "Marketplace", options: "CrowdOptions", consent: tuple[str, ...]
) -> Iterator[OpenedCrowd]:
    """Open the account and the bridge.

    Args:
        marketplace: the options, as for invited people.
        options: who works, and on what terms.
        consent: what people agree to; () is the usual text.

    Raises:
        ConfigError: the account or the addresses cannot be used; nothing was sent.
        RefusedForSafety: others can read the key.
    """
    from piecework.foundation.client.token import api_address
    from piecework.marketplace.state.backend import Rules
    from piecework.markets.bridging.running import Running
    from piecework.markets.connect.bridge.bridge import NAME, Terms
    from piecework.markets.connect.bridge.connect_crowd import CONSENT
    from piecework.markets.connect.bridge.serving import office, step
    from piecework.markets.connect.values import SERVICE

    limit = spending_limit(NAME, options)
    names, percent = _link_names(options.link_names), _percent(options.fee_percent)
    file = value_for(NAME, "--token-file", options.token_file, len(options.crowds))
    with api_faults():
        address = api_address(options.connect_url, SERVICE)
        key = needed_key(Path(file) if file else None)
        refuse_closed_addresses(marketplace, address, crowd=NAME)
        terms = Terms(
            site_url=marketplace.site_url,
            is_live=options.live,
            spend_at_most_cents=limit,
            hits_per_visit=options.hits_per_visit,
            hit_seconds=options.hit_seconds,
            settle_seconds=options.settle_seconds,
            link_names=names,
        )
        rules = Rules(clock_is_right=marketplace.clock_is_right)
        with (
            office(address, key, terms, consent=consent or CONSENT, percent=percent) as opened,
            opened.bridge(marketplace.database, rules, among=options.crowds) as bridge,
        ):
            _say_connect(opened)

            def running(after_step: "StepObserver | None") -> AbstractContextManager[None]:
                return Running(bridge, step, after_step=after_step).running()

            yield OpenedCrowd(
                crowd=opened.crowd, prices=opened.prices, spend_at_most_cents=limit, bridge=running
            )


def _link_names(text: str) -> "LinkNames":
    from piecework.markets.connect.bridge.bridge import LinkNames

    if not text:
        return LinkNames()
    names = [name.strip() for name in text.split(",")]
    if len(names) != _LINK_PARTS or not all(name.isidentifier() for name in names):
        raise ConfigError(
            ["--link-names: give three names: of participant, assignment and project"],
            next_step="--link-names participantId,assignmentId,projectId",
        )
    return LinkNames(*names)


def _percent(text: str) -> Decimal | None:
    if not text:
        return None
    try:
        percent = Decimal(text)
    except InvalidOperation:
        percent = Decimal(-1)
    if not 0 <= percent <= _MOST_PERCENT:
        raise ConfigError([f"--fee-percent: {text!r} is not a percentage"])
    return percent


def _say_connect(office: "Office") -> None:
    from piecework.markets.connect.bridge.bridge import money

    click.echo(f"Connect adds {office.prices.percent} % to what participants get", err=True)
    click.echo(
        "requirements on approvals and adult content count as met: Connect has no filter for them",
        err=True,
    )
    if office.terms.is_live:
        limit = money(office.terms.spend_at_most_cents)
        click.echo(f"the bridge publishes projects, for up to {limit} in all", err=True)
    else:
        click.echo(
            "projects stay unpublished; --live with --spend-at-most publishes them", err=True
        )
