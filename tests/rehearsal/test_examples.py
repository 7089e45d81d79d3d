"""The items of the example campaigns are what the generators write."""

import pytest

from rehearsal.examples.items_files import EXAMPLES, FOLDER, as_csv


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_committed_file_is_the_generated_one(name: str) -> None:
    """Written by `python -m rehearsal.examples.items_files`; so truth and text fit."""
    assert (FOLDER / name).read_text("utf-8") == as_csv(list(EXAMPLES[name]()))
