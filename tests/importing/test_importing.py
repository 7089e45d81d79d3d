"""Results of another tool as a campaign: brought in once, judged, and never paid."""

import json
import re
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from piecework.campaign.assembling import load_campaign
from piecework.cli.main import main
from piecework.domain.assignment import typing_record
from piecework.domain.column_names import MEASURES
from piecework.engine.opening import open_to_look
from piecework.engine.progress import read_progress
from piecework.importing.readers.potato import STATE_FILE
from piecework.store import imports
from tests.conftest import in_full
from tests.importing.batches import row, stances, write
from tests.importing.test_potato import kept
from tests.review.conftest import served
from tests.typing_records import record


def piecework(*words: object) -> Result:
    """A command's result; what fails says so here."""
    return CliRunner().invoke(main, [str(word) for word in words])


def done(*words: object) -> str:
    """What a command prints that succeeds."""
    result = piecework(*words)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """A campaign of three assignments about two items each."""
    batch = write(tmp_path / "batch.csv", stances())
    done("data", "import", batch, "--as", tmp_path / "stance.toml")
    return tmp_path / "stance.toml"


def answers(campaign: Path) -> pd.DataFrame:
    """The table of answers of a campaign."""
    with open_to_look(load_campaign(campaign)) as opened:
        return opened.answers()


def accepted(campaign: Path) -> int:
    """How many answers count."""
    with open_to_look(load_campaign(campaign)) as opened:
        return read_progress(opened).accepted


def test_a_batch_becomes_answers_about_its_items(campaign: Path) -> None:
    """Numbered columns are items, the rest is asked once; times are UTC."""
    table = answers(campaign)
    assert len(table) == 6
    assert table["item_id"].nunique() == 2
    first = table.loc["ASSIGNMENT1.1"]
    assert (first["value.stance"], first["hit.note"]) == ("yes", "fine")
    assert first["submitted_at"] == pd.Timestamp("2017-04-03T15:01:00Z")
    assert first["market_seconds"] == 30  # 60 seconds for two items
    assert first["problems"] == ()
    # `{}` is how MTurk writes what was left empty; hardly required, as half lack it.
    assert table.loc["ASSIGNMENT3.2", "value.stance"] == ""


def test_what_was_understood_is_shown_and_nothing_written(tmp_path: Path) -> None:
    """`--dry-run` tells items, fields and what was decided there."""
    batch = write(tmp_path / "batch.csv", stances(status="Approved"))
    printed = done("data", "import", batch, "--as", tmp_path / "stance.toml", "--dry-run")
    for words in ("6 answers about 2 items", "answer: choice", "3 Approved"):
        assert words in printed
    assert [path.name for path in tmp_path.iterdir()] == ["batch.csv"]


def test_a_file_with_any_name_gets_a_plain_one_of_its_own(tmp_path: Path) -> None:
    """Stated in the file, so that a later file beside it changes nothing."""
    batch = write(tmp_path / "batch.csv", stances())
    files = [tmp_path / "My Stance.toml", tmp_path / "My (stance).toml"]
    for file in files:
        done("data", "import", batch, "--as", file)
    assert [load_campaign(file).name for file in files] == ["my-stance", "my-stance-2"]


def test_a_plain_name_has_no_results_where_the_machine_keeps_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A campaign of another folder may have its store there."""
    machine = tmp_path / "etc/lab.toml"
    machine.parent.mkdir()
    machine.write_text('[output]\nfolder = "all"\n')
    monkeypatch.setenv("PIECEWORK_CONFIG", str(machine))
    batch = write(tmp_path / "batch.csv", stances())
    for stem, plain in {"My Stance": "my-stance", "stance": "stance"}.items():
        files = [tmp_path / f"{folder}/{stem}.toml" for folder in "ab"]
        for file in files:
            done("data", "import", batch, "--as", file)
        assert [load_campaign(file).name for file in files] == [plain, f"{plain}-2"]


def test_a_table_that_is_only_looked_at_leaves_nothing_where_the_machine_keeps_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers are a person's, and a campaign there may have the file's name."""
    machine = tmp_path / "lab.toml"
    machine.write_text('[output]\nfolder = "all"\n')
    monkeypatch.setenv("PIECEWORK_CONFIG", str(machine))
    batch = write(tmp_path / "batch.csv", stances())
    done("data", "assess", batch)
    assert not (tmp_path / "all").exists()
    machine.write_text('[store]\nurl = "postgresql://nobody@127.0.0.1:1/none"\n')
    done("data", "assess", batch)


