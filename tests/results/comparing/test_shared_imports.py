"""Own rules on real results of other tools: nothing differs, and nothing is written."""

from pathlib import Path

import pytest

from piecework.campaign.assembling import load_with_results
from piecework.results.comparing.comparison import compare_rules
from tests.importing.test_imported_shared import COLUMNS, DATA, FILES
from tests.results.comparing.test_comparing import digests, done

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here"),
]

# The others are shorter, and of the same formats.
_DEAR = {
    *("vizwiz_quality_train.json", "snow_rte.csv", "vizwiz_val_captions_half.csv"),
    *("mturk_batches", "para_quality_half.csv"),
    "error_analysis_2017/annotations_emiel/incongruent_final.json",
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.full(weeks=3)] * (name in _DEAR)) for name in FILES],
)
def test_own_rules_change_nothing_in_real_results(name: str, tmp_path: Path) -> None:
    """Before anything is judged there, and after it."""
    columns, *_ = FILES[name]
    path = DATA / name
    files = sorted(path.glob("*.csv")) if name == "mturk_batches" else [path]
    words = ["--columns", COLUMNS / f"{columns}.toml"] if columns else []
    campaign = tmp_path / "results.toml"
    done("data", "import", *files, *words, "--as", campaign)
    assert not compare_rules(load_with_results(campaign), campaign).differs
    done("data", "assess", campaign)
    before = digests(tmp_path)
    assert not compare_rules(load_with_results(campaign), campaign).differs
    assert digests(tmp_path) == before
