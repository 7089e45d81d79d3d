"""The items of the example campaigns are what the generators write."""

from tests.for_each import for_each
from tools.examples.items_files import EXAMPLES, FOLDER, as_csv


@for_each("name", EXAMPLES)
def test_the_committed_file_is_the_generated_one(name: str) -> None:
    """`python -m tools.examples.items_files` writes it."""
    assert (FOLDER / name).read_text("utf-8") == as_csv(list(EXAMPLES[name]()))
