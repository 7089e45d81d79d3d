"""The page about watching states every metric, with its labels, and no other."""

import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from piecework.marketplace.state.backend import Backend
from piecework.marketplace.watching.metrics import Metrics
from piecework.marketplace.watching.request_facts import AnsweredRequest, RequestFacts

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "watch-a-marketplace.md"
_ROW = re.compile(r"^\| `(piecework_\w+)` \|(.*?)\| .+ \|$", re.MULTILINE)


def served_metrics(backend: Backend) -> dict[str, set[str]]:
    """All metrics with their labels, as a scrape of a process with a bridge has them.

    A histogram has its own name, without that of its samples.
    """
    metrics = Metrics(has_bridge=True)
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
        text = metrics.text().decode()
    labels: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation, f"{family.name} has no meaning"
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels[name] = {
            label for sample in family.samples for label in sample.labels
        } - {"le"}
    return labels


def test_the_table_lists_the_metrics_with_their_labels(backend: Backend) -> None:
    """A metric without a row would not be noticed, and neither would a stale row."""
    page = PAGE.read_text(encoding="utf-8")
    rows = {
        name: set(re.findall(r"`(\w+)`", labels)) for name, labels in _ROW.findall(page)
    }
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
