"""The report of a batch: its dataset, with the participants' answers beside it."""

import json
from typing import Any

from offline_markets.prolific.beyond.task_builder import exports, instructions
from offline_markets.prolific.call import Call, Csv


def download(call: Call) -> Csv:
    """Return a row for each task and submission, and for each task without one."""
    exports.check_expiry(call)
    batch = instructions.batch_row(call)
    questions = instructions.questions(batch)
    answers: dict[str, dict[str, dict[str, Any]]] = {}
    people: dict[str, str] = {}
    for row in call.state.rows(exports.ALL, (batch["id"],)):
        of_task = answers.setdefault(row["task_id"], {})
        values = [str(part["value"]) for part in json.loads(row["answer"])]
        of_task.setdefault(row["submission_id"], {})[row["instruction_id"]] = values
        people[row["submission_id"]] = row["participant_id"]
    tasks = call.state.rows(
        "SELECT task.id, content FROM task JOIN datapoint "
        "ON datapoint.id = datapoint_id WHERE batch_id = ? ORDER BY datapoint.number",
        (batch["id"],),
    )
    contents = [json.loads(task["content"]) for task in tasks]
    columns = list(dict.fromkeys(key for content in contents for key in content))
    table = [
        [
            *(content.get(column, "") for column in columns),
            people.get(submission_id, ""),
            submission_id,
            *("; ".join(of_submission.get(question["id"], ())) for question in questions),
        ]
        for task, content in zip(tasks, contents, strict=True)
        for submission_id, of_submission in answers.get(task["id"], {"": {}}).items()
    ]
    asked = [question["description"] for question in questions]
    return Csv.of([*columns, "participant_id", "submission_id", *asked], table)
