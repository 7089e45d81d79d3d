"""Lets Mephisto's own classes for MTurk do what each line of input says.

Mephisto takes the endpoint from AWS_ENDPOINT_URL_MTURK, since its requester names none.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from line_by_line import serve
from mephisto.abstractions.databases.local_database import LocalMephistoDB
from mephisto.abstractions.providers.mturk import mturk_utils
from mephisto.abstractions.providers.mturk.mturk_requester import MTurkRequester
from mephisto.abstractions.providers.mturk.mturk_worker import MTurkWorker
from omegaconf import OmegaConf

NAME = "birds"
DB = LocalMephistoDB(str(Path("mephisto.db").resolve()))
REQUESTER = MTurkRequester.new(DB, NAME)
REQUESTER.register(
    OmegaConf.create(
        {
            "access_key_id": os.environ["PIECEWORK_KEY"],
            "secret_access_key": os.environ.get("PIECEWORK_SECRET", "unused"),
        }
    )
)
WORKERS: dict[str, Any] = {}


def worker(worker_id: str) -> Any:  # noqa: ANN401 - its package has no types
    """Mephisto's record of a worker."""
    if worker_id not in WORKERS:
        WORKERS[worker_id] = MTurkWorker.new(DB, worker_id)
    return WORKERS[worker_id]


def answer(call: str, arguments: dict[str, Any]) -> object:
    """A method of the requester, of a worker, or a function of mturk_utils."""
    subject, _, name = call.rpartition(".")
    if subject == "requester":
        return getattr(REQUESTER, name)(**arguments)
    if subject == "worker":
        person = worker(arguments.pop("worker_id"))
        if arguments.pop("for_requester", False):
            arguments["requester"] = REQUESTER
        return getattr(person, name)(**arguments)
    if "task_args" in arguments:
        arguments["task_args"] = OmegaConf.create(arguments["task_args"])
    client = REQUESTER._get_client(NAME)
    return getattr(mturk_utils, name)(client, **arguments)


serve(answer)
