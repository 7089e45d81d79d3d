"""A server in place of Prolific or Connect, and piecework's client of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from piecework.foundation.client.transport import Patience, Transport
from piecework.markets.prolific.calling import Token
from piecework.markets.prolific.client import Prolific
from tests.answering import Calls, answering

SECRET = "sEcReT-token-0123456789"  # noqa: S105 - opens nothing


@dataclass
class Stub(Calls):
    """A server, and clients of it.

    Attributes:
        waits: seconds that clients of it would have slept.
    """

    waits: list[float] = field(default_factory=list)
    opened: list[Transport] = field(default_factory=list)

    def transport(self, patience: Patience | None = None) -> Transport:
        """A connection to it, whose waits are written down and not waited."""
        transport = Transport(
            self.address,
            Token(SECRET),
            patience=patience,
            sleep=self.waits.append,
            timeout_seconds=60,
        )
        self.opened.append(transport)
        return transport

    def client(self) -> Prolific:
        """All operations, on a connection of its own."""
        return Prolific(self.transport())


@contextmanager
def serving() -> Iterator[Stub]:
    """A stub on a free port of this machine."""
    stub = Stub()
    with answering(stub):
        try:
            yield stub
        finally:
            for transport in stub.opened:
                transport.close()
