"""All operations of the task builder."""

from offline_markets.prolific.operation import Operation
from offline_markets.prolific.task_builder import (
    answering,
    batches,
    collecting,
    datasets,
    exports,
    instructions,
)

OPERATIONS: tuple[Operation, ...] = (
    *collecting.OPERATIONS,
    *datasets.OPERATIONS,
    *batches.OPERATIONS,
    *instructions.OPERATIONS,
)
PARTICIPANTS = answering.PARTICIPANTS
WITHOUT_TOKEN = (*exports.WITHOUT_TOKEN, *batches.WITHOUT_TOKEN)
