"""Run a rehearsal's marketplace, with people from outside markets, as a process.

The marketplace must not import modules about outside markets, so the program that
combines them is here: `python -m piecework.simulation.rehearsals.marketplace_process`, with all
options of `python -m piecework.marketplace`, and one for each market. A rehearsal
starts it with `serve_apart` and runs the bridges itself.
"""

import os
import tomllib
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from piecework.marketplace.http.command_line import parser, serve_parent
from piecework.marketplace.http.server import Marketplace
from piecework.markets.bridging.admission import NO_LIMITS

if TYPE_CHECKING:
    from piecework.marketplace.state.money import PriceList
    from piecework.marketplace.state.outside_crowd import OutsideCrowd

PROLIFIC_TOKEN = "rehearsal"  # noqa: S105 - an emulator accepts any token
CONNECT_KEY = "offline-connect"
"""The key that an offline Connect accepts by default."""

_MODULE = "piecework.simulation.rehearsals.marketplace_process"


def program(
    *, prolific_url: str = "", connect_url: str = "", panel: Path | None = None
) -> tuple[str, ...]:
    """Return the program for `serve_apart`.

    Args:
        prolific_url: the URL of the offline Prolific; "" serves none of its people.
        connect_url: the URL of the offline Connect; likewise.
        panel: a panel file without faults; None serves no panel.
    """
    options = {
        "--prolific-url": prolific_url,
        "--connect-url": connect_url,
        "--panel": str(panel.resolve()) if panel else "",
    }
    stated = [pair for pair in options.items() if pair[1]]
    return (_MODULE, *(word for pair in stated for word in pair))


def main() -> None:
    """Read the command line and serve until the parent ends."""
    command = parser(_MODULE)
    command.add_argument("--prolific-url", help="the URL of an offline Prolific")
    command.add_argument("--connect-url", help="the URL of an offline Connect")
    command.add_argument("--panel", type=Path, help="the panel file")
    options = vars(command.parse_args())
    prolific_url, connect_url, panel = (
        options.pop(name) for name in ("prolific_url", "connect_url", "panel")
    )
    if not options.pop("attached") or not options["rehearsal"]:
        command.error("this program only serves a rehearsal, for the process that started it")
    with ExitStack() as stack:
        crowds: list[OutsideCrowd] = []
        if prolific_url:
            crowds.append(_prolific(stack, prolific_url))
        if connect_url:
            crowds.append(_connect(stack, connect_url))
        if panel:
            crowds.append(_panel(panel, options["prices"]))
        serve_parent(Marketplace(**options, crowds=tuple(crowds)))


def _prolific(stack: ExitStack, url: str) -> "OutsideCrowd":
    from piecework.markets.prolific.bridge.serving import crowd_at
    from piecework.markets.prolific.calling import Token

    return stack.enter_context(crowd_at(url, Token(PROLIFIC_TOKEN), limits=NO_LIMITS))


def _connect(stack: ExitStack, url: str) -> "OutsideCrowd":
    from piecework.markets.connect.bridge.serving import crowd_at
    from piecework.markets.connect.values import ApiKey

    key = ApiKey(CONNECT_KEY)
    return stack.enter_context(crowd_at(url, key, limits=NO_LIMITS))


def _panel(file: Path, prices: "PriceList") -> "OutsideCrowd":
    from piecework.markets.panel.panel_crowd import PanelCrowd
    from piecework.markets.panel.panel_file import Panel
    from piecework.markets.panel.secrets import Secrets

    text = file.read_text(encoding="utf-8")
    panel = Panel.model_validate(tomllib.loads(text)).beside(file)
    return PanelCrowd(panel, Secrets.read(panel, os.environ), prices)


if __name__ == "__main__":
    main()
