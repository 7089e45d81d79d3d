"""The operations beyond recruiting, judging and paying."""

from offline_markets.prolific.beyond import (
    allocations,
    credentials,
    demographics,
    filter_sets,
    surveys,
    uploads,
)
from offline_markets.prolific.beyond.task_builder import (
    answering,
    batches,
    collecting,
    datasets,
    exports,
    layouts,
)
from offline_markets.prolific.operation import Operation

OPERATIONS: tuple[Operation, ...] = (
    Operation("get-filter-sets", "GET", "/filter-sets/", filter_sets.list_sets),
    Operation("create-filter-set", "POST", "/filter-sets/", filter_sets.create, 201),
    Operation("get-filter-set", "GET", "/filter-sets/{id}/", filter_sets.get),
    Operation("delete-filter-set", "DELETE", "/filter-sets/{id}/", filter_sets.delete, 204),
    Operation("update-filter-set", "PATCH", "/filter-sets/{id}/", filter_sets.update),
    Operation("clone-filter-set", "POST", "/filter-sets/{id}/clone/", filter_sets.clone, 201),
    Operation("lock-filter-set", "POST", "/filter-sets/{id}/lock/", filter_sets.lock),
    Operation("unlock-filter-set", "POST", "/filter-sets/{id}/unlock/", filter_sets.unlock),
    *allocations.OPERATIONS,
    *uploads.OPERATIONS,
    *credentials.OPERATIONS,
    *demographics.OPERATIONS,
    *surveys.OPERATIONS,
    *collecting.OPERATIONS,
    *datasets.OPERATIONS,
    *batches.OPERATIONS,
    *layouts.OPERATIONS,
)
"""Prolific's operations."""

WITHOUT_TOKEN: tuple[Operation, ...] = (
    Operation("get-study-jwks", "GET", "/.well-known/study/jwks.json", uploads.keys),
    *uploads.WITHOUT_TOKEN,
    *exports.WITHOUT_TOKEN,
    *batches.WITHOUT_TOKEN,
)
"""Prolific's addresses outside of the prefix: of its keys, and of its file store."""

PARTICIPANTS: tuple[Operation, ...] = (
    *answering.PARTICIPANTS,
    Operation("feedback", "GET", "/emulator/feedback", uploads.list_feedback),
)
"""The emulator's own operations."""
