"""Start and stop an emulator, inside a program or as a process."""

import contextlib
from collections.abc import Callable, Iterator

from offline_markets.connect.account import draw
from offline_markets.connect.app import Emulator
from offline_markets.connect.money import open_account
from offline_markets.connect.offline_connect import OfflineConnect
from offline_markets.connect.options import Options
from offline_markets.connect.state import State
from offline_markets.core.serving import Listening, end_by_signals, opened_port


@contextlib.contextmanager
def serving(options: Options | None = None) -> Iterator[OfflineConnect]:
    """Run an emulator in a thread for as long as the block lasts; yield its controls.

    Without options it has 10,000.00 dollars, no participants, and a clock that stands.
    """
    options = options or Options()
    with (
        _prepared(options) as listening,
        listening.in_thread() as address,
        OfflineConnect(address, options.key) as offline,
    ):
        yield offline


def serve_forever(options: Options, say: Callable[[str], None]) -> None:
    """Run an emulator until the process is stopped.

    Args:
        options: its options.
        say: called with its address, once it can be reached.
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
            open_account(state, options.balance)
            draw(state, options.participants)
        yield Listening(Emulator(state, options.key).app(), port, options.host)
