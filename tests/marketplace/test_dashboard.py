"""The dashboard for Grafana, and all alerts, name only metrics that are served."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from piecework.marketplace.state.backend import Backend
from tests.engine.pass_metrics import pass_text
from tests.marketplace.test_watching_page import served_text

HOW_TO = Path(__file__).resolve().parents[2] / "docs" / "how-to"
DASHBOARD = HOW_TO / "dashboards" / "piecework.json"
_SELECTOR = re.compile(r"\b(piecework_\w+)(?:\{(.*?)\})?")
_MATCHER = re.compile(r'(\w+)=~?"([^"]*)"')
_UNITS = {"short", "s", "bytes", "reqps", "ops", "percentunit"}


def _dashboard() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    return document


def _panels() -> list[dict[str, Any]]:
    panels: list[dict[str, Any]] = _dashboard()["panels"]
    return [panel for panel in panels if panel["type"] != "row"]


def _queries() -> Iterator[str]:
    for panel in _panels():
        for target in panel["targets"]:
            yield target["expr"]


def _rules() -> Iterator[str]:
    for file in sorted((HOW_TO / "alerts").glob("*.yaml")):
        for group in yaml.safe_load(file.read_text(encoding="utf-8"))["groups"]:
            for rule in group["rules"]:
                yield rule["expr"]


@pytest.fixture
def samples(backend: Backend, tmp_path: Path) -> dict[str, list[dict[str, str]]]:
    """The labels of all samples of a scrape and of a file of passes, by name."""
    by_name: dict[str, list[dict[str, str]]] = {}
    for text in (served_text(backend), pass_text(tmp_path)):
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                labels = {"instance": "127.0.0.1:9464", **sample.labels}
                by_name.setdefault(sample.name, []).append(labels)
    return by_name


def test_every_query_and_rule_is_about_what_is_served(
    samples: dict[str, list[dict[str, str]]],
) -> None:
    """Names, labels, and the values of labels, each alternative of them."""
    expressions = [*_queries(), *_rules()]
    assert len(expressions) > 50
    for expression in expressions:
        selectors = _SELECTOR.findall(expression)
        assert selectors, expression
        for name, matchers in selectors:
            assert name in samples, expression
            for label, value in _MATCHER.findall(matchers):
                served = {labels.get(label) for labels in samples[name]}
                wanted = {None} if value.startswith("$") else {*value.split("|")}
                if value.startswith("$"):
                    assert None not in served, (expression, label)
                else:
                    assert wanted <= served, (expression, label)
        for labels in re.findall(r"\b(?:by|on) \((.*?)\)", expression):
            name = selectors[0][0]
            assert {*labels.split(", ")} <= {
                label for sample in samples[name] for label in sample
            }, expression


def test_every_metric_of_ours_is_watched_somewhere(
    samples: dict[str, list[dict[str, str]]],
) -> None:
    """A metric that no panel and no rule uses would not be noticed."""
    used = {
        name for expression in (*_queries(), *_rules()) for name, _ in _SELECTOR.findall(expression)
    }
    served = {
        re.sub(r"_(count|sum)$", "_bucket", name)
        for name in samples
        if name.startswith("piecework_")
    }
    assert served - used == {
        # What `status` is for, and how a scrape itself goes.
        "piecework_campaign_cap_reached",
        "piecework_campaign_items",
        "piecework_campaign_waiting",
        "piecework_campaign_workers_excluded",
        "piecework_bridge_step_seconds_bucket",
        "piecework_database_read_seconds",
        "piecework_database_readable",
        "piecework_pass_last_end_timestamp_seconds",
        "piecework_visits",
    }


def test_the_dashboard_can_be_imported_anywhere() -> None:
    """No data source of its author; ids are different, and panels do not overlap."""
    document = _dashboard()
    assert document["id"] is None
    variables = {each["name"]: each for each in document["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource"
    assert variables["datasource"]["query"] == "prometheus"
    assert set(variables) == {"datasource", "campaign", "instance"}
    source = {"type": "prometheus", "uid": "${datasource}"}
    ids = [panel["id"] for panel in document["panels"]]
    assert len(ids) == len({*ids})
    taken: set[tuple[int, int]] = set()
    for panel in document["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        cells = {
            (at["x"] + column, at["y"] + line)
            for column in range(at["w"])
            for line in range(at["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells
    for panel in _panels():
        assert panel["datasource"] == source
        assert all(target["datasource"] == source for target in panel["targets"])


def test_every_panel_has_a_unit_thresholds_and_a_meaning() -> None:
    """And titles that differ, so that a person can name one."""
    titles = [panel["title"] for panel in _panels()]
    assert len(titles) == len({*titles})
    for panel in _panels():
        defaults = panel["fieldConfig"]["defaults"]
        assert defaults["unit"] in _UNITS
        steps = defaults["thresholds"]["steps"]
        assert steps[0]["value"] is None
        values = [step["value"] for step in steps[1:]]
        assert values == sorted(values)
        assert panel["description"].endswith(".")


def test_prometheus_can_read_every_query(tmp_path: Path) -> None:
    """With promtool, as rules that record them."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (it comes with Prometheus)")
    rules = [
        {"record": f"query:number{number}", "expr": re.sub(r"\$\w+", ".*", query)}
        for number, query in enumerate(_queries())
    ]
    file = tmp_path / "queries.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "all", "rules": rules}]}))
    checked = subprocess.run(
        [promtool, "check", "rules", str(file)], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
