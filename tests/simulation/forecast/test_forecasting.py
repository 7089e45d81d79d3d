"""Forecasts: what may be varied, who the crowd is then, and what rehearsals say."""

import json
import re
from dataclasses import replace
from functools import partial
from math import isnan, nan
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser

from piecework.cli.main import main
from piecework.cli.rehearse import say_forecast
from piecework.config.campaign_file import parse
from piecework.domain.errors import ConfigError
from piecework.engine.run_pass import run_pass
from piecework.report import plots
from piecework.report.forecast import (
    Estimate,
    Forecast,
    Row,
    forecast_columns,
    forecast_figures,
    forecast_page,
    mean_and_range,
)
from piecework.report.formatting import wage
from piecework.report.page import render_sections
from piecework.results.large.work_folder import LOCAL, dask_client
from piecework.simulation.forecast.choices import (
    Choice,
    Outcome,
    Pilot,
    choices,
    chosen,
    pilot_of,
    shared_out,
    summarised,
    with_bad,
)
from piecework.simulation.forecast.forecasts import (
    WrittenForecast,
    _assumptions,
    rehearse_once,
)
from tests.browser.pages import faults_of_file
from tests.engine.conftest import Open
from tests.small_campaign import CAMPAIGN, write_campaign

SCENES = (
    CAMPAIGN.replace('file = "items.csv"', "scenes = 4")
    + "\n[rehearsal.crowd]\ndiligent = 6\nshouting = 2\n"
)


def test_what_is_varied_is_crossed() -> None:
    """Two values of one and two of another are four choices; none is one."""
    assert [choice.name for choice in choices(["reward=0.50,1.00", "bad=5%, 20%"])] == [
        "reward 0.50, bad 5%",
        "reward 0.50, bad 20%",
        "reward 1.00, bad 5%",
        "reward 1.00, bad 20%",
    ]
    assert [choice.name for choice in choices([])] == ["as it is"]
    asked = choices(["answers=5,{ least = 3, most = 7 },{ least = 2, most = 4 }"])
    assert [choice.name for choice in asked] == [
        "answers 5",
        "answers { least = 3, most = 7 }",
        "answers { least = 2, most = 4 }",
    ]


@pytest.mark.parametrize(
    ("vary", "message"),
    [
        (["rewrad=1"], "did you mean 'reward'"),
        (["reward"], "write KEY=VALUE,VALUE"),
        (["reward="], "write KEY=VALUE,VALUE"),
        (["reward=1", "reward=2"], "is given twice"),
        (["reward=" + ",".join(map(str, range(65)))], "65 combinations; at most 64"),
    ],
)
def test_what_cannot_be_varied_is_said(vary: list[str], message: str) -> None:
    """One sentence with what is allowed."""
    with pytest.raises(ConfigError, match=message):
        choices(vary)


@pytest.mark.parametrize(
    ("vary", "asked"),
    [
        ("until=0.9", (3, 7, 0.9)),
        ("most=5", (3, 5, 0.95)),
        ("answers={ least = 2, most = 4 }", (2, 4, 0.95)),
        ("answers=5", 5),
    ],
)
def test_as_many_answers_as_needed_are_varied(
    tmp_path: Path, vary: str, asked: int | tuple[int, int, float]
) -> None:
    """One key of the table, the table, or a number in its place."""
    path = Path(__file__).resolve().parents[3] / "config/campaigns/as_needed.toml"
    (choice,) = choices([vary])
    made = chosen(parse(path), choice, seed=2, out=str(tmp_path))
    assignments = made.tables.answers
    if not isinstance(assignments, int):
        assert (assignments.least, assignments.most, assignments.until) == asked
    else:
        assert assignments == asked


def test_a_choice_changes_its_keys_and_lifts_the_caps(tmp_path: Path) -> None:
    """Also a key with its table."""
    file = parse(write_campaign(tmp_path, SCENES))
    choice = Choice(
        (("reward", "0.80"), ("answers", "3"), ("heuristics.same_sentence.min_images", "4"))
    )
    tables = chosen(file, choice, seed=9, out=str(tmp_path / "there")).tables
    assert (tables.reward, tables.answers) == (80, 3)
    assert tables.heuristics["same_sentence"] == {"min_images": 4}
    assert (tables.budget.total or 0) > (file.tables.budget.total or 0) * 1000 > 0
    assert (tables.rehearsal.seed, file.tables.rehearsal.seed) == (9, 1)


