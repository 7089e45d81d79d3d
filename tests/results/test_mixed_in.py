"""Items that were only mixed in to check workers are in no dataset, nor counted as if they were."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

from piecework.campaign.opened import CampaignRun
from piecework.importing.assessing import Comparing, analyse_campaign
from piecework.report.model import report_model
from piecework.report.sections import outcomes, provenance
from piecework.results.facts_by_source import read_markets
from piecework.results.table import answers_table
from piecework.results.whole_pass import write_results
from tests.as_needed_campaign import Voters
from tests.engine.conftest import in_folder
from tests.gold_campaign import AGREED, TEXT, write_gold
from tests.results.reported import reported
from tests.results.test_market_facts import send_to, to_the_end


@contextmanager
def collected(folder: Path) -> Iterator[CampaignRun]:
    """A campaign to its end, with one known item beside its own."""
    with in_folder(folder, TEXT, write=write_gold) as (run, people):
        to_the_end(run, Voters(people.endpoint, votes=AGREED))
        yield run


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a file of the dataset."""
    with path.open(encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def test_the_report_counts_what_the_dataset_has(tmp_path: Path) -> None:
    """Answers, items and labels; the rest is one row, and heuristics and pay have all."""
    with collected(tmp_path) as run:
        write_results(run)
        model = report_model(reported(run))
        folder = run.campaign.out / "dataset"
        exported = [
            row for name in ("answers", "set_aside") for row in rows_of(folder / f"{name}.csv")
        ]
        in_store = len(run.answers())
        items = {str(item.item_id) for item in run.campaign.own_items}
        analysed = analyse_campaign(run.campaign, Comparing())
    assert len(model.came) == len(exported) < in_store
    assert model.facts.items == len(items)
    assert {*model.facts.answers["item_id"]} == items
    assert model.complete_items == len(items)
    assert model.count("novel") <= model.wanted
    mixed_in = in_store - len(exported)
    assert len(model.collected) == int(model.facts.workers["answers"].sum()) == in_store
    assert all(check.agrees for check in provenance.checks(model))
    shown = {table.caption: table.rows for table in outcomes.funnel_section(model).tables}
    row = shown["Outcomes of the submitted answers"][-1]
    assert row[:2] == ("Mixed in to check workers: not in the dataset", str(mixed_in))
    assert model.flags.index.isin(model.facts.mixed_in.index).sum() == mixed_in
    values = cast("dict[str, list[dict[str, object]]]", analysed.as_dict())
    (agreement,) = values["agreement"]
    assert (agreement["answers"], agreement["items"]) == (model.count("novel"), len(items))
    # Which labels are right is known of the mixed-in item alone.
    majority = next(each for each in values["labels"] if each["method"] == "majority")
    assert (majority["items"], majority["known"], majority["right"]) == (len(items), 1, 1)


def test_kept_answers_are_those_of_the_funnel_wherever_they_are_counted(tmp_path: Path) -> None:
    """By round and by market, an answer beyond the number wanted is surplus, and not kept."""
    with collected(tmp_path) as run:
        posting = replace(run.campaign.posting, assignments=1, as_needed=None)
        fewer = replace(run, campaign=replace(run.campaign, posting=posting))
        model = report_model(reported(fewer))
        assert model.count("surplus")
        kept = model.count("novel", "canned")
        assert int(model.facts.batches["answers_kept"].sum()) == kept
        dropped = model.count("dropped", "rejected")
        assert int(model.facts.batches["answers_dropped"].sum()) == dropped
        send_to(fewer, lambda _place: "panel")
        table = answers_table(fewer)
        markets = read_markets(fewer, table[table["item_id"].isin(model.facts.answers["item_id"])])
        assert markets is not None
        assert sum(each.kept for each in markets.rows) == kept
