"""The command `run --once`, each time a new process, until something stops it."""

import json
import os
from pathlib import Path

from piecework.cli.main import main
from tests.crash.apart import apart
from tests.crash.campaign import MOST_PASSES
from tests.crash.disturbed import Ended, ended, run_in_files
from tests.crash.people import People
from tests.crash.world import World

KEYS = {"AWS_ACCESS_KEY_ID": "A-REQUESTER", "AWS_SECRET_ACCESS_KEY": "any"}


def passes(world: World, people: People) -> Ended:
    """Advance until a pass fails or the campaign is finished; return the last end."""
    for _ in range(MOST_PASSES):
        end = advance_apart(world)
        if end.code != 0 or json.loads(end.output)["is_finished"]:
            return end
        people.work()
    raise AssertionError(f"{MOST_PASSES} passes were not enough")


def advance_apart(world: World) -> Ended:
    """Make a pass over the campaign of this folder."""
    arguments = (world.folder, _advance, (world.endpoint,))
    process = apart().Process(target=run_in_files, args=arguments)
    process.start()
    return ended(process, world.folder)


def _advance(folder: Path, endpoint: str) -> None:
    os.environ.update(KEYS)
    words = ["run", "--once", str(folder / "crash.toml"), "--endpoint", endpoint, "--json"]
    # Without this, the marketplace is asked for news at most once a minute.
    main([*words, "--poll-open-hits"])