@pytest.mark.parametrize("signed", ["reward", "budget"])
def test_a_choice_leaves_the_currency_as_it_is(tmp_path: Path, signed: str) -> None:
    """Also where the only sign of the file is that of an amount that it changes."""
    text = SCENES.replace(f'{signed} = "', f'{signed} = "£')
    assert text != SCENES
    file = parse(write_campaign(tmp_path, text))
    for amount in ("0.80", "£0.80"):
        made = chosen(file, Choice((("reward", amount),)), seed=1, out=str(tmp_path))
        assert (made.tables.currency, made.tables.reward) == ("GBP", 80)
    assert chosen(file, Choice(), seed=1, out=str(tmp_path)).tables.currency == "GBP"
    with pytest.raises(ConfigError, match=r"reward \$0\.80: an amount is in US dollars"):
        chosen(file, Choice((("reward", "$0.80"),)), seed=1, out=str(tmp_path))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((("reward", "much"),), "reward"),
        ((("answers", "0"),), "greater than or equal to 1"),
        ((("posting.max_round", "3"),), "did you mean 'max_rounds'"),
        ((("name.part", "3"),), "name is not a table"),
    ],
)
def test_a_value_that_does_not_fit_is_said(
    tmp_path: Path, values: tuple[tuple[str, str], ...], message: str
) -> None:
    """As a fault of the campaign file is."""
    file = parse(write_campaign(tmp_path, SCENES))
    with pytest.raises(ConfigError, match=message):
        chosen(file, Choice(values), seed=1, out=str(tmp_path))


def test_a_crowd_keeps_its_mix() -> None:
    """By the largest remainders; a share of bad ones leaves the number as it was."""
    crowd = {"diligent": 6, "slow": 2, "paster": 2}
    assert shared_out(crowd, 5) == {"diligent": 3, "slow": 1, "paster": 1}
    assert with_bad(crowd, 0.5, ["paster"]) == {"diligent": 4, "slow": 1, "paster": 5}
    assert with_bad(crowd, 0, ["paster"])["paster"] == 0
    varied = Choice((("workers", "20"), ("bad", "10%")))
    assert sum(varied.crowd(crowd, ["paster"]).values()) == 20
    assert varied.crowd(crowd, ["paster"])["paster"] == 2
    stated = Choice((("crowd", "slow:3+paster:1"),))
    assert stated.crowd(crowd, ["paster"]) == {"slow": 3, "paster": 1}


@pytest.mark.parametrize("value", ["two", "120%", "-1%"])
def test_a_crowd_that_is_none_is_said(value: str) -> None:
    """Whatever is wrong with the value."""
    with pytest.raises(ConfigError, match="--vary bad="):
        Choice((("bad", value),)).crowd({"diligent": 1, "paster": 1}, ["paster"])
    with pytest.raises(ConfigError, match="no such workers"):
        Choice((("bad", "50%"),)).crowd({"diligent": 4}, ["paster"])


def _outcome(cost: float, bad_found: float = nan) -> Outcome:
    return Outcome(
        cost_cents=cost,
        days=1,
        wage_cents=1000,
        bad_kept=0.25,
        bad_found=bad_found,
        honest_wronged=0,
        complete=1,
    )


def test_many_rehearsals_are_a_mean_and_a_range() -> None:
    """Of 0 to 100 the middle nine tenths are 5 to 95; of fewer than 20 values, all."""
    summary = summarised([_outcome(float(cost)) for cost in range(101)])
    assert summary["cost_cents"] == Estimate(50, 5, 95)
    assert isnan(summary["bad_found"].mean)
    few = summarised([_outcome(float(cost)) for cost in range(19)])
    assert few["cost_cents"] == Estimate(9, 0, 18)
    some = summarised([_outcome(1, bad_found=0.5), _outcome(1)])
    assert some["bad_found"] == Estimate(0.5, 0.5, 0.5)


def _forecast(*rows: Row) -> Forecast:
    return Forecast(campaign="birds", currency="GBP", seeds=2, rows=rows, assumptions=["None."])


def test_estimates_are_told_with_their_ranges() -> None:
    """Money in its currency, shares in percent; a range that is a point is left out."""
    known = Row("as it is", summarised([_outcome(11200.0), _outcome(11800.0)]))
    mean_and_range_of = partial(mean_and_range, _forecast(known), known)
    assert mean_and_range_of("cost_cents") == ("£115.00", "112.00 to 118.00")
    assert mean_and_range_of("bad_kept") == ("25.0", "")
    assert mean_and_range_of("bad_found") == ("–", "")  # noqa: RUF001 - as tables show it


