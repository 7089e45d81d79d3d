"""What a dataset says is still missing, in a campaign that grows."""

from pathlib import Path

from piecework.results.export import dataset_facts
from tests.growing_campaign import growing, names


def test_rows_that_wait_are_missing_and_rows_to_come_are_not(tmp_path: Path) -> None:
    """A source grows for ever; a release need not say so each time."""
    with growing(tmp_path, names(1, 4)) as work:
        work.advance()
        open_hits = dataset_facts(work.run, provisional=0).unfinished
        assert "2 HITs still open" in open_hits
        work.finish()
        assert dataset_facts(work.run, provisional=0).unfinished == ""
        work.append(*names(5, 6))
        work.advance()
        waiting = dataset_facts(work.run, provisional=0).unfinished
        assert waiting.endswith(", 2 rows waiting for their batch.")
