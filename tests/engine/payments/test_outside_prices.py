"""A campaign done by participants of Prolific: three ledgers are equal, in pence."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.campaign.assembling import load_campaign
from piecework.cli.main import main
from piecework.domain.progress import Progress
from piecework.engine.opening import open_to_look
from piecework.engine.pass_request import PassRequest
from piecework.engine.quick_check import cached_progress
from piecework.markets.prolific.bridge.reconciling import reconcile
from piecework.results.whole_pass import advance_without_prefect
from piecework.store import campaign_facts, ledger, workers
from piecework.store.settlements import PAID_ALREADY
from tests.markets.prolific.bridge.town import Town, Visitor, a_town

CAMPAIGN = """
name = "visited"
description = "What pictures show, for participants of Prolific."
task = "hit.html"
answers = 2
reward = "£{reward}"
budget = "20.00"
hourly_wage = "1.00"
formats = ["csv"]
[items]
file = "items.csv"
[decisions]
by = "policy"
[[decisions.rule]]
on = "worker"
any_of = ["same_sentence"]
then = "exclude"
because = "{{flagged}} of {{answers}} answers repeat: {{evidence}}."
"""
HIT = """<!doctype html><title>A picture</title>
<img src="${url}" alt="what is to be described">
<form method="post"><input name="caption" required><button>Send</button></form>
"""


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")


def _write(folder: Path, reward: str) -> Path:
    (folder / "hit.html").write_text(HIT)
    rows = "".join(f"p{n},https://example.org/{n}.jpg\n" for n in range(1, 5))
    (folder / "items.csv").write_text("image_id,url\n" + rows)
    path = folder / "visited.toml"
    path.write_text(CAMPAIGN.format(reward=reward))
    return path


def _visit(visitor: Visitor, study: str, words: str) -> None:
    assert visitor.arrive(study).status_code == 201
    while visitor.visit()["stage"] == "Open":
        number = visitor.visit()["answered"]
        visitor.answer(caption=f"{words} lies on table {number} beside a lamp")
    visitor.complete(visitor.submission_id, visitor.visit()["code"])


def _spent(campaign: Path) -> int:
    with open_to_look(load_campaign(campaign)) as looked:
        balances = ledger.balances(looked.store)
    return balances["rewards"] + balances["bonuses"] + balances["fees"]


def _unsettled(campaign: Path) -> int:
    with open_to_look(load_campaign(campaign)) as looked:
        return campaign_facts.read_notes(looked.store).outside_unsettled


def _taken(town: Town) -> int:
    accounts = town.researcher.books()["accounts"]
    return sum(accounts.get(name, 0) for name in ("rewards", "bonuses", "fees", "vat"))


def _campaign_done(town: Town, request: PassRequest) -> Progress:
    """Posted, done by four participants, collected and approved."""
    advance_without_prefect(request)
    town.settle()
    for words in ("A red cup", "A blue bowl", "An old book", "A small clock"):
        _visit(town.visitor(), town.study(), words)
        town.settle()
    return advance_without_prefect(request)


@pytest.mark.parametrize(
    ("reward", "more_a_visit"), [("0.16", 1), pytest.param("0.55", -1, marks=pytest.mark.full)]
)
def test_what_prolific_took_is_in_the_campaigns_ledger(
    tmp_path: Path, reward: str, more_a_visit: int
) -> None:
    """Two HITs of 16p are 44p by the price list and 45p as one visit; of 55p, less."""
    path = _write(tmp_path, reward)
    with a_town(tmp_path) as town:
        request = PassRequest(campaign=path, endpoint=town.market.endpoint, live=False)
        progress = _campaign_done(town, request)
        assert progress.is_finished
        # Nothing is paid at Prolific yet, so the next pass has something to ask.
        listed = _spent(path)
        assert _unsettled(path) == 4
        assert cached_progress(request) is None
        town.settle()
        town.check_books()
        assert _taken(town) == listed + 4 * more_a_visit
        advance_without_prefect(request)
        assert _spent(path) == _taken(town)
        assert _unsettled(path) == 0
        assert cached_progress(request) is not None
        advance_without_prefect(request)
        assert _spent(path) == _taken(town)


def test_who_finishes_and_then_returns_is_not_paid_and_said_to_have_returned(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The campaign approves what came; its participant had returned it at Prolific."""
    caplog.set_level("INFO", "piecework")
    path = _write(tmp_path, "0.16")
    path.write_text(path.read_text().replace("answers = 2", "answers = 1"))
    with a_town(tmp_path) as town:
        request = PassRequest(campaign=path, endpoint=town.market.endpoint, live=False)
        advance_without_prefect(request)
        town.settle()
        ann = town.visitor()
        assert ann.arrive(town.study()).status_code == 201
        while ann.visit()["stage"] == "Open":
            ann.answer(caption=f"A red cup {ann.visit()['answered']}")
        ann.give_back(ann.submission_id)
        town.settle()
        for _ in range(2):
            advance_without_prefect(request)
        assert _spent(path) == _taken(town) == 0
        assert "was not done" not in caplog.text
    shown = CliRunner().invoke(main, ["workers", "list", str(path)])
    assert shown.exit_code == 0, shown.output
    assert (
        "2 assignments: it was rejected outside of this campaign: The participant" in shown.output
    )
    assert "returned the submission" in shown.output
    # Whoever has the marketplace's file finds the participant, for a question to Prolific.
    words = ["workers", "list", str(path), "--names", "--database", str(tmp_path / "market.db")]
    named = CliRunner().invoke(main, words)
    assert f"prolific {ann.participant_id}" in named.output
    assert ann.participant_id not in shown.output


