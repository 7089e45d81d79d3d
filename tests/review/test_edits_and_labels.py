"""Words that people speak of, and labels that they settle, up to the dataset."""

import csv
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.verdicts import Decision
from piecework.engine.opening import open_for_import
from piecework.results.cleaning import clean_answers
from piecework.results.export import export
from piecework.results.item_labels import doubtful, item_labels
from piecework.store import decisions, results
from piecework.store.results import mark_of
from tests.browser.pages import violations
from tests.importing.test_importing import done
from tests.review import stores
from tests.review.conftest import served
from tests.small_campaign import CAMPAIGN

TYPOS = (
    "A red skatebaord stands on a wooden table beside a window",
    "The old wooden skatebaord lies beside a tabel in the garden",
    "A white cup on a tabel of wood beside an open window frame",
    "Two blue cups and a spoon on the grass beside a wide river",
)


def _keep_all(opened: OpenedCampaign) -> None:
    with opened.store.db.atomic():
        decisions.overrule(
            opened.store,
            [
                Decision(
                    subject_kind="answer",
                    subject_id=str(answer_id),
                    verdict="keep",
                    decided_by="ada",
                    decided_at=stores.MONDAY,
                    because="so",
                )
                for answer_id in opened.answers().index
            ],
        )


def _rows(opened: OpenedCampaign, name: str) -> list[dict[str, str]]:
    with (opened.campaign.out / "dataset" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def _token(client: httpx.Client, path: str) -> dict[str, str]:
    text = client.get(path).text
    token = text.partition('name="form_token" value="')[2].partition('"')[0]
    return {"form_token": token}


def _seen(client: httpx.Client, path: str, word: str) -> dict[str, str]:
    """What a form about a word or a field sends of the decision that the page shows."""
    around = client.get(path).text.rpartition(f'value="{word}">')[2]
    return {"word": word, "seen": around.partition('name="seen" value="')[2].partition('"')[0]}


def test_cleaning_follows_what_people_say_of_words(tmp_path: Path) -> None:
    """One word is right here, one typed anew; the dataset says so, and the page."""
    with (
        stores.opened(tmp_path, workers=2, texts=TYPOS) as run,
        served(run) as page,
        page.client() as ada,
    ):
        _keep_all(run)
        token = _token(ada, "/words")
        ada.post("/words/find", data=token)
        text = ada.get("/words").text
        assert "skatebaord" in text
        assert "skateboard" in text
        assert "2 words that cleaning would change" in text
        for form in (
            {"word": "skatebaord", "what": "right"},
            {"word": "tabel", "what": "type", "typed": "counter"},
        ):
            ada.post("/words", data={**token, **form})
        assert "No word waits" in ada.get("/words").text
        clean_answers(run)
        export(run)
        captions = [row["caption"] for row in _rows(run, "captions.csv")]
        assert captions.count("A white cup on a counter of wood beside an open window "
                              "frame") == 2  # fmt: skip
        assert any("skatebaord" in caption for caption in captions)
        assert not any("skateboard" in caption for caption in captions)
        # Asked again, cleaning proposes as before.
        ada.post("/words", data={**token, **_seen(ada, "/words", "skatebaord"), "what": "again"})
        ada.post("/words/find", data=token)
        assert "1 word that cleaning would change" in ada.get("/words").text


@pytest.mark.parametrize(
    "form",
    [
        {"word": "tabel", "what": "type", "typed": "  "},
        {"word": "tabel", "what": "type", "typed": "x" * 61},
        {"word": "tabel", "what": "type", "typed": "bell\x07"},
        {"word": "window", "what": "right"},
        {"word": "tabel", "what": "burn"},
    ],
    ids=lambda form: form["what"] + form.get("typed", "")[:2],
)
def test_what_is_no_word_is_refused(tmp_path: Path, form: dict[str, str]) -> None:
    """And the page says why; nothing is stored."""
    with (
        stores.opened(tmp_path, workers=1, texts=TYPOS) as run,
        served(run) as page,
        page.client() as ada,
    ):
        clean_answers(run)
        reply = ada.post("/words", data={**_token(ada, "/words"), **form}, follow_redirects=True)
        assert "Not stored" in reply.text
        assert "2 words that cleaning would change" in reply.text


def _congruent(worker: int, item: int) -> dict[str, str]:
    """Item 0: a tie of two (the third says nothing known); item 1: 2 to 1; 2: all."""
    votes = {0: ("congruent", "incongruent", "?"), 1: ("congruent",) * 2}
    of_item = (*votes.get(item, ()), *("incongruent",) * 3)
    return {"congruent": of_item[worker]}


_CONGRUENCY = CAMPAIGN.replace('task = "caption"', 'task = "congruency"').replace(
    "answers = 2", "answers = 3"
)


def test_nobody_overwrites_another_s_word(tmp_path: Path) -> None:
    """Who looked before sees what was decided; only a requester changes it."""
    with (
        stores.opened(tmp_path, workers=1, texts=TYPOS) as run,
        served(run, "ada", "grace", "rosa", roles={"rosa": "requester"}) as page,
        page.client() as ada,
        page.client("grace") as grace,
        page.client("rosa") as rosa,
    ):
        clean_answers(run)
        early = _token(grace, "/words") | _seen(grace, "/words", "tabel")
        own = _token(ada, "/words") | _seen(ada, "/words", "tabel")
        ada.post("/words", data={**own, "what": "type", "typed": "counter"})
        late = grace.post("/words", data={**early, "what": "right"})
        assert late.status_code == 409
        assert "ada has decided meanwhile that tabel means counter" in late.text
        assert "Ask again" not in late.text
        for what in ("right", "again"):
            form = early | {"seen": mark_of(results.load_words(run.store)["tabel"])}
            refused = grace.post("/words", data={**form, "what": what}, follow_redirects=True)
            assert "ada decided it; a requester can change it" in refused.text
        assert results.load_words(run.store)["tabel"].meant == "counter"
        form = _token(rosa, "/words") | _seen(rosa, "/words", "tabel")
        rosa.post("/words", data={**form, "what": "again"})
        assert "tabel" not in results.load_words(run.store)
        # What she saw is gone, so nothing is stored either.
        again = rosa.post("/words", data={**form, "what": "right"})
        assert (again.status_code, "reopened meanwhile" in again.text) == (409, True)


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
def test_everybody_can_settle_a_label(
    tmp_path: Path, open_page: Callable[..., Page], width: int
) -> None:
    """The list, the label before and after, and the page of a refusal."""
    with (
        stores.opened(tmp_path, workers=3, items=4, campaign=_CONGRUENCY, values=_congruent) as run,
        served(run) as started,
    ):
        _keep_all(run)
        page = open_page(started.links["ada"], width=width, height=844)
        page.wait_for_url(f"{started.url}/")
        page.goto(f"{started.url}/labels")
        assert violations(page) == []
        page.get_by_role("link", name="p1").click()
        assert violations(page) == []
        page.get_by_role("button", name="2").click()
        page.wait_for_url("**/label?item=p2**")
        page.goto(f"{started.url}/label?item=p1&field=congruent")
        expect(page.get_by_text("Settled as")).to_be_visible()
        assert violations(page) == []
        for path in ("/labels", "/label?item=none&field=congruent", "/nowhere"):
            page.goto(f"{started.url}{path}")
            assert violations(page) == [], path


def test_a_label_that_a_person_settles_is_the_datasets(tmp_path: Path) -> None:
    """The tie comes first, then two of three; the votes stay as they were."""
    with (
        stores.opened(tmp_path, workers=3, items=4, campaign=_CONGRUENCY, values=_congruent) as run,
        served(run) as page,
        page.client() as ada,
    ):
        _keep_all(run)
        first, second = doubtful(run)
        assert (first.item_id, second.item_id) == ("p1", "p2")
        assert 0.45 < first.certainty < second.certainty < 1
        assert "2 labels" in ada.get("/labels").text
        card = ada.get("/label", params={"item": "p1", "field": "congruent"})
        assert "A red house." in card.text
        form = {"item": "p1", "field": "congruent"}
        form |= _token(ada, "/label?item=p1&field=congruent")
        bad = ada.post("/label", data={**form, "value": "x"}, follow_redirects=True)
        assert "is not a label" in bad.text
        done = ada.post("/label", data={**form, "value": "incongruent"})
        assert done.headers["location"] == "/label?item=p2&field=congruent"
        export(run)
        labels = {row["item_id"]: row for row in _rows(run, "items.csv")}
        # The third worker's "?" about p1 is no vote, there and here.
        for doubt in (first, second):
            published = float(labels[doubt.item_id]["congruent_probability"])
            assert doubt.certainty == pytest.approx(published, abs=1e-6)
        assert labels["p1"]["congruent"] == "incongruent"
        assert json.loads(labels["p1"]["congruent_settled_by_person"].lower()) is True
        assert json.loads(labels["p2"]["congruent_settled_by_person"].lower()) is False
        assert labels["p1"]["congruent_votes_congruent"] == "1"
        assert labels["p2"]["congruent"] == "congruent"
        card_page = (run.campaign.out / "dataset" / "README.md").read_text()
        assert "A person settled 1 of these labels" in card_page
        seen = _seen(ada, "/label?item=p1&field=congruent", "congruent")
        ada.post("/label", data={**form, **seen, "what": "again"})
        assert doubtful(run)[0].item_id == "p1"


@pytest.mark.parametrize("is_opinion", [False, True])
def test_programs_get_the_majority_also_of_opinions(tmp_path: Path, *, is_opinion: bool) -> None:
    """An opinion has no probability; a tie has no label."""
    with stores.opened(
        tmp_path, workers=3, items=4, campaign=_CONGRUENCY, values=_congruent
    ) as run:
        _keep_all(run)
        task = run.campaign.task
        (field,) = (each for each in task.fields if each.name == "congruent")
        asked = replace(field, is_opinion=is_opinion)
        fields = tuple(asked if each is field else each for each in task.fields)
        campaign = replace(run.campaign, task=replace(task, fields=fields))
        item_ids = [item.item_id for item in campaign.items]
        labels = item_labels(replace(run, campaign=campaign), asked, item_ids)
    assert [labels[item_id].label for item_id in item_ids[1:3]] == ["congruent", "incongruent"]
    assert [math.isnan(label.probability) for label in labels.values()] == [is_opinion] * 4
    if is_opinion:
        assert labels[item_ids[0]].label == ""


def test_nobody_overwrites_another_s_label(tmp_path: Path) -> None:
    """Who looked before sees what was settled; only a requester changes it."""
    with (
        stores.opened(tmp_path, workers=3, items=4, campaign=_CONGRUENCY, values=_congruent) as run,
        served(run, "ada", "grace", "rosa", roles={"rosa": "requester"}) as page,
        page.client() as ada,
        page.client("grace") as grace,
        page.client("rosa") as rosa,
    ):
        _keep_all(run)
        path = "/label?item=p1&field=congruent"

        def form_of(client: httpx.Client) -> dict[str, str]:
            seen = _seen(client, path, "congruent")["seen"]
            return _token(client, path) | {"item": "p1", "field": "congruent", "seen": seen}

        early = form_of(grace)
        ada.post("/label", data={**form_of(ada), "value": "incongruent"})
        late = grace.post("/label", data={**early, "value": "congruent"})
        assert late.status_code == 409
        assert "ada has settled it as incongruent meanwhile" in late.text
        assert "Reopen" not in late.text
        form = early | {"seen": mark_of(results.load_labels(run.store)["p1", "congruent"])}
        for change in ({"value": "congruent"}, {"what": "again"}):
            refused = grace.post("/label", data={**form, **change}, follow_redirects=True)
            assert "ada decided it; a requester can change it" in refused.text
        assert results.load_labels(run.store)["p1", "congruent"].value == "incongruent"
        # Whoever settled it may think again, and so may a requester.
        ada.post("/label", data={**form_of(ada), "value": "congruent"})
        assert results.load_labels(run.store)["p1", "congruent"].value == "congruent"
        rosa.post("/label", data={**form_of(rosa), "what": "again"})
        assert not results.load_labels(run.store)


def test_who_said_it_orders_the_labels(tmp_path: Path) -> None:
    """Two of three say yes about both items; by heads, `a` would come first.

    About `a` it is two who are right about all else; about `z` it is two who are
    wrong every other time, against one who is not.
    """
    rows = ["item,worker,label"]
    for number in range(24):
        truth, other = ("yes", "no") if number % 2 else ("no", "yes")
        guess = truth if number % 4 < 2 else other
        rows += [f"i{number},{name},{truth}" for name in ("able", "apt", "adept")]
        rows += [f"i{number},{name},{guess}" for name in ("poor", "bad")]
    rows += ["a,able,yes", "a,apt,yes", "a,poor,no"]
    rows += ["z,poor,yes", "z,bad,yes", "z,able,no"]
    answers_path, columns_path = tmp_path / "said.csv", tmp_path / "columns.toml"
    answers_path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    columns_path.write_text(
        'item = ["item"]\nitem_id = "item"\nanswers = { label = "label" }\n'
        '[columns]\nworker = "worker"\n',
        encoding="utf-8",
    )
    campaign = tmp_path / "said.toml"
    done("data", "import", answers_path, "--columns", columns_path, "--as", campaign)
    with open_for_import(load_campaign(campaign)) as opened:
        _keep_all(opened)
        by_item = {item.item_id: item for item in doubtful(opened)}
    order = [item for item in by_item if item in {"a", "z"}]
    assert order == ["z", "a"]
    assert by_item["z"].votes == by_item["a"].votes
    assert by_item["z"].certainty < by_item["a"].certainty
