"""Start and stop an emulator, inside a program or as a process."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from piecework.domain.clock import SystemClock
from piecework.rehearsal.offline.serving import Listening, end_by_signals, opened_port
from piecework.rehearsal.prolific.app import Emulator
from piecework.rehearsal.prolific.options import Options
from piecework.rehearsal.prolific.participants import draw
from piecework.rehearsal.prolific.state import State
from piecework.rehearsal.prolific.workspaces import make_account
from piecework.webserver.stand_in.authority import establish
from piecework.webserver.stand_in.relay import relaying
from piecework.webserver.stand_in.settings import RunningStandIn

HOSTS = ("api.prolific.com", "api.prolific.co")
"""The hosts that programs for Prolific have built in; the second one is older."""


@contextlib.contextmanager
def serve(options: Options) -> Iterator[str]:
    """Run an emulator in a thread for as long as the block lasts; yield its URL."""
    with _prepared(options) as listening, listening.in_thread() as url:
        yield url


def serve_forever(
    options: Options,
    say: Callable[[str, RunningStandIn | None], None],
    *,
    authority_folder: Path | None = None,
) -> None:
    """Run an emulator until the process is stopped.

    Args:
        options: its options.
        say: called with its URL and its proxy, once it can be reached.
        authority_folder: keeps the certificates to answer as Prolific's hosts; `None`
            runs no proxy.
    """
    with _prepared(options) as listening, contextlib.ExitStack() as stack:
        stand_in = None
        if authority_folder is not None:
            stand_in = stack.enter_context(standing_in(listening.url, authority_folder))
        end_by_signals()
        say(listening.url, stand_in)
        listening.forever()


@contextlib.contextmanager
def standing_in(url: str, folder: Path) -> Iterator[RunningStandIn]:
    """Let an emulator that runs answer as Prolific's hosts, too.

    Args:
        url: of the emulator.
        folder: keeps the certificates.
    """
    settings = establish(folder, HOSTS, now=SystemClock().now())
    with relaying(settings, urlsplit(url).port or 0) as running:
        yield running


@contextlib.contextmanager
def _prepared(options: Options) -> Iterator[Listening]:
    with (
        opened_port(options.host, options.port) as port,
        contextlib.closing(State(options, SystemClock())) as state,
    ):
        with state.transaction():
            make_account(state, options.balance)
            draw(state, options.participants)
        yield Listening(Emulator(state).app(), port, options.host)
