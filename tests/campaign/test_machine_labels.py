"""Labels and texts of models that a campaign file names: what is read, refused, and weighed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from piecework.campaign import labelled_items
from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.domain.errors import ConfigError
from piecework.engine.run_pass import run_pass
from piecework.postprocess.aggregates import item_aggregates
from piecework.report.sections.other_sources import Machine
from piecework.results.comparing.rules_to_try import stated_settings
from piecework.results.export import export
from piecework.results.item_labels import doubtful
from piecework.results.report_facts import report_facts
from piecework.results.table import answers_table
from tests.as_needed_campaign import AS_NEEDED, VOTES, Voters, write_as_needed
from tests.engine.conftest import Open
from tests.small_campaign import CAMPAIGN, write_campaign

WITH_MODEL = AS_NEEDED.replace("[posting]", '[machine]\nvotes = "model.jsonl"\n[posting]')
LABELS = ("congruent", "congruent", "congruent", "incongruent")


def lines(*labels: str) -> list[str]:
    """A line for each pair, with a probability for the first."""
    rows = [{"item": pair, "label": label} for pair, label in zip(VOTES, labels, strict=True)]
    return [json.dumps(rows[0] | {"probability": 0.9}), *map(json.dumps, rows[1:])]


def write_with_model(folder: Path, text: str = WITH_MODEL) -> Path:
    """The campaign's files, and the labels of a model."""
    (folder / "model.jsonl").write_text("\n".join(lines(*LABELS)))
    return write_as_needed(folder, text)


def test_labels_are_read_with_the_name_of_the_file(tmp_path: Path) -> None:
    """A probability is optional."""
    votes = load_campaign(write_with_model(tmp_path)).machine
    assert [vote.value for vote in votes] == [*LABELS]
    assert {vote.model for vote in votes} == {"model"}
    assert [vote.probability for vote in votes] == [0.9, None, None, None]
    # A separator of lines that JSON allows in a text ends no line.
    text = "\n".join(lines(*LABELS)).replace("{", '{"model": "a\u2028b", ')
    for end in ("\n", "\r\n", "\r"):
        (tmp_path / "model.jsonl").write_text(text, encoding="utf-8", newline=end)
        named = load_campaign(tmp_path / "crash.toml").machine
        labels = [(vote.model, vote.value) for vote in named]
        assert labels == [("a\u2028b", own) for own in LABELS], [end]


def test_the_field_that_is_labelled_may_be_named(tmp_path: Path) -> None:
    """On each line; it has to be one that the task asks for."""
    path = write_with_model(tmp_path)
    plain, labels = load_campaign(path).machine, tmp_path / "model.jsonl"
    named = labels.read_text().replace("{", '{"field": "congruent", ')
    labels.write_text(named)
    assert load_campaign(path).machine == plain
    labels.write_text(named.replace('"congruent", ', '"colour", ', 1))
    with pytest.raises(ConfigError, match=r"model.jsonl:1: 'colour' is not a field .*'congruent'"):
        load_campaign(path)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"item": "p7", "label": "congruent"}', "'p7' is not an item"),
        ('{"item": "p1", "label": "yes"}', "'yes' is not a label of congruent"),
        ('{"item": "p1", "label": "congruent"}', "model labels item 'p1' again"),
        (
            '{"item": "p1", "label": "congruent", "probability": 1.2}',
            "probability is 1.2; it must be from 0 to 1",
        ),
        ('{"item": "p1"}', "each line has item, label"),
        ("p1,congruent", "is not JSON"),
    ],
)
def test_a_line_that_cannot_be_used_is_refused_with_its_number(
    tmp_path: Path, line: str, fault: str
) -> None:
    """The error names the file, the line and what is wrong."""
    path = write_with_model(tmp_path)
    with (tmp_path / "model.jsonl").open("a") as file:
        file.write("\n" + line)
    with pytest.raises(ConfigError) as refused:
        load_campaign(path)
    (sentence,) = refused.value.faults
    assert "model.jsonl:5: " in sentence
    assert fault in sentence


def test_a_missing_file_and_a_constant_model_are_refused(tmp_path: Path) -> None:
    """Both with the line of the key."""
    path = write_with_model(tmp_path)
    (tmp_path / "model.jsonl").write_text("\n".join(lines(*["congruent"] * 4)))
    with pytest.raises(ConfigError, match="gives every item the label 'congruent'"):
        load_campaign(path)
    (tmp_path / "model.jsonl").unlink()
    with pytest.raises(ConfigError, match=r"machine.votes: .*does not exist"):
        load_campaign(path)


def test_the_dataset_and_the_next_question_weigh_the_same_labels(at_work: Open) -> None:
    """The last pair is a tie of people; the model makes it less sure, in both alike."""
    with at_work(WITH_MODEL, write=write_with_model) as (run, people):
        voters = Voters(people.endpoint)
        for _ in range(20):
            waiting_for = run_pass(run).waiting_for
            if waiting_for == "nobody":
                break
            voters.work()
        export(run)
        task, table = run.campaign.task, answers_table(run)
        weighed = item_aggregates(
            table, VOTES, task.fields, task.aggregates, machine=run.campaign.machine
        )
        alone = item_aggregates(table, VOTES, task.fields, task.aggregates)
        stored = dict(run.store.db.execute("SELECT item_id, probability FROM items"))
        probability = weighed["congruent_probability"].to_dict()["p4"]
        assert probability < alone["congruent_probability"].to_dict()["p4"] - 0.02
        assert stored["p4"] == pytest.approx(probability, abs=1e-2)
        facts = report_facts(run).of(Machine)
        certainty = {doubt.item_id: doubt.certainty for doubt in doubtful(run)}
    assert certainty["p4"] == pytest.approx(probability, abs=1e-6)
    assert facts is not None
    (model,) = facts.models
    # People alone tend to call p4 congruent, and four labels of a model do not change that.
    assert (model.items, model.with_people, model.as_people) == (4, 4, 3)
    assert (model.with_final, model.as_final) == (4, 3)
    assert facts.replays is not None
    asked = facts.replays.models.asked
    # p3 has four answers because it is in the HIT of p4, and the replay asks for less.
    assert (asked <= table["item_id"].value_counts().reindex(asked.index)).all()
    assert (asked["p1"], asked["p2"]) == (2, 2)
    assert asked["p4"] > 2


