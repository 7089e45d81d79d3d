"""Items with known answers, mixed in: asked like others, and in no dataset."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.pricing import price
from piecework.cli.check import say_checked
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.domain.ids import AssignmentId, ItemId
from piecework.domain.tables import COLLECTED, task_columns
from piecework.domain.task import MIXED_IN
from piecework.engine.run_pass import run_pass
from piecework.engine.settle import feedback_by_assignment, with_room
from piecework.hit_templates.answers import read_answers
from piecework.report.model import report_model
from piecework.report.page import render_report
from piecework.report.sections import known_answers
from piecework.results.export import export
from piecework.results.item_labels import doubtful
from piecework.results.report_facts import report_facts
from piecework.simulation.rehearsals.checking import check_campaign
from tests.as_needed_campaign import AS_NEEDED, PEOPLE, VOTES, Voters, write_as_needed
from tests.campaign.campaigns import TODAY
from tests.conftest import in_full
from tests.engine.conftest import Open
from tests.qc.tables import row, table

CAMPAIGNS = Path(__file__).parents[2] / "config" / "campaigns"

WITH_GOLD = AS_NEEDED.replace("[posting]", '[gold]\nfile = "gold.csv"\nshare = 0.2\n[posting]')
"""One of five is a fifth: beside four pairs there is one whose answer is known."""


def write_with_gold(folder: Path, text: str = WITH_GOLD, *, rows: str = "") -> Path:
    """The campaign's files, with two pairs of which the first is to be mixed in."""
    (folder / "gold.csv").write_text(
        "pair_id,url,description,gold.congruent\n"
        + (
            rows
            or "p9,https://example.org/p9.jpg,A plate,incongruent\n"
            "p8,https://example.org/p8.jpg,A fork,congruent\n"
        )
    )
    return write_as_needed(folder, text)


def test_gold_is_counted_in_and_kept_apart(tmp_path: Path) -> None:
    """The first of the file is an item like the others, and priced; not the second."""
    campaign = load_campaign(write_with_gold(tmp_path))
    assert sorted(item.item_id for item in campaign.items) == [*VOTES, "p9"]
    assert [item.item_id for item in campaign.own_items] == [*VOTES]
    # Five items, two a HIT, twice: six assignments of 60 cents instead of four.
    assert price(campaign, on=TODAY).plain == 360


@pytest.mark.parametrize(
    ("share", "rows", "fault"),
    [
        ("0.5", "", "a share of 0.5 needs 4 items beside the campaign's 4"),
        ("0.2", "p1,,A plate,congruent\n", "'p1' is already an item of the campaign"),
        ("0.2", "p9,,A plate,\n", "'p9' has no known answer in gold.congruent"),
        ("0.2", "p9,,A plate,maybe\n", "maybe"),
        ("0.6", "", "gold.share: Input should be less than or equal to 0.5"),
    ],
)
def test_gold_that_cannot_be_used_is_refused(
    tmp_path: Path, share: str, rows: str, fault: str
) -> None:
    """Too few, twice the same, no known answer, one that the page does not offer."""
    text = WITH_GOLD.replace("share = 0.2", f"share = {share}")
    rows = rows.replace(",,", ",https://example.org/x.jpg,")
    with pytest.raises(ConfigError) as refused:
        load_campaign(write_with_gold(tmp_path, text, rows=rows))
    assert fault in str(refused.value)