REJECTS = """[[decisions.rule]]
on = "assignment"
any_of = ["same_sentence"]
then = "reject"
because = "{flagged} of {answers} answers repeat: {evidence}."
[heuristics.same_sentence]
min_images = 2
"""


def test_work_that_prolific_paid_though_it_was_rejected_counts_as_paid(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The bridge asks for a return first; the 21 days of Prolific end before it rejects."""
    path = _write(tmp_path, "0.16")
    path.write_text(path.read_text().replace("answers = 2", "answers = 1") + REJECTS)
    with a_town(tmp_path) as town:
        request = PassRequest(campaign=path, endpoint=town.market.endpoint, live=False)
        advance_without_prefect(request)
        town.settle()
        ann = town.visitor()
        assert ann.arrive(town.study()).status_code == 201
        while ann.visit()["stage"] == "Open":
            ann.answer(caption="A red cup lies on a table")
        ann.complete(ann.submission_id, ann.visit()["code"])
        town.settle()
        assert advance_without_prefect(request).rejected == 2
        town.settle()
        town.researcher.wait(days=22)
        town.settle()
        assert town.researcher.submission(ann.submission_id)["status"] == "APPROVED"
        town.check_books()
        for _ in range(2):
            progress = advance_without_prefect(request)
            assert (progress.rejected, _spent(path)) == (0, _taken(town))
        assert "that their market paid all the same: 2" in caplog.text
        with open_to_look(load_campaign(path)) as looked:
            assert ledger.balances(looked.store)["rewards"] == 2 * 16
            [(worker, totals)] = workers.totals(looked.store, paid_already=PAID_ALREADY).items()
        assert (worker, totals.rejected, totals.paid_cents) == (ann.worker_id, 0, 2 * 16)
        status = CliRunner().invoke(
            main, ["market", "prolific", "status", "--database", str(tmp_path / "market.db")]
        )
        sentence = "rejected here, or that sent no answers (£0.45)"
        assert sentence in status.output
        assert [sentence in each.sentence for each in reconcile(town.bridge)] == [True]
        assert "paid the submission" in caplog.text
        town.check_books()
