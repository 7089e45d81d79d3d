"""Where people go afterwards, filled in for one participation."""

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Literal

from piecework.marketplace.state.outside_crowd import WayBack
from piecework.markets.panel.arrivals import Ids
from piecework.markets.panel.panel_file import Panel
from piecework.markets.panel.placeholders import filled, filled_address
from piecework.markets.panel.secrets import Secrets

Ending = Literal["complete", "screened_out", "quota_full", "refused"]

_DIGITS = 10


@dataclass(frozen=True, slots=True)
class WaysOut:
    """The exits of one panel.

    Args:
        panel: the panel file.
        secrets: its secrets.
        key: the marketplace's own key, from which {code} is made.
    """

    panel: Panel
    secrets: Secrets = field(repr=False)
    key: bytes = field(repr=False)

    def way_out(self, ids: Ids, ending: Ending) -> WayBack:
        """Return the exit of a participation that ended like this."""
        address = getattr(self.panel.exits, ending)
        code = self.panel.exits.code if ending == "complete" else ""
        values = self.values(ids)
        return WayBack(
            url=filled_address(address, values) if address else "", code=filled(code, values)
        )

    def values(self, ids: Ids) -> dict[str, str]:
        """Return what placeholders stand for: ids, {code} and {sha256}.

        {code} cannot be guessed from ids, and is the same each time.
        """
        text = "\n".join([self.panel.name, *ids.values().values()])
        digest = hmac.new(self.key, text.encode(), hashlib.sha256).hexdigest()
        hashed = ""
        if self.panel.exits.sha256_of:
            whole = filled(
                self.panel.exits.sha256_of, {**ids.values(), "secret": self.secrets.code}
            )
            hashed = hashlib.sha256(whole.encode()).hexdigest()
        return {**ids.values(), "code": digest[:_DIGITS].upper(), "sha256": hashed}
