"""The table of what MTurk's words become at Prolific, held to the API."""

from piecework.marketplace.requester.wire import operation_names
from tools.prolific_page import LINES, PAGE, render


def test_the_committed_table_is_what_the_code_says() -> None:
    """`python -m tools.prolific_page` would change nothing."""
    assert PAGE.read_text(encoding="utf-8") == render()


def test_every_operation_is_in_a_line_and_every_difference_has_its_reason() -> None:
    """39 operations; what is near or absent says why."""
    named = {name for line in LINES for name in line.operations}
    assert named == set(operation_names())
    assert all(line.why for line in LINES if line.extent != "same")