def test_a_column_in_brackets_is_shown_as_it_is(tmp_path: Path) -> None:
    """A terminal's styles begin with a bracket, too."""
    rows = "".join(f"{n},W{n},yes\n" for n in range(3))
    table = tmp_path / "table.csv"
    table.write_text(f"[/id],worker,[b]answer\n{rows}")
    named = 'item_id = "[/id]"\ncolumns.worker = "worker"\nanswers = { answer = "[b]answer" }\n'
    (tmp_path / "columns.toml").write_text(named)
    printed = done("data", "import", table, "--dry-run", "--columns", tmp_path / "columns.toml")
    assert "the column [/id] names each item" in " ".join(printed.split())
    assert "[b]answer" in printed


def test_reading_a_file_again_adds_nothing(campaign: Path, tmp_path: Path) -> None:
    """Also from a copy of another name; one that is new is added."""
    rows = [*stances(), row(4, "W4", shown={"text1": "Snow"}, sent={"stance1": "yes"})]
    rows = [{**rows[0], **cells} for cells in rows]
    copy = write(tmp_path / "again.csv", rows)
    assert "imported: 1 assignment; 3 known before" in done(
        "data", "import", copy, "--as", campaign
    )
    assert answers(campaign)["assignment_id"].nunique() == 4


def test_a_later_download_knows_what_was_decided_since(campaign: Path, tmp_path: Path) -> None:
    """The outcome follows the newer file; the answer is the same one."""
    later = write(tmp_path / "later.csv", stances(status="Rejected"))
    done("data", "import", later, "--as", campaign)
    with open_to_look(load_campaign(campaign)) as opened:
        assert set(imports.outcomes(opened.store)["outcome"]) == {"Rejected"}


def test_a_rejection_elsewhere_is_shown_and_no_evidence(campaign: Path, tmp_path: Path) -> None:
    """Heuristics find the same, whatever was decided there; the dataset tells it."""
    before = done("data", "assess", tmp_path / "batch.csv", "--json")
    later = write(tmp_path / "batch.csv", stances(status="Rejected"))
    assert done("data", "assess", later, "--json") == before
    done("data", "import", later, "--as", campaign)
    done("data", "assess", campaign)
    done("export", campaign)
    with open_to_look(load_campaign(campaign)) as opened:
        assert read_progress(opened).rejected == 0
    dataset = pd.read_csv(tmp_path / "out/stance/dataset/answers.csv")
    assert set(dataset["outcome_elsewhere"]) == {"Rejected"}
    report = (tmp_path / "out/stance/report.html").read_text()
    assert "Rejected" in report
    assert "by a marketplace that speaks its protocol" not in report
    assert ">wanted<" not in report


def test_people_decide_about_imported_answers_as_about_others(campaign: Path) -> None:
    """What is flagged waits in the CSV; what is decided is in the dataset."""
    text = campaign.read_text().replace(
        'any_of = ["rule_violation"', 'any_of = ["random_sample", "rule_violation"'
    )
    campaign.write_text(text + "\n[heuristics.random_sample]\nshare = 1.0\n")
    done("data", "assess", campaign)
    csv = campaign.with_name("decisions.csv")
    assert "decisions to make" in done("review", campaign, "--csv", csv)
    rows = pd.read_csv(csv, keep_default_na=False)
    answers_asked = rows["subject_kind"] == "answer"
    assert answers_asked.sum() == 6
    rows["verdict"] = rows["proposed"]
    rows.loc[answers_asked, "verdict"] = "keep"
    rows.to_csv(csv, index=False)
    printed = done("review", campaign, "--read", csv, "--by", "ada")
    assert "the next export shows them" in printed
    with open_to_look(load_campaign(campaign)) as opened:
        progress = read_progress(opened)
    assert (progress.accepted, progress.waiting_for) == (6, "nobody")
    done("export", campaign)
    assert len(pd.read_csv(campaign.parent / "out/stance/dataset/answers.csv")) == 6