@pytest.mark.parametrize(
    ("days", "label", "shown_mean"), [(0.1, "Hours", "2.4"), (2.0, "Days", "2.0")]
)
def test_what_is_over_within_two_days_is_told_in_hours(
    days: float, label: str, shown_mean: str
) -> None:
    """A tenth of a day says nothing to a person; two days are days."""
    row = Row("as it is", summarised([replace(_outcome(100.0), days=days)]))
    shown = _forecast(row)
    assert forecast_columns(shown)["days"] == label
    assert mean_and_range(shown, row, "days") == (shown_mean, "")
    assert f">{label}<" in render_sections(forecast_page(shown))


def test_choices_stand_side_by_side_as_far_as_the_terminal_is_wide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At 80 columns three and then the rest, and no number is cut short."""
    monkeypatch.setenv("COLUMNS", "80")
    estimates = summarised([_outcome(10000.0), _outcome(20000.0)])
    rows = [Row(f"assignments {number}", estimates) for number in (3, 5, 7, 9)]
    say_forecast(WrittenForecast(_forecast(*rows), tmp_path / "forecast.html"))

    printed = capsys.readouterr().out
    heads = [line.split() for line in printed.splitlines() if "assignments" in line]
    assert [len(head) // 2 for head in heads] == [3, 1]
    assert printed.count("100.00 to 200.00") == 4
    assert max(map(len, printed.splitlines()[:25])) <= 80


def test_the_page_has_a_plot_of_each_figure_and_names_are_escaped() -> None:
    """Equal forecasts are equal bytes; a choice is a person's text."""
    row = Row("bad <b>5%", summarised([_outcome(100.0), _outcome(200.0)]))
    made = Forecast(campaign="<i>birds", currency="USD", seeds=2, rows=[row], assumptions=["None."])
    page = render_sections(forecast_page(made))
    assert page == render_sections(forecast_page(made))
    assert page.count('role="img"') == 6  # nobody was bad, so none was found
    assert "<b>" not in page
    assert "<i>" not in page
    assert "Mean of 2 rehearsals each, and the range of all of them" in page
    assert "nine in ten" not in page
    assert "nine in ten" in render_sections(forecast_page(replace(made, seeds=20)))
    assert "all of them" not in render_sections(forecast_page(replace(made, seeds=20)))


def _choices(number: int, **differing: float) -> list[Row]:
    """Choices that differ by a step in each of these figures."""
    same = dict.fromkeys(Outcome.__dataclass_fields__, Estimate(0.5, 0.4, 0.6))
    return [
        Row(
            f"answers {place}",
            {**same, **{name: Estimate(*[step * place] * 3) for name, step in differing.items()}},
        )
        for place in range(1, number + 1)
    ]


def test_cost_is_drawn_against_quality_and_what_does_not_differ_is_not_drawn() -> None:
    """The page leads with the choice itself; without a difference in quality, with the cost."""

    def titles(rows: list[Row]) -> list[str]:
        return [figure.title.partition(":")[0] for figure in forecast_figures(_forecast(*rows))]

    assert titles(_choices(3, cost_cents=100, bad_kept=-0.1, days=3)) == [
        "Cost, and bad answers kept, %",
        "Days",
    ]
    assert titles(_choices(3, cost_cents=100, complete=0.1)) == [
        "Cost, and wanted answers received, %"
    ]
    assert titles(_choices(3, cost_cents=100)) == ["Cost"]
    assert titles(_choices(3)) == []


def test_a_choice_that_costs_more_for_less_is_grey() -> None:
    """Cost rises with each choice and so do bad answers: the first is best, two are grey."""
    rows = _choices(3, cost_cents=100, bad_kept=0.1)
    (figure,) = forecast_figures(_forecast(*rows))
    assert "A choice is grey" in figure.note
    assert figure.svg.count(plots.GREY) > figure.svg.count("var(--bar)")
    (figure,) = forecast_figures(_forecast(*_choices(3, cost_cents=100, bad_found=0.1)))
    assert "A choice is grey" not in figure.note
    assert plots.GREY not in figure.svg


