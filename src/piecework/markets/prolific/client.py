"""The part of Prolific's API that piecework uses: the resources and their operations.

    with Transport(PROLIFIC, token) as transport:
        prolific = Prolific(transport)
        prolific.account.me()

Every call may raise `Refused` (it had no effect) or `Lost` (it may have had one). Calls
that only read are retried with growing waits; calls that create, pay or write never
are.
"""

from piecework.foundation.client.transport import Transport
from piecework.markets.prolific.resources.account import Account, Testing, Webhooks
from piecework.markets.prolific.resources.recruiting import ParticipantGroups, Recruiting
from piecework.markets.prolific.resources.studies import Studies
from piecework.markets.prolific.resources.submissions import Bonuses, Messages, Submissions


class Prolific:
    """All operations, grouped by resource, over one transport."""

    def __init__(self, transport: Transport) -> None:
        self.account = Account(transport)
        self.bonuses = Bonuses(transport)
        self.groups = ParticipantGroups(transport)
        self.messages = Messages(transport)
        self.recruiting = Recruiting(transport)
        self.studies = Studies(transport)
        self.submissions = Submissions(transport)
        self.testing = Testing(transport)
        self.webhooks = Webhooks(transport)
