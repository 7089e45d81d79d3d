"""Run a rehearsal's marketplace, with people of a panel, as a process.

The marketplace must not import modules about panels, so the program that combines both
is here: `python -m piecework.panel.marketplace_process --panel FILE`, with all options
of `python -m piecework.marketplace`. The rehearsal starts it with `serve_apart`.
"""

import os
import tomllib
from pathlib import Path

from piecework.marketplace.http.command_line import parser, serve_parent
from piecework.marketplace.http.server import Marketplace
from piecework.panel.panel_crowd import PanelCrowd
from piecework.panel.panel_file import Panel
from piecework.panel.secrets import Secrets

_MODULE = "piecework.panel.marketplace_process"


def program(file: Path) -> tuple[str, ...]:
    """Return the program for `serve_apart`, for a panel file without faults."""
    return (_MODULE, "--panel", str(file.resolve()))


def main() -> None:
    """Read the command line and serve until the parent ends."""
    command = parser(_MODULE)
    command.add_argument("--panel", type=Path, required=True, help="the panel file")
    options = vars(command.parse_args())
    file = options.pop("panel")
    if not options.pop("attached") or not options["rehearsal"]:
        command.error(
            "this program only serves a rehearsal, for the process that started it"
        )
    text = file.read_text(encoding="utf-8")
    panel = Panel.model_validate(tomllib.loads(text)).beside(file)
    secrets = Secrets.read(panel, os.environ)
    crowd = PanelCrowd(panel, secrets, options["prices"])
    serve_parent(Marketplace(**options, crowd=crowd))


if __name__ == "__main__":
    main()