@pytest.mark.parametrize("number", [3, 30])
def test_names_of_choices_do_not_cover_each_other(browser: Browser, number: int) -> None:
    """Three are named in the plot, thirty have the numbers of the table."""
    rows = _choices(number, cost_cents=100, bad_kept=0.03)
    shown = _forecast(*rows)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_content(render_sections(forecast_page(shown)))
    covered = page.evaluate(_COVERED)
    named = page.locator("svg text", has_text="answers 3").count()
    numbered = page.locator("tbody th", has_text="3: answers 3").count()
    page.close()
    assert covered == []
    assert (named > 0, numbered > 0) == (number == 3, number == 30)


_COVERED = """() => {
    const texts = [...document.querySelector("svg").querySelectorAll("text")]
        .map(text => [text.textContent, text.getBoundingClientRect()]);
    return texts.filter(([, box], place) => texts.some(([, other], its) => its > place
        && Math.min(box.right, other.right) - Math.max(box.left, other.left) > 1
        && Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > box.height / 3))
        .map(([words]) => words);
}"""


def test_a_wage_is_rounded_as_the_report_rounds_it() -> None:
    """Down to the cent: a table and a report of the same rehearsal show the same wage."""
    estimates = dict.fromkeys(Outcome.__dataclass_fields__, Estimate(994.6, 994.6, 994.9))
    table = _forecast(Row("as it is", estimates))
    assert mean_and_range(table, table.rows[0], "wage_cents") == ("£9.94", "")
    assert wage(994.6, "GBP") == "£9.94/h"
    assert mean_and_range(table, table.rows[0], "cost_cents")[0] == "£9.95"


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_hides_no_number(browser: Browser, width: int) -> None:
    """A dot at 0 stands clear of its label; at 1280 the table need not scroll."""
    names = Outcome.__dataclass_fields__
    some = dict.fromkeys(names, Estimate(0.874, 0.714, 1.0))
    cents = {"cost_cents": Estimate(1e6, 9e5, 2e6), "wage_cents": Estimate(2e3, 1e3, 3e3)}
    rows = [
        Row("answers 3", dict.fromkeys(names, Estimate(0.0, 0.0, 0.0))),
        Row("answers 5", {**some, **cents}),
    ]
    page = browser.new_page(viewport={"width": width, "height": 900})
    try:
        page.set_content(render_sections(forecast_page(_forecast(*rows))))
        hidden, touching = page.evaluate(_HIDDEN)
    finally:
        page.close()
    assert touching == 0
    assert width < 1280 or hidden <= 0


@pytest.mark.parametrize("number", [1, 6, 30])
def test_everybody_can_read_the_page(browser: Browser, tmp_path: Path, number: int) -> None:
    """On a desktop and a phone, and names that begin alike are still told apart."""
    rows = [
        replace(row, name=f"least 2 and most 5 answers, reward {row.name}, bad 20%")
        for row in _choices(number, cost_cents=100, bad_kept=0.03, days=1)
    ]
    file = tmp_path / "forecast.html"
    file.write_text(render_sections(forecast_page(_forecast(*rows))), encoding="utf-8")
    for width in (1280, 390):
        assert faults_of_file(browser, file, width=width) == []
    svgs = file.read_text().split("<svg")[1:]
    assert len(svgs) == {1: 7, 6: 2, 30: 1}[number]
    labels = re.findall(r">([^<]*least 2[^<]*)</text>", svgs[-1])
    assert len(set(labels)) == len(labels) == {1: 1, 6: 6, 30: 0}[number]


_HIDDEN = """() => {
    const scroll = document.querySelector(".scroll");
    const boxes = [...document.querySelectorAll("svg text")]
        .filter(text => text.textContent.startsWith("answers"))
        .map(text => text.getBoundingClientRect());
    const dots = [...document.querySelectorAll("svg use, svg path")]
        .map(dot => dot.getBoundingClientRect())
        .filter(dot => dot.width && dot.width < 20 && dot.height < 20);
    if (!boxes.length || !dots.length) throw new Error("no labels or no dots");
    const touching = dots.filter(dot => boxes.some(box =>
        dot.left < box.right + 2 && dot.right > box.left
        && dot.top < box.bottom && dot.bottom > box.top));
    return [scroll.scrollWidth - scroll.clientWidth, touching.length];
}"""


