"""Run a rehearsal's marketplace, with workers from an offline Prolific, as a process.

The marketplace must not import modules about Prolific, so the program that combines
both is here: `python -m piecework.prolific.bridge.marketplace_process --prolific-url
URL`, with all options of `python -m piecework.marketplace`. The rehearsal starts it
with `serve_apart` and runs the bridge itself.
"""

from contextlib import ExitStack

from piecework.marketplace.http.command_line import parser, serve_parent
from piecework.marketplace.http.server import Marketplace
from piecework.prolific.bridge.admission import NO_LIMITS
from piecework.prolific.bridge.serving import crowd_at
from piecework.prolific.token import Token

ANY_TOKEN = Token("rehearsal")
"""An emulator accepts any token."""

_MODULE = "piecework.prolific.bridge.marketplace_process"


def program(url: str) -> tuple[str, ...]:
    """Return the program for `serve_apart`, for the offline Prolific at a URL."""
    return (_MODULE, "--prolific-url", url)


def main() -> None:
    """Read the command line and serve until the parent ends."""
    command = parser(_MODULE)
    command.add_argument(
        "--prolific-url", required=True, help="the URL of the emulator"
    )
    options = vars(command.parse_args())
    url = options.pop("prolific_url")
    if not options.pop("attached") or not options["rehearsal"]:
        command.error(
            "this program only serves a rehearsal, for the process that started it"
        )
    with ExitStack() as stack:
        crowd = stack.enter_context(crowd_at(url, ANY_TOKEN, limits=NO_LIMITS))
        serve_parent(Marketplace(**options, crowd=crowd))


if __name__ == "__main__":
    main()
