"""The part of Connect's API that piecework uses: the resources and their operations.

    with Transport(CONNECT, ApiKey("...")) as transport:
        connect = Connect(transport)
        connect.account.balance()

Every call may raise `Refused` (it had no effect) or `Lost` (it may have had one). Calls
that only read are retried with growing waits; calls that create, pay or write never
are.
"""

from piecework.foundation.client.transport import Transport
from piecework.markets.connect.resources.account import Account
from piecework.markets.connect.resources.assignments import Assignments, Messages
from piecework.markets.connect.resources.projects import Projects


class Connect:
    """All operations, grouped by resource, over one transport."""

    def __init__(self, transport: Transport) -> None:
        self.account = Account(transport)
        self.assignments = Assignments(transport)
        self.messages = Messages(transport)
        self.projects = Projects(transport)