def test_check_says_how_many_are_mixed_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside the number of items, with their share."""
    say_checked(check_campaign(write_with_gold(tmp_path), on=TODAY))
    printed = " ".join(capsys.readouterr().out.split())
    assert "mixed in as gold" in printed
    assert "20% of the items" in printed


def test_who_was_wrong_reads_what_is_right_and_why(tmp_path: Path, at_work: Open) -> None:
    """With the approval, over the wire; nobody else is told, and no page holds it."""
    text = WITH_GOLD.replace("share = 0.2", "share = 0.2\nfeedback = true")
    why = "The picture shows a plate that is broken."

    def write(folder: Path, text: str) -> Path:
        rows = "p9,https://example.org/p9.jpg,A plate,incongruent,"
        path = write_with_gold(folder, text)
        (folder / "gold.csv").write_text(
            f"pair_id,url,description,gold.congruent,gold.because\n{rows}{why}\n"
        )
        return path

    write(tmp_path, text)
    with at_work(text, write=write) as (run, people):
        voters = Voters(people.endpoint)
        while run_pass(run).waiting_for != "nobody":
            voters.work()
        client = run.platform._client
        hits = client.list_hits(MaxResults=100)["HITs"]
        assert not any(why in hit["Question"] for hit in hits)
        feedbacks = [
            (
                assignment["WorkerId"],
                assignment["AssignmentId"],
                assignment.get("RequesterFeedback", ""),
            )
            for hit in hits
            for assignment in client.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
        ]
        pages = []
        for name in PEOPLE:
            with httpx.Client(base_url=people.endpoint) as site:
                people.sign_in(name, site)
                pages.append(site.get("/worker/history").text)
        answers = run.answers()
    of_gold = answers[answers["item_id"] == "p9"]
    wrong = of_gold[of_gold["value.congruent"] == "congruent"]
    ((worker, assignment_id, words),) = [feedback for feedback in feedbacks if feedback[2]]
    assert wrong["worker_id"].tolist() == [worker]
    assert wrong["assignment_id"].tolist() == [assignment_id]
    assert len(of_gold) == 2
    assert re.fullmatch(
        r"The answer to item [12] of this HIT was known in advance\. "
        r'To ".*" you answered "[^"]+"; the known answer is "[^"]+"\. ' + re.escape(why),
        words,
    )
    assert sum(why in page for page in pages) == 1


def test_a_reason_stands_before_what_is_told_and_is_the_last_to_be_cut() -> None:
    """A rejected worker reads why first; what is told of gold takes the room left."""
    assert with_room("", feedback="", longest=20) == ""
    assert with_room("Off topic.", feedback="", longest=20) == "Off topic."
    assert with_room("Off topic.", feedback="Right is no.", longest=23) == (
        "Off topic. Right is no."
    )
    assert with_room("Off topic.", feedback="Right is no.", longest=20) == ("Off topic. Right is…")


@pytest.mark.parametrize("is_swapped", [False, True])
def test_a_worker_is_told_what_was_clicked_whichever_side_came_first(*, is_swapped: bool) -> None:
    """The known answer "#1 much better" is about the columns; a swapped page shows it as #2."""
    campaign = replace(
        load_campaign(CAMPAIGNS / "pairwise.toml"),
        tells_gold=True,
        heuristics={"gold_failed": {"tolerance": 0.0}},
    )
    task, sides = campaign.task, ("generated_1", "generated_2")
    shown = sides[::-1] if is_swapped else sides
    columns = {"pair_id": "p", MIXED_IN: "yes", "gold.mistakes": "1"}
    item = Item(item_id=ItemId("p"), columns=columns)
    sent = {"item.1": "p", "order.sides.1": "|".join(shown), "mistakes.1": "4"}
    (answer,) = read_answers(task, AssignmentId("A"), [item.item_id], sent)
    cells = {f"value.{field.name}": answer.values.get(field.name, "") for field in task.item_fields}
    answers = table(
        row("A.1", assignment_id="A", item_id="p", **cells, **{"order.sides": shown}),
        columns={**COLLECTED, **task_columns(task)},
    )
    (words,) = feedback_by_assignment(campaign, answers, [item]).values()
    right = "#2 much better" if is_swapped else "#1 much better"
    assert f'you answered "#2 slightly better"; the known answer is "{right}".' in words