@pytest.mark.full
def test_campaigns_are_exported_one_after_the_other(tmp_path: Path) -> None:
    """As a shell's *.toml names them; --json is one document."""
    batch = write(tmp_path / "batch.csv", stances())
    for name in ("one", "two"):
        done("data", "import", batch, "--as", tmp_path / f"{name}.toml")
    printed = done("export", tmp_path / "one.toml", tmp_path / "two.toml")
    assert [line.partition(":")[0] for line in printed.splitlines()] == [
        *("dataset", "report"),
        *("dataset", "report"),
    ]
    for name in ("one", "two"):
        assert (tmp_path / "out" / name / "report.html").is_file()
    document = json.loads(done("export", tmp_path / "one.toml", "--json"))
    assert document["campaigns"][0]["report"] == str(tmp_path / "out/one/report.html")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a.csv",), "a.csv is not a CAMPAIGN (NAME.toml)"),
        (
            ("a.csv", "b.csv"),
            "piecework data import FILES --as NAME.toml, then piecework export NAME.toml",
        ),
        (("c.toml", "a.csv"), "a.csv is not a CAMPAIGN"),
        (
            ("a.parquet", "b.parquet"),
            "Parquet need a new folder for their tables: piecework export FILES --to",
        ),
        (("c.toml", "--to", "folder"), "To export FILES by its rules: --as c.toml"),
        (("c.toml", "d.toml", "--answers", "e.csv"), "the answers of one CAMPAIGN"),
        (("c.toml", "--dask"), "are for FILES, with --to FOLDER"),
    ],
)
def test_what_cannot_be_exported_is_told_with_what_to_type(
    words: tuple[str, ...], message: str
) -> None:
    """Before any file is looked at."""
    result = piecework("export", *words)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


_POSTING = (
    ("check",),
    ("preview",),
    ("rehearse",),
    ("run", "--endpoint", "http://127.0.0.1:9"),
    ("run", "--once", "--endpoint", "http://127.0.0.1:9"),
    ("pay",),
    ("stop",),
    ("pay", "--rejected", "A", "--because", "It was right.", "--by", "ada"),
    ("status", "--look"),
    ("rehearse", "--times", "2"),
)


@pytest.mark.parametrize("words", _POSTING, ids=" ".join)
def test_nothing_is_posted_or_paid_from_imported_answers(
    words: tuple[str, ...], campaign: Path
) -> None:
    """Each such command refuses in one sentence, with exit code 3."""
    command, *options = words
    result = piecework(command, campaign, *options)
    assert result.exit_code == 3, result.output
    assert "its answers were imported from another tool" in result.output


def test_a_campaign_file_without_its_mark_posts_nothing_either(campaign: Path) -> None:
    """The store knows that it was imported, whatever the file says by now."""
    items = campaign.with_name("items.csv")
    items.write_text("image_id,url\na,http://127.0.0.1/a.png\n")
    campaign.write_text(
        'name = "stance"\ndescription = "d"\ntask = "caption"\n'
        'budget = "9.00"\nhourly_wage = "1.00"\n'
        '[items]\nfile = "items.csv"\n'
        '[[decisions.rule]]\non = "answer"\nany_of = ["capitals"]\nthen = "drop"\n'
        'because = "{evidence}"\n'
    )
    result = piecework("run", "--once", campaign, "--endpoint", "http://127.0.0.1:9")
    assert result.exit_code == 1
    assert "imported, not to http://127.0.0.1:9" in result.output


def test_answers_are_typed_anew_when_their_fields_change(campaign: Path) -> None:
    """Until then nothing goes on; decisions about them stay."""
    done("data", "assess", campaign)
    with open_to_look(load_campaign(campaign)) as opened:
        accepted = read_progress(opened).accepted
    columns = campaign.with_name("stance.columns.toml")
    text = columns.read_text()
    columns.write_text(text.replace('["no", "yes"]', '["YES", "NO", "maybe"]'))
    assert columns.read_text() != text
    refused = piecework("status", campaign)
    assert refused.exit_code == 1
    assert "have changed since its answers were read" in refused.output
    done("data", "import", "--as", campaign)
    assert answers(campaign).loc["ASSIGNMENT1.1", "value.stance"] == "YES"
    with open_to_look(load_campaign(campaign)) as opened:
        assert read_progress(opened).accepted == accepted > 0


