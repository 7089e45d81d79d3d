"""A process that makes steps of the bridge and is killed at a chosen call.

python -m tests.markets.prolific.bridge.killed FILE, whose JSON says where everything is.
"""

import json
import os
import signal
import sys
from datetime import datetime
from pathlib import Path

from piecework.foundation.client.calls import Request
from piecework.foundation.client.transport import Answer, Patience, Transport
from piecework.marketplace.state.backend import Backend, Rules
from piecework.markets.bridging.accounts import only_bridge
from piecework.markets.prolific.bridge.bridge import Bridge, Terms
from piecework.markets.prolific.bridge.serving import step
from piecework.markets.prolific.bridge.status import price_list
from piecework.markets.prolific.calling import Token
from piecework.markets.prolific.client import Prolific
from tests.markets.prolific.bridge.calls import call_name

MOST_STEPS = 20


class _Deadly(Transport):
    """Kills its process before or after the first call of a name."""

    name, moment = "", ""

    def _once(self, request: Request) -> Answer:
        is_meant = call_name(request) == self.name
        if is_meant and self.moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        document = super()._once(request)
        if is_meant:
            os.kill(os.getpid(), signal.SIGKILL)
        return document


def main() -> None:
    """Settle, or die."""
    settings = json.loads(Path(sys.argv[1]).read_text())
    database = Path(settings["database"])
    token, patience = Token("rehearsal-token"), Patience(tries=2)
    with (
        only_bridge(database, "Prolific"),
        _Deadly(settings["url"], token, patience=patience) as wire,
    ):
        prolific = Prolific(wire)
        prices = price_list(prolific, "GBP")
        start = datetime.fromisoformat(settings["start"])
        rules = Rules(rehearsal=True, seed=7, start=start, prices=prices)
        backend = Backend(database, rules)
        wire.name, wire.moment = settings["name"], settings["moment"]
        bridge = Bridge(backend, prolific, Terms(**settings["terms"]))
        for _ in range(MOST_STEPS):
            if not step(bridge) and not bridge.faults:
                break
        backend.close()


if __name__ == "__main__":
    main()