def test_one_rehearsal_of_a_choice_leaves_nothing_behind(tmp_path: Path) -> None:
    """Real marketplace, real pages; eight workers, of whom two shout."""
    path = write_campaign(tmp_path, SCENES)
    before = sorted(tmp_path.rglob("*"))
    outcome = rehearse_once(parse(path), Choice((("answers", "3"),)), 5, None)
    assert outcome.complete == 1.0
    # Four pictures, three answers, two to a HIT, 50 cents and a fifth.
    assert outcome.cost_cents >= 6 * 60
    assert 0 <= outcome.bad_found <= 1
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.full
def test_a_forecast_is_made_of_real_rehearsals(tmp_path: Path) -> None:
    """Three answers cost more than two; page and document lie in the folder."""
    path = write_campaign(tmp_path, SCENES)
    wanted = ["rehearse", str(path), "--times", "1", "--vary", "answers=2,3"]
    done = CliRunner().invoke(main, [*wanted, "--json", "--processes", "1"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    two, three = document["choices"]
    assert two["choice"] == "answers 2"
    assert 0 < two["cost_cents"]["mean"] < three["cost_cents"]["mean"]
    assert two["complete"]["mean"] == 1.0
    assert any(
        "8 simulated workers, 2 of them" in assumption for assumption in document["assumptions"]
    )
    assert "answers 3" in (tmp_path / "out/crash/forecast.html").read_text()
    assert not (tmp_path / "out/crash/piecework.db").exists()


@pytest.mark.full
def test_a_forecast_on_a_dask_cluster_has_the_same_numbers(tmp_path: Path) -> None:
    """Rehearsed by processes of the cluster, whose faults are told as here."""
    path = write_campaign(tmp_path, SCENES)
    wanted = ["rehearse", str(path), "--times", "2", "--json"]
    here = CliRunner().invoke(main, [*wanted, "--processes", "1"])
    with dask_client(LOCAL) as client:
        address = str(client.scheduler_info()["address"])
        there = CliRunner().invoke(main, [*wanted, "--dask", address])
        unfit = ["--vary", "answers=0", "--dask", address]
        faulty = CliRunner().invoke(main, [*wanted, *unfit])
    assert there.exit_code == 0, there.output
    assert json.loads(there.stdout) == json.loads(here.stdout)
    here = CliRunner().invoke(main, [*wanted, *unfit[:2], "--processes", "1"])
    assert (faulty.exit_code, faulty.output) == (2, here.output)
    gone = CliRunner().invoke(main, [*wanted, "--dask", "nowhere"])
    assert gone.exit_code == 2
    assert "no scheduler answers" in gone.output


def test_a_pilot_says_how_long_people_take_and_how_many_are_bad(
    at_work: Open, campaign_text: str
) -> None:
    """Of ann and bob one shouts: half of the workers lose all of their answers."""
    with at_work(campaign_text) as (run, people):
        run_pass(run)
        with pytest.raises(ConfigError, match="no decided answers"):
            pilot_of(run)
        people.work()
        run_pass(run)
        pilot = pilot_of(run)
        with run.store.db.atomic():
            run.store.db.execute("UPDATE decisions SET verdict = 'drop' WHERE verdict = 'keep'")
        assert isnan(pilot_of(run).seconds_per_item)
    assert (pilot.answers, pilot.workers, pilot.bad) == (4, 2, 0.5)
    assert pilot.crowd({"diligent": 6, "shouting": 2}, ["shouting"], {}) == {
        "diligent": 4,
        "shouting": 4,
    }
    assert pilot.paced(run.campaign.task).seconds_per_item == pilot.seconds_per_item


def test_a_pilot_without_times_and_a_crowd_without_bad_workers_are_rehearsed(
    tmp_path: Path,
) -> None:
    """The task keeps its pace, and the bad workers are those of the usual crowd."""
    pilot = Pilot(answers=4, workers=2, seconds_per_item=nan, bad=0.5, agreement=nan)
    for crowd, other in (({"diligent": 4}, {"paster": 2}), ({"paster": 4}, {"diligent": 2})):
        mixed = pilot.crowd(crowd, ["paster"], {"diligent": 30, "paster": 10})
        assert mixed == dict.fromkeys(crowd, 2) | other
    (assumed,) = (line for line in _assumptions({}, pilot) if line.startswith("From the pilot"))
    assert "no kept answer has a time, so the task's own pace; 50%" in assumed
    path = write_campaign(tmp_path, SCENES.replace("diligent = 6\nshouting = 2", "diligent = 4"))
    assert not isnan(rehearse_once(parse(path), Choice(), 1, pilot).bad_found)
