"""The operations are those of Prolific's document, where that is beside the project."""

import pytest

from piecework.rehearsal.prolific.routes import OPERATIONS, PREFIX, Operation
from tests.rehearsal.prolific import documented

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not documented.FILE.is_file(), reason=documented.MISSING),
]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_an_operation_is_where_the_document_has_it(operation: Operation) -> None:
    """With its name, its status and the envelope of its errors."""
    document = documented.documented()
    assert document is not None
    address = document.document["paths"][PREFIX + operation.path]
    described = address[operation.method.lower()]
    assert described["operationId"] == operation.name
    assert str(operation.status) in described["responses"]
    error = described["responses"]["400"]["content"]["application/json"]["schema"]
    assert error["$ref"].endswith("/ErrorDetail") == operation.is_bare
