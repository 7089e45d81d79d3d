"""Run a rehearsal's marketplace, with workers from an offline Connect, as a process.

The program is `python -m piecework.connect.bridge.marketplace_process --connect-url
URL`, with all options of `python -m piecework.marketplace`. The rehearsal starts it
with `serve_apart` and runs the bridge itself.
"""

from piecework.connect.bridge.serving import crowd_at
from piecework.connect.token import ApiKey
from piecework.marketplace.http.command_line import parser, serve_parent
from piecework.marketplace.http.faults import Bucket
from piecework.marketplace.http.server import Marketplace

EMULATOR_KEY = ApiKey("offline-connect")
"""The key that an emulator accepts by default."""

_MODULE = "piecework.connect.bridge.marketplace_process"
_NO_LIMIT = 1e9


def program(url: str) -> tuple[str, ...]:
    """Return the program for `serve_apart`, for the offline Connect at a URL."""
    return (_MODULE, "--connect-url", url)


def main() -> None:
    """Read the command line and serve until the parent ends."""
    command = parser(_MODULE)
    command.add_argument("--connect-url", required=True, help="the URL of the emulator")
    options = vars(command.parse_args())
    url = options.pop("connect_url")
    if not options.pop("attached") or not options["rehearsal"]:
        command.error(
            "this program only serves a rehearsal, for the process that started it"
        )
    with crowd_at(url, EMULATOR_KEY, calls=Bucket(_NO_LIMIT)) as crowd:
        serve_parent(Marketplace(**options, crowd=crowd))


if __name__ == "__main__":
    main()
