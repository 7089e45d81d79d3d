"""A process that makes steps of the bridge to Connect and is killed at a chosen call.

python -m tests.markets.connect.killed FILE, whose JSON says where everything is.
"""

import json
import os
import signal
import sys
from contextlib import closing
from datetime import datetime
from pathlib import Path

from offline_markets.connect.options import KEY
from piecework.foundation.client.calls import Request
from piecework.foundation.client.transport import Answer, Transport
from piecework.marketplace.state.backend import Backend, Rules
from piecework.markets.bridging.accounts import only_bridge
from piecework.markets.connect.bridge.bridge import LEAST_PER_HOUR_CENTS, Bridge, Terms
from piecework.markets.connect.bridge.serving import step
from piecework.markets.connect.bridge.status import price_list
from piecework.markets.connect.client import Connect
from piecework.markets.connect.values import ApiKey
from tests.markets.connect.disturbed import MOST_STEPS, call_name


class _Deadly(Transport):
    """Kills its process before or after the first call of a name."""

    name, moment = "", ""

    def _once(self, request: Request) -> Answer:
        is_meant = call_name(request) == self.name
        if is_meant and self.moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = super()._once(request)
        if is_meant:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer


def main() -> None:
    """Settle, or die."""
    settings = json.loads(Path(sys.argv[1]).read_text())
    database = Path(settings["database"])
    with only_bridge(database, "Connect"), _Deadly(settings["url"], ApiKey(KEY)) as wire:
        connect = Connect(wire)
        prices = price_list(connect, least_per_hour_cents=LEAST_PER_HOUR_CENTS)
        start = datetime.fromisoformat(settings["start"])
        rules = Rules(rehearsal=True, seed=7, start=start, prices=prices)
        wire.name, wire.moment = settings["name"], settings["moment"]
        with closing(Backend(database, rules)) as backend:
            bridge = Bridge(backend, connect, Terms(**settings["terms"]))
            for _ in range(MOST_STEPS):
                if not step(bridge) and not bridge.faults:
                    break


if __name__ == "__main__":
    main()
