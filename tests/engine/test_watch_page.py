"""The page about campaigns states every metric of passes, and their alerts fire."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.engine.pass_metrics import PROGRESS, pass_text

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "watch.md"
ALERTS = PAGE.parent / "alerts" / "passes.yaml"
CASES = Path(__file__).with_name("pass_alert_cases.yaml")
_ROW = re.compile(r"^\| `(piecework_(?:pass|campaign)\w+)` \|(.*?)\| .+ \|$", re.MULTILINE)


def _families(text: str) -> dict[str, set[str]]:
    labels: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation, f"{family.name} has no meaning"
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels[name] = {label for sample in family.samples for label in sample.labels} - {
            "campaign"
        }
    return labels


def test_the_table_lists_the_metrics_with_their_labels(tmp_path: Path) -> None:
    """A metric without a row would not be noticed, and neither would a stale row."""
    rows = {
        name: set(re.findall(r"`(\w+)`", labels))
        for name, labels in _ROW.findall(PAGE.read_text(encoding="utf-8"))
    }
    assert rows == _families(pass_text(tmp_path))


def test_the_values_are_those_of_the_progress(tmp_path: Path) -> None:
    """Each state once, so that sums are wholes; money in minor units."""
    lines = pass_text(tmp_path).splitlines()
    for line in (
        'piecework_campaign_hits{campaign="birds",state="ended"} 3.0',
        'piecework_campaign_assignments{campaign="birds",state="not_rejected"} 6.0',
        'piecework_campaign_answers{campaign="birds",state="undecided"} 3.0',
        'piecework_campaign_hits_refused{campaign="birds"} 2.0',
        (
            'piecework_campaign_money_cents{account="compensations",campaign="birds",'
            'currency="GBP"} 7.0'
        ),
        'piecework_campaign_source_behind_seconds{campaign="birds"} 43200.0',
        'piecework_pass_next_due_timestamp_seconds{campaign="birds"} 1.8000144e+09',
    ):
        assert line in lines


def test_what_no_longer_applies_disappears(tmp_path: Path) -> None:
    """A time that has passed would be an alert for ever; a rehearsal's is not ours."""
    pass_text(tmp_path)
    finished = replace(PROGRESS, waiting_for="nobody", due_at="", pays_itself_at="")
    for progress in (finished, replace(PROGRESS, is_rehearsal=True)):
        text = pass_text(tmp_path, progress)
        assert "next_due" not in text
        assert "auto_approval" not in text


def test_a_step_that_is_due_now_is_due_since_the_end(tmp_path: Path) -> None:
    """So that a schedule that stands still is noticed."""
    text = pass_text(tmp_path, replace(PROGRESS, waiting_for="the next pass"))
    times = dict(re.findall(r"^(piecework_pass\w+seconds)\{.*\} (\S+)$", text, re.MULTILINE))
    due = float(times["piecework_pass_next_due_timestamp_seconds"])
    assert float(times["piecework_pass_last_start_timestamp_seconds"]) < due
    assert due <= float(times["piecework_pass_last_end_timestamp_seconds"])


def test_each_alert_has_a_row_and_a_meaning() -> None:
    """What it says names the campaign, so that one file serves all."""
    (group,) = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"]
    page = PAGE.read_text(encoding="utf-8")
    names = [rule["alert"] for rule in group["rules"]]
    rows = re.findall(r"^\| `([A-Z]\w+)` \|", page, re.MULTILINE)
    assert rows[: len(names)] == names
    for rule in group["rules"]:
        assert "$labels.campaign" in rule["annotations"]["summary"]
        assert rule["labels"]["severity"] in {"warning", "critical"}


def test_prometheus_fires_the_alerts_in_time(tmp_path: Path) -> None:
    """With promtool: rules parse, fire in their cases, and metrics are well named."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (it comes with Prometheus)")
    for words, text in (
        (["check", "rules", str(ALERTS)], None),
        (["test", "rules", str(CASES)], None),
        (["check", "metrics"], pass_text(tmp_path)),
    ):
        checked = subprocess.run(
            [promtool, *words], input=text, capture_output=True, text=True, check=False
        )
        assert checked.returncode == 0, checked.stdout + checked.stderr
