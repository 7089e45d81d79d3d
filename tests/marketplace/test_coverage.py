"""The page that says what the marketplace does, held to what it does."""

import re

from botocore import xform_name

from piecework.marketplace.requester.api import OPERATIONS
from piecework.marketplace.requester.wire import operation_names
from tools.marketplace_page import DIFFERENCES, PAGE, render


def test_the_committed_page_is_what_the_code_says() -> None:
    """`python -m tools.marketplace_page` would change nothing."""
    assert PAGE.read_text(encoding="utf-8") == render()


def test_every_operation_is_served_and_on_the_page() -> None:
    """The differences are those of operations of the service."""
    assert set(operation_names()) == set(OPERATIONS)
    assert set(operation_names()) > set(DIFFERENCES)
    words = set(re.findall(r"\w+", render()))
    assert set(OPERATIONS) <= words


def test_every_operation_is_a_function_of_its_name() -> None:
    """ListHITs is `list_hits`, so that a search for either leads to the code."""
    names = {operation: function.__name__ for operation, function in OPERATIONS.items()}
    assert names == {operation: xform_name(operation) for operation in OPERATIONS}
