"""All operations of the task builder."""

from piecework.rehearsal.prolific.operation import Operation
from piecework.rehearsal.prolific.task_builder import answering, collecting, exports

OPERATIONS: tuple[Operation, ...] = (*collecting.OPERATIONS,)
PARTICIPANTS = answering.PARTICIPANTS
WITHOUT_TOKEN = exports.WITHOUT_TOKEN
