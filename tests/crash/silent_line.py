"""A pass whose line to PostgreSQL goes silent: run in a network of its own.

`unshare --net python -m tests.crash.silent_line FOLDER`. The database is at 127.0.0.2,
and a route to nowhere swallows what is sent there: no reply, no RST. It prints what the
pass said and how long it took.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import httpx

from piecework.config.campaign_file import parse
from tests.crash.campaign import MOST_PASSES, check_store
from tests.crash.disturbed import Call, Ended, pass_apart
from tests.crash.faults import FAILED, Fault
from tests.crash.people import WITH_A_HALF, People
from tests.crash.world import World
from tests.postgres_server import installed_initdb, running_postgres
from tests.small_campaign import CAMPAIGN, write_campaign
from tests.stores import stored_in

_NOWHERE = ("blackhole", "127.0.0.2/32", "table", "local")
# The pass has its intent stored, and cannot store what becomes of it.
_CALL = Call("CreateHITWithHITType", 1)
_FAULT = Fault(name="silence", kind="world", world="silence", ends=FAILED)


def _route(verb: str) -> None:
    subprocess.run(["ip", "route", verb, *_NOWHERE], check=True)


class _World(World):
    """Has one more thing that can happen."""

    def strike(self, name: str) -> None:
        assert name == _FAULT.world
        _route("add")


def _to_the_end(world: World, people: People) -> int:
    """Make passes; return how often one was told that the silent one still works."""
    busy = 0
    for _ in range(10 * MOST_PASSES):
        end = pass_apart(world)
        if end.code != 0:
            assert "is working on this campaign" in end.complained, end
            busy += 1
        elif end.output.strip() == "nobody":
            return busy
        else:
            people.work()
    raise AssertionError("the database never noticed")


def main(folder: Path) -> tuple[Ended, float, int]:
    """Let the line go silent while a pass waits for the marketplace.

    Returns:
        How that pass ended, in how many seconds, and how often the next was refused.
    """
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    initdb = installed_initdb()
    assert initdb is not None
    world = _World(folder)
    with (
        running_postgres(initdb, addresses="127.0.0.1,127.0.0.2") as url,
        world.marketplace(apart=False),
    ):
        far = url.replace("127.0.0.1", "127.0.0.2")
        campaign = write_campaign(folder, stored_in(CAMPAIGN, folder, far))
        began = time.monotonic()
        silent = pass_apart(world, _FAULT, _CALL)
        seconds = time.monotonic() - began
        _route("del")
        busy = _to_the_end(world, People(world.endpoint, script=WITH_A_HALF))
        books = httpx.get(f"{world.endpoint}/rehearsal/books").json()
        check_store(books, parse(campaign).store)
    return silent, seconds, busy


if __name__ == "__main__":
    ended, waited, refused = main(Path(sys.argv[1]))
    words = {"code": ended.code, "silent": ended.complained}
    print(json.dumps({**words, "seconds": waited, "busy": refused}))  # noqa: T201
