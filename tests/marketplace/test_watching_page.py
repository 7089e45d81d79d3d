"""The page about watching states every metric, and the alerts name only such."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from piecework.backup.lag import Distance
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.watching.metrics import Metrics
from piecework.marketplace.watching.watched_requests import AnsweredRequest, RequestFacts

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "watch.md"
ALERTS = PAGE.parent / "alerts" / "piecework.yaml"
CASES = Path(__file__).with_name("alert_cases.yaml")
_ROW = re.compile(r"^\| `(piecework_(?!pass|campaign)\w+)` \|(.*?)\| .+ \|$", re.MULTILINE)


_SELECTOR = re.compile(r"\b(piecework_\w+)(?:\{(.*?)\})?")
_MATCHER = re.compile(r'(\w+)=~?"([\w|]+)"')
_FUNCTIONS = {"changes", "delta", "sum", "time"}
_WORDS = {"and", "by", "instance", "or", "offset"}


class _Replica:
    """A backup that lacks nothing."""

    def distance(self) -> Distance:
        return Distance(0.0, 0, is_running=True)


def served_text(backend: Backend) -> str:
    """A scrape of a process with bridge and backup; everything happened once."""
    metrics = Metrics(has_bridge=True, replica=_Replica())
    for is_call, status in ((True, 200), (True, 400), (False, 200)):
        metrics.observe_request(
            AnsweredRequest(
                facts=RequestFacts("id", operation="GetHIT", error="HITDoesNotExist"),
                method="POST",
                route="/",
                is_call=is_call,
                status=status,
                size=2,
                seconds=0.1,
            )
        )
    metrics.observe_step(seconds=1.0, faults=0, is_whole=True)
    with metrics.with_figures(backend.database, "USD"):
        return metrics.text().decode()


def served_metrics(backend: Backend) -> dict[str, set[str]]:
    """All metrics with their labels; a histogram has its own name, not its samples'."""
    labels: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(served_text(backend)):
        assert family.documentation, f"{family.name} has no meaning"
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels[name] = {label for sample in family.samples for label in sample.labels} - {"le"}
    return labels


def test_the_table_lists_the_metrics_with_their_labels(backend: Backend) -> None:
    """A metric without a row would not be noticed, and neither would a stale row."""
    page = PAGE.read_text(encoding="utf-8")
    rows = {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in _ROW.findall(page)}
    served = served_metrics(backend)
    ours = {name: labels for name, labels in served.items() if "piecework_" in name}
    assert rows == ours
    for name in served.keys() - ours.keys():
        assert f"`{name}`" in page


def test_names_follow_the_conventions_of_prometheus(backend: Backend) -> None:
    """Counters end in `_total`, and a unit is the last word."""
    for name in served_metrics(backend):
        assert name.startswith(("piecework_", "process_"))
        assert re.fullmatch(r"[a-z_]+", name)
        assert not re.search(r"_(ms|count|sum|number|milliseconds)$", name)


def test_each_alert_is_a_rule_about_metrics_that_exist(backend: Backend) -> None:
    """Names, labels and values; a wrong name would be an alert that never fires."""
    text = served_text(backend)
    (group,) = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"]
    page = PAGE.read_text(encoding="utf-8")
    assert len(group["rules"]) == 5
    for rule in group["rules"]:
        assert rule.keys() - {"for"} == {"alert", "expr", "labels", "annotations"}
        assert f"| `{rule['alert']}` |" in page
        assert set(rule["annotations"]) == {"summary", "description"}
        assert re.fullmatch(r"\d+[smhd]", rule.get("for", "1m"))
        selectors = _SELECTOR.findall(rule["expr"])
        assert selectors
        for name, matchers in selectors:
            line = rf"^{name}(\{{.*\}})? "
            for label, value in _MATCHER.findall(matchers):
                line = rf'^{name}\{{.*\b{label}="({value})".*\}} '
            assert re.search(line, text, re.MULTILINE), (name, matchers)
        rest = re.sub(r"\[\d+[smhd]\]|\b\d+d\b", "", _SELECTOR.sub("", rule["expr"]))
        assert rest.count("(") == rest.count(")")
        assert set(re.findall(r"[a-z_]+", rest)) <= _FUNCTIONS | _WORDS


def test_prometheus_fires_the_alerts_in_time(backend: Backend) -> None:
    """With promtool: rules parse, fire in their cases, and metrics are well named."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (it comes with Prometheus)")
    for words in (["check", "rules", str(ALERTS)], ["test", "rules", str(CASES)]):
        checked = subprocess.run([promtool, *words], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr
    linted = subprocess.run(
        [promtool, "check", "metrics"],
        input=served_text(backend),
        capture_output=True,
        text=True,
        check=False,
    )
    assert linted.returncode == 0, linted.stdout + linted.stderr
