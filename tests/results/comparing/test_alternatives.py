"""A report shows what other rules would have done, with a page and a file for each."""

import json
import re
from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.engine.opening import open_to_look
from piecework.report.model import report_model
from piecework.results.comparing import page
from piecework.results.export import write_report
from piecework.results.report_facts import report_facts
from piecework.results.whole_pass import write_results
from piecework.store import assignments
from tests.importing.batches import stances, write
from tests.results.comparing.test_comparing import done
from tests.results.comparing.test_judging_again import rehearsed

LINK = re.compile(r'<a href="(other-rules/[a-z-]+\.html)">')


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A smaller demo, rehearsed, with its report."""
    changes = (("scenes = 60", "scenes = 15"), ("batches = 5 ", "batches = 2 "))
    path = rehearsed(tmp_path_factory.mktemp("demo"), "demo", changes=changes)
    done("export", "--report-only", path)
    return path


def test_the_report_leads_to_three_other_sets_of_rules(demo: Path) -> None:
    """Each page is there, says what changes, and names no worker by their id."""
    with open_to_look(load_campaign(demo)) as opened:
        out, ids = opened.campaign.out, assignments.all_workers(opened.store)
    links = LINK.findall((out / "report.html").read_text())
    assert len(links) == 3
    for link in links:
        page = (out / link).read_text()
        assert "Figures under both sets of rules" in page
        assert not [name for name in ids if name in page]


def test_each_file_of_rules_gives_the_figures_of_its_row(demo: Path) -> None:
    """`compare --rules` with the file beside a page counts the same."""
    with open_to_look(load_campaign(demo)) as opened:
        others = page.write_other_rules(opened, report_model(report_facts(opened)))
        out = opened.campaign.out
    assert others is not None
    own, *tried = others.outcomes
    kept = {each.name: each.kept for each in tried}
    assert kept["No rules"] > own.kept > kept["Every flag counts"]
    for row in tried:
        rules = (out / row.page).with_suffix(".toml")
        document = json.loads(done("compare", demo, "--rules", rules, "--json"))
        before, after = document["before"], document["after"]
        assert document["changed_keys"] == ["decisions.rule"]
        for figures, side in ((own, before), (row, after)):
            counted = (side["verdicts"]["keep"], side["verdicts"]["drop"], side["excluded"])
            assert (figures.kept, figures.dropped, figures.excluded) == counted
            known = side["agreements"]["planted workers: answers"]
            assert figures.bad_out == f"{known['caught']} of {known['bad']}"
            assert figures.good_out == f"{known['harmed']} of {known['good']}"


def test_many_answers_are_not_judged_again_for_a_report(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sentence names the command instead, and no earlier page is left; no pass writes any."""
    with open_to_look(load_campaign(demo)) as opened:
        pages = opened.campaign.out / "other-rules"
        with monkeypatch.context() as changed:
            changed.setattr(page, "MOST_ANSWERS", 10)
            report = write_report(opened).read_text()
        assert "<code>piecework compare demo.toml --rules FILE</code>" in report
        assert [*pages.iterdir()] == []
        write_results(opened, with_other_rules=False)
        assert [*pages.iterdir()] == []


def test_imported_results_show_no_money(tmp_path: Path) -> None:
    """They were paid elsewhere; the pages lead to what their own rules would do."""
    path = tmp_path / "stance.toml"
    done("data", "import", write(tmp_path / "batch.csv", stances()), "--as", path)
    done("data", "assess", path)
    with open_to_look(load_campaign(path)) as opened:
        others = page.write_other_rules(opened, report_model(report_facts(opened)))
        report = write_report(opened)
    assert others is not None
    assert {each.paid for each in others.outcomes} == {""}
    links = LINK.findall(report.read_text())
    assert [each.page for each in others.outcomes[1:]] == links
    assert all((report.parent / link).is_file() for link in links)
