"""The operations are those of Prolific's document, where that is beside the project."""

import pytest

from offline_markets.prolific.beyond.routes import WITHOUT_TOKEN
from offline_markets.prolific.call import ABSENT
from offline_markets.prolific.operation import Operation
from offline_markets.prolific.routes import OPERATIONS, PREFIX
from offline_markets_tests.prolific import documented
from tests.for_each import for_each

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not documented.FILE.is_file(), reason=documented.MISSING),
]


_DOCUMENTED = [(PREFIX, each) for each in OPERATIONS] + [
    ("", each) for each in WITHOUT_TOKEN if "/emulator/" not in each.path
]


@for_each(("prefix", "operation"), _DOCUMENTED)
def test_an_operation_is_where_the_document_has_it(prefix: str, operation: Operation) -> None:
    """With its name, its status and the envelope of its errors."""
    document = documented.documented()
    assert document is not None
    address = document.document["paths"][prefix + operation.path]
    described = address[operation.method.lower()]
    assert described["operationId"] == operation.name
    assert str(operation.status) in described["responses"]
    responses = described["responses"]
    refusals = [responses[status] for status in ("400", "404") if status in responses]
    for refusal in refusals[:1]:
        error = refusal["content"]["application/json"]["schema"]
        assert error["$ref"].endswith("/ErrorDetail") == operation.is_bare


def test_every_operation_of_the_document_is_performed_or_known_as_absent() -> None:
    """Each once, so that the counts of the how-to guide add up."""
    document = documented.documented()
    assert document is not None
    there = sorted(
        operation["operationId"]
        for methods in document.document["paths"].values()
        for operation in methods.values()
    )
    performed = [operation.name for _, operation in _DOCUMENTED]
    assert sorted([*performed, *(name for _, _, name in ABSENT)]) == there
