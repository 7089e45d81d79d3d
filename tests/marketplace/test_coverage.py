"""The page that says what the marketplace does, held to what it does."""

from piecework.marketplace.requester.model import operation_names
from piecework.marketplace.requester.operations import OPERATIONS
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