def worked(run: CampaignRun, voters: Voters) -> None:
    """Make passes and let people work, until the campaign is finished."""
    for _ in range(20):
        if run_pass(run).waiting_for == "nobody":
            return
        voters.work()
    pytest.fail("the campaign did not end")


def test_corrected_labels_are_noticed_once_and_weighed_again(
    at_work: Open, caplog: pytest.LogCaptureFixture
) -> None:
    """The estimate of p4 is then that of the new labels; nothing is said otherwise."""
    with at_work(WITH_MODEL, write=write_with_model) as (run, people):
        voters = Voters(people.endpoint)
        worked(run, voters)
        run_pass(run)
        assert "labels of models" not in caplog.text
        before = dict(run.store.db.execute("SELECT item_id, probability FROM items"))
        p1, p2, p3, p4 = run.campaign.machine
        corrected = (*(p1, p2), replace(p3, value="incongruent"), replace(p4, value="congruent"))
        changed = replace(run, campaign=replace(run.campaign, machine=corrected))
        worked(changed, voters)
        assert caplog.text.count("labels of models ([machine]) have changed") == 1
        after = dict(run.store.db.execute("SELECT item_id, probability FROM items"))
        assert after["p4"] != before["p4"]
        assert None not in after.values()
        # The same labels in another order are no change.
        again = replace(run, campaign=replace(run.campaign, machine=corrected[::-1]))
        run_pass(again)
        assert caplog.text.count("have changed") == 1


WITH_TEXTS = CAMPAIGN.replace("[posting]", '[machine]\ntexts = "machine.csv"\n[posting]').replace(
    "like_samples = false\n", ""
)
GOOD = "text,item_id,model\nA dog on a bench,,small\n"


def write(folder: Path, content: str | None, text: str = WITH_TEXTS) -> Path:
    """The campaign's files, and the texts of a model."""
    if content is not None:
        (folder / "machine.csv").write_text(content, "utf-8")
    return write_campaign(folder, text)


def faults(path: Path) -> list[str]:
    """Why the campaign is refused."""
    with pytest.raises(ConfigError) as caught:
        load_campaign(path)
    return list(caught.value.faults)


def test_the_heuristic_gets_the_texts(tmp_path: Path) -> None:
    """Columns that the file lacks are empty."""
    path = write(tmp_path, GOOD)
    own = load_campaign(path).heuristics["like_samples"]
    assert own == {"samples": (("", "small", "A dog on a bench"),)}
    (tmp_path / "machine.csv").write_text("text\nA cat\n", "utf-8")
    own = load_campaign(path).heuristics["like_samples"]
    assert own == {"samples": (("", "", "A cat"),)}


def test_suggested_rules_repeat_what_the_file_states_and_not_the_texts(tmp_path: Path) -> None:
    """The texts stay in the file that `[machine]` names."""
    text = WITH_TEXTS.replace("[heuristics]", "[heuristics]\nlike_samples.flag_from = 0.8")
    campaign = load_campaign(write(tmp_path, GOOD, text))
    assert "samples" in (campaign.heuristics["like_samples"] or {})
    assert stated_settings(campaign)["like_samples"] == {"flag_from": 0.8}


def test_a_heuristic_that_is_off_stays_off(tmp_path: Path) -> None:
    """Naming the file does not switch it on again."""
    text = WITH_TEXTS.replace("[heuristics]", "[heuristics]\nlike_samples = false")
    campaign = load_campaign(write(tmp_path, GOOD, text))
    assert campaign.heuristics["like_samples"] is None


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "machine.csv does not exist"),
        ("", "has no"),
        ("text\n", "has no rows"),
        ("caption\nA dog\nA cat\n", "has no column 'text'; the columns are caption"),
        ("text,item_id\n  ,p1\n", "machine.csv:2: the text is empty"),
        ("text,item_id\nA dog,nowhere\n", "'nowhere' is not an item of the campaign"),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence(
    tmp_path: Path, content: str | None, fault: str
) -> None:
    """With the file and, where there is one, the line."""
    (sentence,) = faults(write(tmp_path, content))
    assert fault in sentence


def test_a_huge_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its size before it is read, and by its rows."""
    path = write(tmp_path, "text\nA dog\nA cat\n")
    monkeypatch.setattr(labelled_items, "MOST_TEXTS", 1)
    (sentence,) = faults(path)
    assert "has 2 texts; at most 1 are read" in sentence
    monkeypatch.setattr(labelled_items, "MOST_BYTES", 1)
    (sentence,) = faults(path)
    assert "has more than 0 megabytes" in sentence


def test_the_table_names_a_file(tmp_path: Path) -> None:
    """An empty table is a mistake."""
    empty = WITH_TEXTS.replace('texts = "machine.csv"\n', "")
    assert "name a file of labels (votes), or of texts" in faults(write(tmp_path, GOOD, empty))[0]