def _words_about_marks(folder: Path, cells: dict[str, str], own: str, known: str) -> str:
    """What a worker of a campaign that asks for marks is told of an answer to a known item."""
    with (folder / "items.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["item_id", *cells])
        writer.writeheader()
        writer.writerows([{"item_id": name, **cells} for name in "ab"])
    path = folder / "tags.toml"
    path.write_text(
        'task = "tag"\nquestion = "Mark it"\noptions = ["cat", "dog"]\nitems = "items.csv"\n'
        'hourly_wage = "12.00"\n'
    )
    campaign = replace(load_campaign(path), tells_gold=True)
    task = campaign.task
    columns = {"item_id": "a", **cells, MIXED_IN: "yes", "gold.answer": known}
    item = Item(item_id=ItemId("a"), columns=columns)
    answers = table(
        row("A.1", assignment_id="A", item_id="a", **{"value.answer": own}),
        columns={**COLLECTED, **task_columns(task)},
    )
    (words,) = feedback_by_assignment(campaign, answers, [item]).values()
    return words.partition("you answered ")[2]


def test_a_worker_is_told_what_marks_differ_in(tmp_path: Path) -> None:
    """Boxes with the same labels in other places; the words of spans, which have places."""

    def boxes(*places: int) -> str:
        sizes = {"top": 0, "width": 9, "height": 9}
        return json.dumps({"boundingBoxes": [{"label": "cat", "left": x, **sizes} for x in places]})

    def spans(*ends: tuple[int, int]) -> str:
        named = [{"label": "cat", "startOffset": low, "endOffset": high} for low, high in ends]
        return json.dumps({"entities": named})

    picture = {"photo": "https://e.org/a.png"}
    assert _words_about_marks(tmp_path, picture, boxes(0), boxes(50)) == (
        '"1 box: cat"; the known answer is "1 box: cat". '
        "0 of 1 known mark was found; 1 of your marks matches none."
    )
    assert _words_about_marks(tmp_path, picture, boxes(0), boxes(0, 50, 90)) == (
        '"1 box: cat"; the known answer is "3 boxes: cat (3)". 1 of 3 known marks was found.'
    )
    text = {"text": "Tom saw Kitty."}
    assert _words_about_marks(tmp_path, text, spans((0, 3)), spans((8, 13))) == (
        '"cat: Tom"; the known answer is "cat: Kitty". '
        "0 of 1 known mark was found; 1 of your marks matches none."
    )
    assert _words_about_marks(tmp_path, text, spans(), spans((0, 3), (8, 13))) == (
        '"no spans"; the known answer is "cat: Tom; cat: Kitty".'
    )


def test_gold_is_asked_once_of_a_worker_and_is_in_no_dataset(tmp_path: Path, at_work: Open) -> None:
    """Two answers about it and no third, whatever they say: its answer is known."""
    write_with_gold(tmp_path)
    with at_work(WITH_GOLD, write=write_with_gold) as (run, people):
        voters = Voters(people.endpoint)
        while run_pass(run).waiting_for != "nobody":
            voters.work()
        store = run.store.db
        asked = "SELECT count(*), count(DISTINCT worker_id) FROM answers JOIN "
        asked += "assignments USING (assignment_id) WHERE item_id = 'p9'"
        assert store.execute(asked).fetchone() == (2, 2)
        paid = store.execute("SELECT DISTINCT verdict, outcome FROM assignments")
        assert [verdict for verdict, _ in paid.fetchall()] == ["approve"]
        facts = report_facts(run)
        export(run)
        assert "p9" not in {item.item_id for item in doubtful(run)}
    gold = facts.of(known_answers.Gold)
    assert gold is not None
    assert (gold.items, gold.mixed_in) == (1, 1)
    # One said what is known, the other did not; of one answer each nothing is said.
    assert gold.scores["met"].tolist() == [1, 1]
    assert sorted(gold.scores["right"].tolist()) == [0, 1]
    assert "no worker has answered 4 items" in facts.silent["gold_failed"]
    section = known_answers.gold_section(report_model(facts))
    assert section is not None
    assert "the known answer in 1 of 2 answers" in section.lead[0]
    assert "2 of 2 workers (100.0 %) answered fewer than 4" in section.lead[1]
    assert [row[-1] for row in section.tables[0].rows] == ["too few", "too few"]
    assert facts.as_needed is not None
    assert len(facts.as_needed.sureness) == 4
    assert "Items with known answers" in render_report(facts)
    folder = run.campaign.out / "dataset"
    for name in ("answers.csv", "set_aside.csv", "items.csv"):
        with (folder / name).open(newline="", encoding="utf-8") as file:
            assert "p9" not in {row["item_id"] for row in csv.DictReader(file)}
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "1 more with a known answer" in card


@pytest.mark.parametrize("n_known", [0, 3, *in_full(1)])
def test_known_answers_that_are_wrong_refuse_nobody_pay_while_they_are_few(
    at_work: Open, n_known: int
) -> None:
    """Everybody contradicts them; of three nothing is said of a worker, but of them."""
    text = AS_NEEDED.replace("{ least = 2, most = 4, until = 0.86 }", "3").replace(
        "[[decisions.rule]]",
        '[[decisions.rule]]\non = "assignment"\nany_of = ["gold_failed"]\n'
        'then = "reject"\nbecause = "Not approved: {evidence}."\n[[decisions.rule]]',
        1,
    )

    def write(folder: Path, text: str) -> Path:
        path = write_as_needed(folder, text)
        (folder / "items.csv").write_text(
            "pair_id,url,description,gold.congruent\n"
            + "".join(
                f"{name},https://example.org/{name}.jpg,A cup {name},"
                + ("incongruent\n" if n < n_known else "\n")
                for n, name in enumerate(VOTES)
            )
        )
        return path

    with at_work(text, write=write) as (run, people):
        voters = Voters(people.endpoint, dict.fromkeys(VOTES, "yyyy"))
        run_pass(run)
        voters.work()
        reached = run_pass(run)
        facts = report_facts(run)
        verdicts = run.store.db.execute("SELECT DISTINCT verdict FROM answers")
        assert verdicts.fetchall() == [("keep",)]
    assert reached.rejected == 0
    section = known_answers.gold_section(report_model(facts))
    if n_known == 0:
        assert section is None
        assert facts.silent["gold_failed"] == "no item has a known answer"
        return
    assert section is not None
    assert "no worker has answered 4 items" in facts.silent["gold_failed"]
    assert f"gave the known answer in 0 of {3 * n_known} answers" in section.lead[0]
    assert f"Most workers contradict {n_known} known answer" in section.lead[1]
    assert {row[-1] for row in section.tables[0].rows} == {"too few"}
    assert len(section.tables[1].rows) == n_known
    render_report(facts)
