"""What a change of a live campaign means is said before the next pass, and is true."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.campaign.assembling import load_campaign
from piecework.campaign.deriving import complete_text
from piecework.campaign.live_changes import Means, live_changes, means, refusal_of_changes
from piecework.cli.main import main
from piecework.domain.errors import RefusedForSafety, StoreError
from piecework.domain.inputs import CAMPAIGN_FILE, CODE, ONLY_WRITING, Inputs
from piecework.engine.opening import open_on_marketplace
from piecework.engine.run_pass import run_pass
from piecework.store import campaign_facts
from tests.engine.conftest import Open
from tests.small_campaign import CAMPAIGN
from tests.test_promises import keys_of_the_schema

CHANGES = {
    "budget": (('budget = "', 'budget = "1'), Means.FREE),
    "formats": (('formats = ["csv"]', 'formats = ["vizwiz_json"]'), Means.FREE),
    "heuristic": (("min_images = 2", "min_images = 3"), Means.FREE),
    "dataset": (("# the end", "[dataset]\nsplits = [80, 10, 10]\n# the end"), Means.FREE),
    "reward": (('reward = "0.50"', 'reward = "0.60"'), Means.NEW_HITS),
    "title": (("[posting]", '[posting]\ntitle = "Birds"'), Means.NEW_HITS),
    "countries": (("# the end", '[requirements]\ncountries = ["FR"]\n# the end'), Means.NEW_HITS),
    "batches": (("batches = 2", "batches = 1"), Means.BOUND),
    "assignments": (("answers = 2", "answers = 3"), Means.BOUND),
    "items_per_hit": (("items_per_hit = 2", "items_per_hit = 1"), Means.BOUND),
    "task": (('task = "caption"', 'task = "hodosh_caption"'), Means.BOUND),
}


def test_every_key_of_the_schema_has_a_meaning() -> None:
    """A key that is added says what a change of it means while people work."""
    unknown = []
    of_machine = {"output.folder", "store.url"}
    for key in keys_of_the_schema() - of_machine:
        try:
            means(key)
        except StopIteration:
            unknown.append(key)
    assert unknown == []


def test_a_pass_refuses_exactly_what_is_said_to_be_bound(at_work: Open) -> None:
    """Each change by itself, on HITs that are posted."""
    with at_work() as (run, _):
        run_pass(run)
        path = run.campaign.path
        for name, ((before, after), kind) in CHANGES.items():
            assert CAMPAIGN.count(before) == 1, before
            path.write_text(CAMPAIGN.replace(before, after))
            changed = load_campaign(path)
            changes = live_changes(run.store, changed)
            assert {each.means for each in changes} == {kind}, name
            refused = refusal_of_changes(run.store, changed)
            assert (refused is not None) == (kind is Means.BOUND), name
        # Rows of the items file, by their ids and by their cells.
        path.write_text(CAMPAIGN)
        items = path.with_name("items.csv")
        written = items.read_text()
        for text in (written + "new,https://a.org/new.jpg\n", written.replace("jpg", "png", 1)):
            items.write_text(text)
            (change,) = live_changes(run.store, load_campaign(path))
            assert (change.key, change.means) == ("items.file: items.csv", Means.BOUND)
            refused = refusal_of_changes(run.store, load_campaign(path))
            assert refused is not None
            assert "item" in str(refused.next_step)


ASKED = """task = "choose"
question = "Is it a bird?"
options = ["yes", "no"]
answers = { least = 2, most = 4, until = 0.9 }"""


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("most = 4", "most = 5", Means.FREE),
        ("until = 0.9", "until = 0.8", Means.FREE),
        ("{ least = 2, most = 4, until = 0.9 }", "2", Means.FREE),
        ("{ least = 2, most = 4, until = 0.9 }", "3", Means.BOUND),
        ("least = 2", "least = 3", Means.BOUND),
        ('task = "choose"', 'language = "he"\ntask = "choose"', Means.BOUND),
        ("a bird", "an owl", Means.BOUND),
    ],
)
def test_a_pass_takes_what_is_said_of_a_question_in_the_file(
    at_work: Open, before: str, after: str, kind: Means
) -> None:
    """How many answers more an item may get is free; its language is part of the question."""
    text = CAMPAIGN.replace("answers = 2\n", "").replace('task = "caption"', ASKED)
    with at_work(text) as (run, _):
        run_pass(run)
        run.campaign.path.write_text(text.replace(before, after))
        changed = load_campaign(run.campaign.path)
        changes = live_changes(run.store, changed)
        assert kind in {each.means for each in changes}
        is_bound = Means.BOUND in {each.means for each in changes}
        assert is_bound == (kind is Means.BOUND)
        assert (refusal_of_changes(run.store, changed) is not None) == is_bound


def test_the_complete_file_in_place_of_the_short_one_is_no_change(at_work: Open) -> None:
    """What was derived is then stated, and the next pass goes on; so it is back again."""
    short = CAMPAIGN
    for line in ('name = "crash"\n', "batches = 2\n", 'hourly_wage = "5.00"\n'):
        short = short.replace(line, "")
    with at_work(short) as (run, _):
        run_pass(run)
        path = run.campaign.path
        for text in (complete_text(load_campaign(path)), short):
            path.write_text(text)
            stated = load_campaign(path)
            assert [each.key for each in live_changes(run.store, stated)] == [ONLY_WRITING]
            assert refusal_of_changes(run.store, stated) is None
            run_pass(replace(run, campaign=stated))
            path.write_text(complete_text(stated).replace("batches = 1", "batches = 2"))
            (change,) = live_changes(run.store, load_campaign(path))
            assert str(change) == "batches was 1 and is 2"
            assert change.means is Means.BOUND


def test_a_derived_reward_is_named_before_and_after(at_work: Open) -> None:
    """Of another wage, and of a reward that the file states from now on."""
    short = CAMPAIGN.replace('reward = "0.50"', "minutes = 6")
    with at_work(short) as (run, _):
        run_pass(run)
        path = run.campaign.path
        for line, becomes, named in (
            ('hourly_wage = "5.00"', 'hourly_wage = "6.00"', 'reward was "0.50" and is "0.60"'),
            ("minutes = 6", 'minutes = 6\nreward = "0.70"', 'reward was "0.50" and is "0.70"'),
            ("minutes = 6", 'minutes = 6\nreward = "0.50"', ""),
        ):
            path.write_text(short.replace(line, becomes))
            changes = live_changes(run.store, load_campaign(path))
            rewards = [str(each) for each in changes if each.key == "reward"]
            assert rewards == [named][: bool(named)]


def test_check_and_run_say_it_first(at_work: Open) -> None:
    """Old and new value, what it means, and what to do; `check` fails if it is refused."""
    with at_work() as (run, _):
        run_pass(run)
        path = run.campaign.path
        path.write_text(CAMPAIGN.replace('reward = "0.50"', 'reward = "0.60"'))
        shown = CliRunner().invoke(main, ["check", str(path)])
        assert shown.exit_code == 0, shown.output
        assert "changed since the last pass, for new HITs" in shown.stdout
        assert 'reward was "0.50" and is "0.60"' in shown.stdout
        # Two HITs of $1.20 each would be $0.24 now; one is held at its price.
        cheap = CAMPAIGN.replace('reward = "0.50"', 'reward = "0.05"')
        path.write_text(cheap.replace('budget = "20.00"', 'budget = "1.00"'))
        shown = CliRunner().invoke(main, ["check", str(path)])
        assert "budget is $1.00, and $1.20 is spent or held already" in shown.stdout
        path.write_text(CAMPAIGN.replace("answers = 2", "answers = 3"))
        shown = CliRunner().invoke(main, ["check", str(path)])
        assert shown.exit_code == 1
        assert "answers was 2 and is 3" in shown.stdout
        assert "next: write answers = 2 again" in shown.stderr
        document = CliRunner().invoke(main, ["check", str(path), "--json"])
        assert document.exit_code == 1
        assert [each["means"] for each in json.loads(document.stdout)["changes"]] == ["bound"]


def test_a_renamed_campaign_finds_its_store_and_posts_nothing_again(at_work: Open) -> None:
    """Only the name differs; with another reward it is other work."""
    with at_work() as (run, _):
        run_pass(run)
        path, endpoint = run.campaign.path, run.endpoint
        path.write_text(CAMPAIGN.replace('name = "crash"', 'name = "birds"'))
        renamed = load_campaign(path)
        with (
            pytest.raises(RefusedForSafety, match="begun as 'crash'") as refused,
            open_on_marketplace(renamed, endpoint, live=False),
        ):
            pass
        assert 'write name = "crash" again' in refused.value.next_step
        # A file of another name with the same name inside is the same campaign.
        moved = path.with_name("moved.toml")
        moved.write_text(CAMPAIGN)
        assert load_campaign(moved).store == run.campaign.store
        # While a file still has the old name, this is a second campaign, as somebody wants it.
        moved.unlink()
        with pytest.raises(RefusedForSafety), open_on_marketplace(renamed, endpoint, live=False):
            pass
        moved.write_text(CAMPAIGN)
        with open_on_marketplace(renamed, endpoint, live=False) as second:
            assert second.store.address != run.store.address
        moved.unlink()
        path.write_text(CAMPAIGN.replace('"crash"', '"robins"').replace('"0.50"', '"0.60"'))
        with open_on_marketplace(load_campaign(path), endpoint, live=False) as other:
            assert run_pass(other).hits_posted


def test_the_same_file_by_another_name_is_no_second_campaign(at_work: Open) -> None:
    """A link, or a name in other letters where a disk takes both, leads to the same file."""
    with at_work() as (run, _):
        run_pass(run)
        path, endpoint = run.campaign.path, run.endpoint
        path.write_text(CAMPAIGN.replace('name = "crash"\n', ""))
        again = path.with_name("Crash.toml")
        again.symlink_to(path)
        assert load_campaign(path).store == run.campaign.store
        with (
            pytest.raises(RefusedForSafety, match="begun as 'crash'"),
            open_on_marketplace(load_campaign(again), endpoint, live=False),
        ):
            pass


def test_a_rehearsal_and_a_new_campaign_have_no_live_changes(tmp_path: Path) -> None:
    """There is nothing to compare with, and `check` says nothing."""
    path = tmp_path / "crash.toml"
    path.write_text(CAMPAIGN)
    rows = "".join(f"p{n},https://a.org/{n}.jpg\n" for n in range(4))
    (tmp_path / "items.csv").write_text(f"image_id,url\n{rows}")
    shown = CliRunner().invoke(main, ["check", str(path), "--json"])
    assert json.loads(shown.stdout)["changes"] == []


@pytest.mark.parametrize(
    ("was", "key"),
    [
        ('reward = "0.50"', "rewards.reward"),
        ("items_per_hit = 2", "posting.batches"),
        ("# the end", "output"),
    ],
)
def test_a_store_of_an_earlier_format_of_the_file_is_refused(
    at_work: Open, was: str, key: str
) -> None:
    """It keeps keys that are unknown now; what they said must not be forgotten in silence."""
    table = key.partition(".")[0]
    old = {"rewards": f"[rewards]\n{was}\n", "output": '[output]\nfolder = "a"\n'}
    earlier = CAMPAIGN.replace(was, f"{was}\nbatches = 2" if table == "posting" else "")
    earlier += old.get(table, "")
    with at_work() as (run, _):
        run_pass(run)
        path, endpoint = run.campaign.path, run.endpoint
        inputs = Inputs(text=earlier, digests={CAMPAIGN_FILE: "1", CODE: "piecework 0.0.9"})
        campaign_facts.record_inputs(run.store, inputs, completed=str, at=run.clock.now())
    campaign = load_campaign(path)
    words = f"the key {table if table != 'posting' else key}"
    with (
        pytest.raises(StoreError, match=f"an earlier version of piecework made it: .*{words}"),
        open_on_marketplace(campaign, endpoint, live=False),
    ):
        pass
    shown = CliRunner().invoke(main, ["status", str(path)])
    assert shown.exit_code == 1
    assert "finish the campaign with piecework 0.0.9" in " ".join(shown.output.split())