@pytest.mark.parametrize(
    ("column", "kept"), [("caption", 'task = "hodosh_caption"'), *in_full(("said", "[imported]"))]
)
def test_the_page_s_own_sentence_is_offered_and_can_be_named(
    tmp_path: Path, column: str, kept: str
) -> None:
    """A comment tells what came most often; named, it is canned, and judged so."""
    sentence = "Quality issues are too severe to recognize visual content."
    texts = [sentence if n % 4 == 0 else f"dog number {n}" for n in range(40)]
    rows = [
        row(n, f"W{n}", shown={"url": f"{n % 4}"}, sent={column: text})
        for n, text in enumerate(texts)
    ]
    campaign = tmp_path / "dogs.toml"
    done("data", "import", write(tmp_path / "batch.csv", rows), "--as", campaign)
    written = campaign.read_text() + "\n[heuristics]\nrandom_sample = false\nquality_words = {}\n"
    campaign.write_text(written)
    assert not answers(campaign)["is_canned"].any()
    assert "Flagged answers: 10 " in done("data", "assess", campaign)
    assert accepted(campaign) == 30
    assert kept in written.splitlines()
    columns = tmp_path / "dogs.columns.toml"
    lines = columns.read_text().splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("# Written 10 t"))
    end = lines.index(f'# canned = "{sentence}"') + 1
    lines[start:end] = [line.removeprefix("# ") for line in lines[start + 1 : end]]
    columns.write_text("\n".join(lines))
    instead = [line for line in written.splitlines() if not line.startswith("task = ")]
    campaign.write_text("\n".join(instead))
    assert (
        f"next: piecework data import --as {campaign}"
        in piecework("data", "assess", campaign).output
    )
    done("data", "import", "--as", campaign)
    table = answers(campaign)
    assert (table["is_canned"] == (table["text"] == sentence)).all()
    assert table["is_canned"].sum() == 10
    assert "Flagged answers: 0 " in done("data", "assess", campaign)
    assert accepted(campaign) == 40


def test_a_sentence_of_the_page_belongs_to_texts_alone(tmp_path: Path) -> None:
    """Beside a choice no text is the answer's own: none is offered, nor taken."""
    repeated_sentence = "There is nothing to explain."
    rows = [
        row(n, f"W{n}", shown={"url": f"{n % 4}"}, sent=sent)
        for n in range(20)
        for sent in [{"stance": "yes" if n % 3 else "no", "why": repeated_sentence}]
    ]
    campaign = tmp_path / "stance.toml"
    done("data", "import", write(tmp_path / "batch.csv", rows), "--as", campaign)
    columns = tmp_path / "stance.columns.toml"
    written = columns.read_text()
    assert "[fields.why]" in written
    assert "canned" not in written
    head = "[fields.stance]\n"
    columns.write_text(written.replace(head, head + 'canned = "No picture."\n'))
    result = piecework("data", "import", "--as", campaign)
    assert result.exit_code == 2
    assert "fields.stance.canned: only the first of all-text fields" in result.output


def test_rows_that_cannot_be_read_are_counted_and_named(tmp_path: Path) -> None:
    """With file, line and column; the others come in."""
    rows = stances()
    rows[1]["SubmitTime"] = "yesterday"
    batch = write(tmp_path / "batch.csv", rows)
    with batch.open("a") as file:
        file.write('"HIT1","cut off')
    printed = piecework("data", "import", batch, "--as", tmp_path / "stance.toml").output
    assert f"{batch}: line 3, column SubmitTime: found the time 'yesterday'" in printed
    assert f"{batch}: line 5: not valid CSV (unexpected end of data)" in printed
    assert "imported: 2 assignments; 2 rows kept aside" in printed
    with open_to_look(load_campaign(tmp_path / "stance.toml")) as opened:
        kept = opened.store.db.execute(
            "SELECT line, column_name, cells FROM unreadable_rows"
        ).fetchall()
    assert [(line, column) for line, column, _ in kept] == [(3, "SubmitTime"), (5, "")]
    assert "yesterday" in kept[0][2]


