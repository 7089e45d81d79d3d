"""Run a rehearsal's marketplace, with people from outside markets, as a process.

The marketplace must not import modules about outside markets, so the program that
combines them is here: `python -m piecework.simulation.rehearsals.marketplace_process`, with all
options of `python -m piecework.marketplace`, and `--market NAME=ADDRESS` for each market. A
rehearsal starts it with `serve_apart` and runs the bridges itself.
"""

from collections.abc import Mapping
from contextlib import ExitStack

from piecework.marketplace.http.server import Marketplace, command_line_parser, serve_parent
from piecework.markets import registry

_MODULE = "piecework.simulation.rehearsals.marketplace_process"


def program(addresses: Mapping[str, str]) -> tuple[str, ...]:
    """Return the program for `serve_apart`.

    Args:
        addresses: where each offline market is (`OfflineMarket.address`), by its name.

    >>> program({"panel": "/tmp/panel.toml"})[1:]
    ('--market', 'panel=/tmp/panel.toml')
    """
    stated = (("--market", f"{name}={address}") for name, address in addresses.items())
    return (_MODULE, *(word for pair in stated for word in pair))


def main() -> None:
    """Read the command line and serve until the parent ends."""
    command = command_line_parser(_MODULE)
    command.add_argument(
        "--market", action="append", metavar="NAME=ADDRESS", help="a market, and where it is"
    )
    options = vars(command.parse_args())
    stated = options.pop("market") or ()
    if not options.pop("attached") or not options["rehearsal"]:
        command.error("this program only serves a rehearsal, for the process that started it")
    with ExitStack() as stack:
        crowds = []
        for text in stated:
            name, _, address = text.partition("=")
            market = registry.market(name)
            crowd_of = market.load(market.rehearsed_crowd)(address, options["prices"])
            crowds.append(stack.enter_context(crowd_of))
        serve_parent(Marketplace(**options, crowds=tuple(crowds)))


if __name__ == "__main__":
    main()
