"""The account's balance, and which participants exist."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from piecework.foundation.client.calls import Request, Value, get_request, value_of
from piecework.foundation.client.transport import Transport
from piecework.markets.connect.resources.projects import new_token
from piecework.markets.connect.values import Cents


class Balance(Value):
    """What the account can still spend, in cents."""

    available_cents: Cents = Field(alias="accountBalance")


class Account:
    """Operations on the account."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def balance(self) -> Balance:
        """Return the balance."""
        request = get_request("account")
        return value_of(Balance, self._call(request), request)

    def valid_participants(self, participant_ids: Sequence[str]) -> Mapping[str, bool]:
        """Return which of these participants exist, as far as the answer says so.

        The shape of the answer was not read (`guesses`), so an id about which it says
        nothing is left out.
        """
        request = Request(
            method="POST",
            path="account/validate-participants",
            body={"participantIds": list(participant_ids)},
            headers=new_token(),
        )
        document = self._call(request)
        rows = document.get("participants") if isinstance(document, Mapping) else None
        return {
            str(row["participantId"]): row["isValid"]
            for row in (rows if isinstance(rows, list) else ())
            if isinstance(row, Mapping)
            and isinstance(row.get("isValid"), bool)
            and "participantId" in row
        }
