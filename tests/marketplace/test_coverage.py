"""The page that says what the marketplace does, held to what it does."""

from botocore import xform_name

from piecework.marketplace.requester.api import OPERATIONS
from piecework.marketplace.requester.wire import operation_names
from tools.marketplace_page import NOTES, PAGE, render


def test_the_committed_page_is_what_the_code_says() -> None:
    """`python -m tools.marketplace_page` would change nothing."""
    assert PAGE.read_text(encoding="utf-8") == render()


def test_every_operation_has_its_row_and_every_absence_its_reason() -> None:
    """39 rows; absent in the page exactly where absent in the table."""
    for name in operation_names():
        assert f"| {name} |" in render()
    absent = {name for name, note in NOTES.items() if note.extent == "absent"}
    assert absent == set(operation_names()) - set(OPERATIONS)


def test_every_operation_is_a_function_of_its_name() -> None:
    """ListHITs is `list_hits`, so that a search for either leads to the code."""
    names = {operation: function.__name__ for operation, function in OPERATIONS.items()}
    assert names == {operation: xform_name(operation) for operation in OPERATIONS}