def test_rows_of_several_files_of_a_folder_are_kept_aside_beside_each_other(tmp_path: Path) -> None:
    """Each file has a first row of its own."""
    users = ("ann", "bob", "cat")
    for user in users:
        state = kept(user)
        if user != "cat":
            state["instance_id_to_behavioral_data"]["i1"]["session_end"] = "soon"
        (tmp_path / "out" / user).mkdir(parents=True)
        (tmp_path / "out" / user / STATE_FILE).write_text(json.dumps(state))
    printed = done("data", "import", tmp_path / "out", "--as", tmp_path / "moods.toml")
    assert "1 assignment; 2 rows kept aside" in printed
    with open_to_look(load_campaign(tmp_path / "moods.toml")) as opened:
        aside = opened.store.db.execute("SELECT line, fault FROM unreadable_rows").fetchall()
    assert [line for line, _ in aside] == [1, 1]
    for user, (_, fault) in zip(users, aside, strict=False):
        assert f"{user}/{STATE_FILE}" in fault


def test_both_tables_of_a_dataset_are_imported_with_all_answers(
    campaign: Path, tmp_path: Path
) -> None:
    """Also if the answers of each assignment are divided between them."""
    campaign.write_text(f'formats = ["parquet"]\n{campaign.read_text()}')
    done("export", campaign)
    folder = tmp_path / "out/stance/dataset"
    names = ("answers.parquet", "set_aside.parquet")
    tables = [pq.read_table(folder / name).to_pandas() for name in names]
    table = pd.concat(tables, ignore_index=True)
    is_first = table["answer_id"].str.endswith(".1")
    files = [tmp_path / name for name in names]
    table[is_first].drop(columns="set_aside").to_parquet(files[0], index=False)
    table[~is_first].fillna({"set_aside": "dropped"}).to_parquet(files[1], index=False)
    assert is_first.sum() == (~is_first).sum() == 3
    printed = done("data", "import", *files, "--as", tmp_path / "again.toml")
    assert "imported: 3 assignments" in " ".join(printed.split())
    assert "kept aside" not in printed
    column = "value.stance"
    assert answers(tmp_path / "again.toml")[column].value_counts().to_dict() == (
        answers(campaign)[column].value_counts().to_dict()
    )


def test_an_assignment_that_says_something_else_now_is_put_aside(
    campaign: Path, tmp_path: Path
) -> None:
    """What was imported first stays; the other is named."""
    rows = stances()
    rows[0]["Answer.stance1"] = "no"
    other = write(tmp_path / "other.csv", rows)
    printed = done("data", "import", other, "--as", campaign)
    assert "2 known before; 1 row kept aside" in printed
    assert answers(campaign).loc["ASSIGNMENT1.1", "value.stance"] == "yes"


def test_a_campaign_that_collects_takes_no_foreign_answers(tmp_path: Path) -> None:
    """Nor does a store change what it is of."""
    batch = write(tmp_path / "batch.csv", stances())
    own = tmp_path / "own.toml"
    done("init", own, "--task", "caption", "--items", _items(tmp_path))
    result = piecework("data", "import", batch, "--as", own)
    assert result.exit_code == 2
    assert "collects its own answers" in result.output


def _items(folder: Path) -> Path:
    items = folder / "items.csv"
    items.write_text("image_id,url\na,http://127.0.0.1/a.png\n")
    return items


def test_a_file_of_nothing_known_is_refused(tmp_path: Path) -> None:
    """With what is known, and what helps."""
    file = tmp_path / "notes.csv"
    file.write_text("a,b\n1,2\n")
    result = piecework("data", "import", file, "--as", tmp_path / "x.toml")
    assert result.exit_code == 2
    assert "unknown format" in result.output
    assert "--columns" in result.output
    assert not (tmp_path / "x.toml").exists()


def test_status_says_what_is_next(campaign: Path) -> None:
    """No pass comes by itself; nothing is missing and no cap was reached."""
    printed = done("status", campaign)
    assert f"next: piecework data assess {campaign}" in printed
    status = json.loads(done("status", campaign, "--json"))
    assert (status["missing"], status["cap_reached"]) == (0, False)


