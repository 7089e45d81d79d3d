"""Start and stop an emulator, inside a program or as a process."""

import contextlib
from collections.abc import Callable, Iterator

from offline_markets.core.serving import Listening, end_by_signals, opened_port
from offline_markets.prolific.app import Emulator
from offline_markets.prolific.options import Options
from offline_markets.prolific.participants import draw
from offline_markets.prolific.state import State
from offline_markets.prolific.workspaces import make_account


@contextlib.contextmanager
def serve(options: Options) -> Iterator[str]:
    """Run an emulator in a thread for as long as the block lasts; yield its URL."""
    with _prepared(options) as listening, listening.in_thread() as url:
        yield url


def serve_forever(options: Options, say: Callable[[str], None]) -> None:
    """Run an emulator until the process is stopped.

    Args:
        options: its options.
        say: called with its URL, once it can be reached.
    """
    with _prepared(options) as listening:
        end_by_signals()
        say(listening.url)
        listening.forever()


@contextlib.contextmanager
def _prepared(options: Options) -> Iterator[Listening]:
    with (
        opened_port(options.host, options.port) as port,
        contextlib.closing(State(options)) as state,
    ):
        with state.transaction():
            make_account(state, options.balance)
            draw(state, options.participants)
        yield Listening(Emulator(state).app(), port, options.host)
