"""What a lost machine takes with it is never older than the metric said."""

from pathlib import Path
from random import Random

import pytest

from tests.backup.losses import lose
from tests.campaign.exchange.conftest import S3
from tests.conftest import in_full


@pytest.mark.parametrize("seed", [1, *in_full(2, 3, 4, 5, 6)])
def test_the_metric_is_an_upper_bound_of_the_loss(tmp_path: Path, s3: S3, seed: int) -> None:
    """A commit every 20 milliseconds, and Litestream killed at a random moment."""
    del s3
    loss = lose(tmp_path, Random(seed), "s3://results/m")  # noqa: S311 - no secret
    assert loss.seconds <= loss.lag_seconds