def test_a_worker_is_excluded_here_without_a_marketplace(campaign: Path) -> None:
    """The decision is kept; there is nobody to tell."""
    first = json.loads(done("workers", "list", campaign, "--json"))[0]["worker"]
    printed = done("workers", "exclude", campaign, first, "--because", "Guesses.")
    assert "excluded" in printed
    with open_to_look(load_campaign(campaign)) as opened:
        assert read_progress(opened).excluded == 1


def test_a_store_of_imports_cannot_change_what_makes_an_item(campaign: Path) -> None:
    """The same item would be two."""
    columns = campaign.with_name("stance.columns.toml")
    text = columns.read_text()
    columns.write_text(text.replace('item = ["text", "source"]', 'item = ["text"]'))
    assert columns.read_text() != text
    result = piecework("data", "import", "--as", campaign)
    assert result.exit_code == 1
    assert "numbers, item or item_id of its file of columns have changed" in result.output


@pytest.mark.full
def test_a_report_half_way_says_so_and_doubts_no_books(campaign: Path) -> None:
    """All is drawn, so all waits; the books count what waits."""
    text = campaign.read_text()
    campaign.write_text(text + "\n[heuristics.random_sample]\nshare = 1.0\n")
    done("data", "assess", campaign)
    done("export", campaign)
    report = (campaign.parent / "out/stance/report.md").read_text()
    assert "Not all imported answers are decided yet" in report
    assert "Counts differ" not in report
    page = (campaign.parent / "out/stance/report.html").read_text()
    assert "No answer is decided yet." in page
    # Nobody here knows how many were wanted, nor who was paid.
    table = page.partition("Accepted answers per")[2].partition("</table>")[0]
    assert not re.search(r"\d+ of \d+<", table)
    assert "Dropped: kept out of the dataset" in page
    assert "not paid" not in page


def test_a_card_of_imported_answers_promises_nothing(campaign: Path) -> None:
    """Its picture of what follows has no pay, no later HIT and no worker who reads."""
    text = campaign.read_text()
    campaign.write_text(text + "\n[heuristics.random_sample]\nshare = 1.0\n")
    done("data", "assess", campaign)
    with (
        open_to_look(load_campaign(campaign)) as opened,
        served(opened) as page,
        page.client() as ada,
    ):
        card = ada.get("/next", params={"view": "answer"}, follow_redirects=True)
    assert "no worker is paid or told" in card.text
    assert "1 answer set aside." in card.text
    for words in ("is paid unless", "later HIT", "worker reads", "the next pass"):
        assert words not in card.text


def potato(tmp_path: Path) -> Path:
    """Potato's export of two people's labels, and the campaign that becomes of it."""
    lines = [
        {
            "instance_id": item,
            "user_id": f"{user}@x.example",
            "labels": {"mood": {"good": "good"} if item == "i1" else {}},
        }
        for user in ("ann", "bob")
        for item in ("i1", "i2")
    ]
    file = tmp_path / "annotations.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    done("data", "import", file, "--as", tmp_path / "mood.toml")
    return tmp_path / "mood.toml"


def test_no_worker_s_id_stands_in_an_assignment_s(tmp_path: Path) -> None:
    """Where files name assignments by item and worker, a dataset would tell who."""
    campaign = potato(tmp_path)
    again = done("data", "import", tmp_path / "annotations.jsonl", "--as", campaign)
    assert "0 assignments; 2 known before" in again
    done("export", campaign)
    out = tmp_path / "out/mood"
    texts = [path.read_bytes() for path in (out / "dataset").iterdir()]
    texts.append((out / "report.html").read_bytes())
    assert len(answers(campaign)) == 2
    assert not [text for text in texts if b"x.example" in text]


def test_a_wage_is_not_made_of_a_reward_that_no_file_says(tmp_path: Path) -> None:
    """The campaign file has to state one; the report must not multiply it."""
    campaign = potato(tmp_path)
    with open_to_look(load_campaign(campaign)) as opened:
        cents = opened.store.db.execute("SELECT reward_cents FROM hits").fetchall()
    assert {tuple(row) for row in cents} == {(0,)}
    assert "do not contain the reward" in campaign.read_text()


