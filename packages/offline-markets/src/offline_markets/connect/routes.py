"""All operations: Connect's, by names of our own, and the emulator's controls."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from offline_markets.connect import account, assignments, books, projects, taking
from offline_markets.connect.call import Call


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the API or of the controls.

    Attributes:
        name: what a script of faults calls it.
        method: the HTTP method.
        path: the path, after the prefix for the API's own.
        handler: performs it in a transaction and returns the JSON answer; None is an
            empty answer.
    """

    name: str
    method: str
    path: str
    handler: Callable[[Call], Any]


PREFIX = "/api/v1"

OPERATIONS = (
    Operation("get-account", "GET", "/account", account.get),
    Operation(
        "validate-participants",
        "POST",
        "/account/validate-participants",
        account.validate_participants,
    ),
    Operation("create-project", "POST", "/project", projects.create),
    Operation("list-projects", "GET", "/project", projects.list_projects),
    Operation("get-project", "GET", "/project/{project_id}", projects.get),
    Operation("edit-project", "POST", "/project/{project_id}", projects.edit),
    Operation(
        "update-status", "POST", "/project/{project_id}/update-status", projects.update_status
    ),
    Operation("get-statistics", "GET", "/project/{project_id}/statistics", projects.statistics),
    Operation("list-assignments", "GET", "/assignments/{project_id}", assignments.list_assignments),
    Operation("approve", "POST", "/assignments/{project_id}/approve", assignments.approve),
    Operation(
        "approve-all", "POST", "/assignments/{project_id}/approve-all", assignments.approve_all
    ),
    Operation("reject", "POST", "/assignments/{project_id}/reject", assignments.reject),
    Operation(
        "reverse-reject",
        "POST",
        "/assignments/{project_id}/reverse-reject",
        assignments.reverse_reject,
    ),
    Operation("bonus", "POST", "/assignments/{project_id}/bonus", assignments.pay_bonuses),
    Operation("send-message", "POST", "/conversations/send-message", account.send),
    Operation("list-demographics", "GET", "/demographics/list", account.list_demographics),
    Operation("get-feasibility", "POST", "/demographics/feasibility", account.feasibility),
)
"""Connect's operations."""

NAMES = frozenset(operation.name for operation in OPERATIONS)

_PERSON = "/emulator/participants/{participant_id}"

CONTROLS = (
    Operation("participants", "GET", "/emulator/participants", account.list_participants),
    Operation("create", "POST", "/emulator/participants", account.create),
    Operation("projects", "GET", f"{_PERSON}/projects", taking.list_open),
    Operation("arrive", "POST", f"{_PERSON}/projects/{{project_id}}", taking.arrive),
    Operation("mine", "GET", f"{_PERSON}/assignments", taking.list_mine),
    Operation("messages", "GET", f"{_PERSON}/messages", account.list_messages),
    Operation(
        "complete", "POST", "/emulator/assignments/{assignment_id}/complete", taking.complete
    ),
    Operation("return", "POST", "/emulator/assignments/{assignment_id}/return", taking.give_back),
    Operation("fund", "POST", "/emulator/funds", account.fund),
    Operation("books", "GET", "/emulator/books", books.read),
)
"""The emulator's own operations, which need no key and meet no faults."""
