"""A rehearsal's marketplace whose workers come from an offline Prolific, as a process.

The marketplace may not import what knows Prolific, so the program that puts both
together lies here: `python -m prolific.bridge.marketplace_process --prolific-url URL`,
with all options of `python -m marketplace`. The one that rehearses starts it by
`serve_apart`, and works the bridge itself.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from marketplace.http.command_line import parser, serve_parent
from marketplace.http.server import Marketplace
from prolific.bridge.crowd import ProlificCrowd
from prolific.bridge.prices import price_list
from prolific.client import Prolific
from prolific.http.token import Token
from prolific.http.transport import Patience, Transport

_MODULE = "prolific.bridge.marketplace_process"
_LOOKED_UP_AT_ONCE = 2


def program(url: str, currency: str) -> tuple[str, ...]:
    """What `serve_apart` starts, for the offline Prolific at a URL."""
    return (_MODULE, "--prolific-url", url, "--currency", currency)


@contextmanager
def offline_client(url: str) -> Iterator[Prolific]:
    """A client of an offline Prolific, which takes any token and is never busy."""
    with Transport(url, Token("rehearsal"), patience=Patience(tries=2)) as transport:
        yield Prolific(transport)


def main() -> None:
    """Read the command line and serve until the parent ends."""
    command = parser(_MODULE)
    command.add_argument("--prolific-url", required=True, help="of an emulator")
    command.add_argument("--currency", required=True, help="of the workspace")
    options = vars(command.parse_args())
    url, currency = options.pop("prolific_url"), options.pop("currency")
    if not options.pop("attached") or not options["rehearsal"]:
        command.error("only a rehearsal is served so, for the process that started it")
    with ExitStack() as stack:
        clients = [
            stack.enter_context(offline_client(url)) for _ in range(_LOOKED_UP_AT_ONCE)
        ]
        serve_parent(
            Marketplace(
                **options,
                crowd=ProlificCrowd(clients, f"{url}/submissions/complete"),
                prices=price_list(clients[0], currency),
            )
        )


if __name__ == "__main__":
    main()