def test_what_is_not_said_of_a_campaign_is_said_truly(tmp_path: Path) -> None:
    """Report and data card repeat the description; a hint would stand there as one."""
    campaign = load_campaign(potato(tmp_path))
    assert campaign.description == "Answers collected elsewhere: Potato."


def test_a_table_of_nothing_is_a_sentence(tmp_path: Path) -> None:
    """The terminal says that nothing is flagged, and draws no empty frame."""
    printed = done("data", "assess", potato(tmp_path))
    assert "Flags by heuristic: Nothing is flagged." in printed
    assert "Answers affected" not in printed


@pytest.mark.full
def test_what_waits_is_told_with_what_is_said_without_it(campaign: Path) -> None:
    """Analyse says how much does not count yet, assess how much was drawn."""
    text = campaign.read_text() + "\n[heuristics.random_sample]\nshare = 1.0\n"
    campaign.write_text(text)
    printed = done("data", "assess", campaign)
    assert "6 answers drawn at random" in " ".join(printed.split())
    printed = " ".join(done("data", "analyse", campaign).split())
    assert "Answers: 0" in printed
    assert "leaves out 6 answers" in printed


@pytest.mark.full
def test_several_files_are_looked_at_together(tmp_path: Path) -> None:
    """As `import` takes them, without a folder for parts; the page names them."""
    rows = stances()
    files = [
        write(tmp_path / f"{name}.csv", some)
        for name, some in (("one", rows[:2]), ("two", rows[2:]), ("three", rows[2:]))
    ]
    printed = done("data", "assess", *files[:2])
    assert "one.csv and 1 other file" in printed
    together = printed.replace("one.csv and 1 other file", "all.csv")
    assert together == done("data", "assess", write(tmp_path / "all.csv", rows))
    assert "one.csv and 2 other files" in done("data", "assess", *files)


def test_who_is_not_named_is_not_counted_as_a_worker(tmp_path: Path) -> None:
    """A file may name all, some or none; each assignment is not one more person."""
    for name, beside in (
        ("W1", "1 (2 assignments)"),
        ("", "– (2 assignments, workers"),  # noqa: RUF001 - as shown
    ):
        lines = [{"id": str(n), "mood": "good", "who": name} for n in range(2)]
        file = tmp_path / f"moods{name}.jsonl"
        file.write_text("\n".join(map(json.dumps, lines)))
        columns = tmp_path / "columns.toml"
        columns.write_text(
            'item_id = "id"\nitem = ["id"]\nanswers.mood = "mood"\n[columns]\nworker = "who"\n'
        )
        assert f"Workers: {beside}" in done("data", "assess", file, "--columns", columns)


def test_flags_with_the_same_evidence_are_one_row(tmp_path: Path) -> None:
    """Three copies of the instructions; a table that is hardly longer is not cut."""
    file, columns = tmp_path / "table.csv", tmp_path / "columns.toml"
    columns.write_text('item_id = "id"\nitem = ["id"]\nanswers.caption = "said"\n')
    copied = "Imagine how you would describe this image on the phone to a friend"
    captions = [copied, "a dog", copied, "a cat", copied]
    rows = [f"{number},{words}\n" for number, words in enumerate(captions)]
    file.write_text("id,said\n" + "".join(rows))
    page = tmp_path / "found.html"
    shown = done("data", "assess", file, "--columns", columns, "--html", page)
    assert re.search(r"3 answers\s*$", shown, flags=re.MULTILINE), shown
    assert "Outside the study" in shown
    assert "The table shows" not in shown
    assert page.read_text().count(f"copies the instructions: “{copied}") == 1


