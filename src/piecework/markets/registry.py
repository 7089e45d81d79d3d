"""The markets, and what piecework knows of each before it needs the market's code.

A market is a folder of this room and its name in `domain.crowds.Market`. The folder's module
`market` has a `MARKET`, which names everything else as places: `module:name`, in the folder. The
command and rehearsals load a place when they need it, and import no market by its name. So
a folder that is broken is named in one sentence, and the other markets work.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from piecework.domain.crowds import MARKETS
from piecework.domain.errors import PieceworkError, load_extra
from piecework.domain.money import Currency


class BrokenMarket(PieceworkError):  # noqa: N818 - the message is about a folder
    """A module of a market's folder cannot be imported, or lacks what it should have."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command that is loaded when a person calls it.

    Attributes:
        name: what a person types.
        place: where it is, in the market's folder.
        summary: the first sentence of its help.
        page: its page of the documentation; "" is that of the group.
        extra: the extra of piecework that it needs, or "".
    """

    name: str
    place: str
    summary: str
    page: str = ""
    extra: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """A market of paid workers.

    Attributes:
        name: how options, campaign files and tables name it; its folder has the same name.
        summary: what its group of commands does, in a sentence.
        help: the rest of the help of that group.
        page: the page of the documentation about it.
        commands: the commands in the group.
        token_variable: the environment variable with an account's token; "" without accounts.
        least_per_hour: by currency, the least cents that it lets an hour of work pay.
        has_bridge: whether a bridge pays there; otherwise people are paid from a list.
        needs: what a rehearsal needs: modules, and the extras that install them.
        files: what a rehearsal keeps in the campaign's folder. The first is there if and only if
            people of this market worked.
        options: the options of `serve` about this market alone, a tuple of `click.Option`.
        opened: `open_crowd(marketplace, crowd options, values of the market's own options by
            name, consent)`, a context manager that returns a `cli.serve_markets.OpenedCrowd`.
        offline: `offline_market(campaign)`, a context manager that returns an `OfflineMarket`
            (`simulation.rehearsals.outside`).
        rehearsed_crowd: `rehearsed_crowd(address, prices)`, a context manager that returns the
            marketplace's view of the people of an `OfflineMarket`.
        estimate: `estimate(campaign, asks)` returns what a campaign is at the market: plain values
            for `--json` if the market was asked, and lines for people; or None. "" if
            the market is not asked.
    """

    name: str
    summary: str
    help: str
    page: str
    commands: tuple[Command, ...]
    token_variable: str = ""
    least_per_hour: tuple[tuple[Currency, int], ...] = ()
    has_bridge: bool = True
    needs: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...]
    options: str = "commands.serve:OPTIONS"
    opened: str = "commands.serve:open_crowd"
    offline: str = "rehearsal.offline:offline_market"
    rehearsed_crowd: str = "bridge.serving:rehearsed_crowd"
    estimate: str = ""

    def load_needs(self) -> None:
        """Import what a rehearsal with its people needs.

        Raises:
            ConfigError: an extra is not installed.
        """
        for module, extra in self.needs:
            load_extra(module, extra=extra, use=f"--crowd {self.name}")

    def load(self, place: str) -> Any:  # noqa: ANN401 - what stands there
        """Return what stands at a place of the folder.

        Raises:
            BrokenMarket: it cannot be imported.
        """
        return _loaded(self.name, place)


def market(name: str) -> Market:
    """Return a market.

    Raises:
        BrokenMarket: its description cannot be imported.
    """
    described: Market = _loaded(name, "market:MARKET")
    return described


def markets() -> Iterator[Market]:
    """Yield the markets whose descriptions can be imported, in the order of `MARKETS`."""
    for name in MARKETS:
        try:
            yield market(name)
        except BrokenMarket:
            continue


def loaded(part: str, *, say: Callable[[str], object]) -> dict[str, Any]:
    """Return a part of each market that has it, by the market's name.

    Args:
        part: the attribute of `Market` with the place.
        say: called with a sentence for each market that is broken.
    """
    parts: dict[str, Any] = {}
    for name in MARKETS:
        try:
            place = getattr(market(name), part)
            if place:
                parts[name] = _loaded(name, place)
        except BrokenMarket as fault:
            say(str(fault))
    return parts


def _loaded(name: str, place: str) -> Any:  # noqa: ANN401 - what stands there
    module, _, attribute = place.partition(":")
    path = f"{__package__}.{name}.{module}"
    try:
        return getattr(import_module(path), attribute)
    except Exception as fault:
        # Whatever a module raises while it is imported: its syntax, a name, a file.
        raise BrokenMarket(
            f"the market {name} cannot be used: {path}: {type(fault).__name__}: {fault}",
            next_step="install piecework again, or correct the module; other markets work",
        ) from fault
