"""Has Mephisto itself keep what two workers sent, and prints what its browser gives.

The workers are of its mock provider; its database, its agents' states and its data
browser are those of a real run.
"""

import json
import sys
from pathlib import Path
from typing import Any

from mephisto.abstractions.blueprints.remote_procedure import (
    remote_procedure_blueprint as _remote,  # noqa: F401 - is registered by this
)
from mephisto.abstractions.blueprints.static_html_task import (
    static_html_blueprint as _static,  # noqa: F401 - is registered by this
)
from mephisto.abstractions.databases.local_database import LocalMephistoDB
from mephisto.abstractions.providers.mock.mock_agent import MockAgent
from mephisto.abstractions.providers.mock.mock_provider import (
    MockProvider as _Provider,  # noqa: F401 - is registered by this
)
from mephisto.data_model.assignment import Assignment, InitializationData
from mephisto.data_model.unit import Unit
from mephisto.data_model.worker import Worker
from mephisto.tools.data_browser import DataBrowser
from mephisto.utils.testing import get_mock_requester

DB = LocalMephistoDB(str(Path("results.db").resolve()))
REQUESTER = get_mock_requester(DB).db_id
TEXTS = ("Rain", 'A dog\nbarks "loudly"')


def work(blueprint: str) -> list[dict[str, Any]]:
    """Two workers do two assignments each; the second rejects the last."""
    task = DB.new_task(f"weather {blueprint}", blueprint)
    args = {"blueprint": {"_blueprint_type": blueprint}, "provider": {"_provider_type": "mock"}}
    run = DB.new_task_run(task, REQUESTER, json.dumps(args), "mock", blueprint)
    workers = [DB.new_worker(f"{name}_{blueprint}", "mock") for name in ("ann", "bob")]
    for text in TEXTS:
        made = DB.new_assignment(task, run, REQUESTER, blueprint, "mock")
        shown = {"text": text}
        Assignment.get(DB, made).write_assignment_data(
            InitializationData(shared=shown, unit_data=[{}, {}])
        )
        for place, worker in enumerate(workers):
            unit = Unit.get(
                DB, DB.new_unit(*(task, run, REQUESTER, made, place, 0.2, "mock", blueprint))
            )
            unit.set_db_status("launched")
            agent = MockAgent.new(DB, Worker.get(DB, worker), unit)
            agent.state.set_init_state(dict(shown))
            agent.handle_submit({"stance": "yes", "tags": ["a", "b"], "sure": place})
            agent.update_status("completed")
            if text == TEXTS[0]:
                agent.approve_work()
            elif place:
                agent.reject_work("too short")
    browser = DataBrowser(DB)
    units = browser.get_units_for_task_name(f"weather {blueprint}")
    return [browser.get_data_from_unit(unit) for unit in units]


json.dump(work(sys.argv[1]), sys.stdout)