@pytest.mark.full
def test_a_card_of_imported_answers_tells_what_files_say(tmp_path: Path) -> None:
    """No file says how many answers were wanted, what was paid, or whose they are."""
    file, columns = tmp_path / "table.csv", tmp_path / "columns.toml"
    columns.write_text('item_id = "id"\nitem = ["id"]\nanswers.mood = "mood"\n')
    file.write_text("id,mood\na,good\nb,bad\na,good\nb,good\n")
    campaign = tmp_path / "moods.toml"
    done("data", "import", file, "--columns", columns, "--as", campaign)
    text = campaign.read_text() + "\n[heuristics.random_sample]\nshare = 0.0\n"
    campaign.write_text(text)
    done("data", "assess", campaign)
    done("export", campaign)
    card = (tmp_path / "out/moods/dataset/README.md").read_text()
    assert "4 answers of workers without an id in the files, about 2 items.\n" in card
    for words in ("wanted", "paid", "answers of one worker"):
        assert words not in card.partition("## Licence")[0], words
    croissant = (tmp_path / "out/moods/dataset/croissant.json").read_text()
    assert "annotationsPerItem" not in croissant


def test_a_heuristic_that_can_say_nothing_has_not_looked(tmp_path: Path) -> None:
    """No file says a time here, and no item has a right answer; page and terminal."""
    page = tmp_path / "found.html"
    printed = " ".join(done("data", "assess", potato(tmp_path), "--html", page).split())
    assert "Nothing is flagged. These looked and flagged nothing:" in printed
    assert "Rushed assignment and Impossibly fast" in page.read_text()
    for empty in ("The flags", "shown as an example", "(0.0 %)"):
        assert empty not in printed + page.read_text()
    looked, _, could_not = printed.partition("Heuristics that could flag nothing here")
    # A title may be broken between its words.
    for word in ("no time is known", "Rushed", "Impossibly"):
        assert word in could_not
    assert "Failed" in could_not
    assert "Impossibly" not in looked


def test_items_that_no_column_names_are_said_to_be_hits(tmp_path: Path) -> None:
    """Of Prolific's export the code is all that there is."""
    file = tmp_path / "export.csv"
    file.write_text(
        "Submission id,Participant id,Status,Started at,Completed at,Completion code\n"
        "s1,p1,APPROVED,2022-07-22 09:17:00,2022-07-22 09:18:00,C1\n"
    )
    printed = done("data", "import", file, "--as", tmp_path / "code.toml", "--dry-run")
    assert "no column names items, so each HIT is" in " ".join(printed.split())


def test_a_batch_of_a_page_of_ours_keeps_how_texts_were_entered(tmp_path: Path) -> None:
    """It is a measure of the page, and no question that workers were asked."""
    own = record()
    texts = ("A red mug on a brown table", "A dog that runs on a long beach")
    rows = [
        row(
            number,
            f"W{number}",
            shown={"image_id": f"p{number}"},
            sent={
                "item.1": f"p{number}",
                "caption.1": text,
                **dict.fromkeys((f"{name}.1" for name in MEASURES), "30"),
                "typing.1": f'{{"caption": {own.as_json()}}}',
            },
        )
        for number, text in enumerate(texts, start=1)
    ]
    batch = write(tmp_path / "batch.csv", rows)
    done("data", "import", batch, "--as", tmp_path / "mugs.toml")
    table = answers(tmp_path / "mugs.toml")
    assert table["problems"].tolist() == [(), ()]
    assert table["keystrokes"].tolist() == [30, 30]
    assert [*map(typing_record, table["typing"])] == [own, own]
    assert "typing" not in (tmp_path / "mugs.toml").read_text()
    asked = [name for name in map(str, table) if name.startswith(("value.", "hit."))]
    assert asked == ["value.caption"]


def test_an_import_that_was_killed_between_its_two_files_is_finished(tmp_path: Path) -> None:
    """The same file of columns is used; another one of its name is left alone."""
    batch, campaign = write(tmp_path / "batch.csv", stances()), tmp_path / "stance.toml"
    columns = tmp_path / "stance.columns.toml"
    done("data", "import", batch, "--as", campaign)
    text = columns.read_text()
    campaign.unlink()
    done("data", "import", batch, "--as", campaign)
    campaign.unlink()
    columns.write_text(f"{text}# mine")
    refused = piecework("data", "import", batch, "--as", campaign)
    assert refused.exit_code == 2
    assert "another file has the name of this campaign's file of columns" in refused.output
    assert (columns.read_text(), campaign.exists()) == (f"{text}# mine", False)
