"""A campaign whose question is HTML of one's own: read, priced, rehearsed, exported."""

import json
import re
from hashlib import sha256
from itertools import chain, pairwise
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from piecework.campaign.assembling import load_campaign
from piecework.campaign.binding import bind_store
from piecework.campaign.dealing import all_first_rounds
from piecework.campaign.questions import question
from piecework.campaign.reachable_pictures import sample_of_pictures
from piecework.domain.errors import ConfigError, StoreError
from piecework.hit_templates.own_html.placeholders import cut
from piecework.platforms.clocks import START
from piecework.results.answers_shown import Work
from piecework.results.cleaning import clean_answers
from piecework.results.export import export, write_batch_results
from piecework.results.item_labels import field_with_label, item_labels
from piecework.results.pictures import picture_sizes, small_pictures
from piecework.results.table import answers_table
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.checking import check_campaign
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from piecework.store.database import open_store
from piecework.store.hits import load_hits
from tests.hit_templates.own_html import LIBRARIES, SHARED, needs_shared
from tests.small_campaign import heuristics_off

CAMPAIGN = f"""
name = "birds"
description = "Which pictures show birds."
task = "hit.html"
answers = 3
reward = "0.10"
budget = "50.00"
hourly_wage = "5.00"
formats = ["csv"]
[items]
file = "birds.csv"
[posting]
max_rounds = 1
[heuristics]
{heuristics_off("straight_line", "low_agreement", "same_sentence")}[decisions]
by = "policy"
[[decisions.rule]]
on = "worker"
any_of = ["straight_line", "low_agreement"]
then = "exclude"
because = "Answers follow a pattern and not the items, as others see them."
[rehearsal.crowd]
diligent = 4
first_clicker = 1
"""
HTML = """<p>Is there a bird? <img src="${image_url}"></p>
<label><input type="radio" name="Bird" value="Yes it is" required> Yes</label>
<label><input type="radio" name="Bird" value="No"> No</label>
<input type="number" name="how-many" min="0" max="9"> <input name="age" type="number">
"""


def written(folder: Path, *, html: str = HTML, rows: int = 20) -> Path:
    """The campaign with its page and its items, which have no ids."""
    (folder / "hit.html").write_text(html)
    lines = [f"https://example.org/{n}.jpg" for n in range(rows)]
    (folder / "birds.csv").write_text("\n".join(["image_url", *lines]))
    path = folder / "birds.toml"
    path.write_text(CAMPAIGN)
    return path


@pytest.mark.full
def test_a_choice_without_an_alternative_is_rehearsed(tmp_path: Path) -> None:
    """A consent to tick has one option: whoever slips can take no other."""
    consent = '<input type="radio" name="agree" value="yes" required> I agree'
    with rehearsal_of(prepare(written(tmp_path, html=HTML + consent))) as (run, crowd):
        work_through(run, crowd)
        table = answers_table(run)
    assert len(table) >= 20 * 3  # so that some of them slip
    assert set(table["value.agree"]) == {"yes"}


def test_a_page_is_rehearsed_to_a_dataset(tmp_path: Path) -> None:
    """Careful workers agree, who clicks what stands first is found, all is typed."""
    path = written(tmp_path, rows=30)
    with rehearsal_of(prepare(path)) as (run, crowd):
        work_through(run, crowd)
        table = answers_table(run)
        traits = crowd.traits_by_worker()
        excluded = {
            row[0]
            for row in run.store.db.execute(
                "SELECT subject_id FROM decisions WHERE verdict = 'exclude'"
            )
        }
        export(run)
    assert table["problems"].map(len).sum() == 0
    assert set(table["value.bird"]) == {"Yes it is", "No"}
    assert table["value.how_many"].between(0, 9).all()
    assert table["shown_seconds"].gt(0).all()
    traits_excluded = {traits[worker] for worker in excluded}
    assert traits_excluded == {"first_clicker"}
    items = pd.read_csv(tmp_path / "out/birds/dataset/items.csv")
    assert len(items) == 30
    assert items["bird_share"].mean() > 0.8
    addresses = [f"https://example.org/{n}.jpg" for n in range(30)]
    assert list(items["input_image_url"]) == list(items["url"]) == addresses
    assert list(items["file_name"]) == [f"{n}.jpg" for n in range(30)]


MARKS = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<crowd-form answer-format="flatten-objects">
<crowd-bounding-box name="annotatedResult" src="${image_url}" labels="['Cat', 'Dog']">
</crowd-bounding-box>
<crowd-semantic-segmentation name="areas" src="${image_url}" labels="['Sky']">
</crowd-semantic-segmentation>
<crowd-entity-annotation name="names" text="Seen at ${image_url}" labels="[{'label': 'place'}]">
</crowd-entity-annotation></crowd-form>"""


def test_marks_are_rehearsed_to_json_in_the_dataset(tmp_path: Path) -> None:
    """Careful workers mark the same places, with the page's labels."""
    path = written(tmp_path, html=MARKS, rows=6)
    with rehearsal_of(prepare(path)) as (run, crowd):
        work_through(run, crowd)
        table = answers_table(run)
        export(run)
        write_batch_results(run, tmp_path / "batch.csv")
        reviewed = dict(Work(run).answered(0))
        labelled = field_with_label(run.campaign.task, "annotated_result")
        labels = item_labels(run, labelled, [item.item_id for item in run.campaign.items])
    assert re.fullmatch(r"\d box(es)?: [CatDog, ()0-9]+", reviewed["annotated_result"])
    assert reviewed["areas"] == "mask: Sky"
    assert re.fullmatch(r"\d spans?: place( \(\d\))?", reviewed["names"])
    assert table["problems"].map(len).sum() == 0
    nearest = []
    for _, answers in table.groupby("item_id"):
        boxes = [json.loads(text)["boundingBoxes"] for text in answers["value.annotated_result"]]
        assert {box["label"] for drawn in boxes for box in drawn} <= {"Cat", "Dog"}
        lefts = sorted(drawn[0]["left"] for drawn in boxes)
        nearest.append(min(after - before for before, after in pairwise(lefts)))
    # Four of five workers are careful, so two of an item's three are, or all.
    assert sorted(nearest)[len(nearest) // 2] <= 12  # pixels, of 800
    (dataset,) = (tmp_path / "out/birds/dataset").glob("answers*.csv")
    row = pd.read_csv(dataset).iloc[0]
    assert json.loads(row["annotated_result"])["inputImageProperties"] == {
        "height": 600,
        "width": 800,
    }
    assert list(json.loads(row["areas"])["labelMappings"]) == ["Sky"]
    (listed,) = (tmp_path / "out/birds/dataset").glob("items*.csv")
    items = pd.read_csv(listed)
    merged = [json.loads(text) for text in items["annotated_result_merged"]]
    assert any(document["boundingBoxes"] for document in merged)
    assert [json.loads(str(label.label)) for label in labels.values()] == merged
    assert all(document["inputImageProperties"]["width"] == 800 for document in merged)
    assert items["names_agreement"].between(0, 1).all()
    assert all("Sky" in json.loads(text)["labelMappings"] for text in items["areas_merged"])
    assert items["areas_agreement"].between(0, 1).all()
    card = (tmp_path / "out/birds/dataset/README.md").read_text()
    assert "`annotated_result_merged` in `items.*` has the boxes" in card
    sent = pd.read_csv(tmp_path / "batch.csv")
    assert json.loads(sent["Answer.annotatedResult.boundingBoxes"][0])[0]["label"] in {"Cat", "Dog"}
    assert set(sent["Answer.annotatedResult.inputImageProperties.width"]) == {800}
    for span in json.loads(row["names"])["entities"]:
        assert span["label"] == "place"
        assert 0 <= span["startOffset"] < span["endOffset"]


IN_SCRIPTS = """<p id="shown"></p><input name="word" required>
<template><b data-x="${attribute}"></b><template>${nested}</template></template>
<script>
const words = JSON.parse(`${content}`);
const line = `<i>${words.map((word) => `<b>${word}</b> ${inner}`)}</i>`;
shown.onclick = () => say('${quoted}', ${bare});
</script>"""
FILLED = ("attribute", "nested", "content", "inner", "quoted", "bare")


def test_what_a_page_fills_in_anywhere_is_a_column(tmp_path: Path) -> None:
    """Check, dataset, report and review speak of what workers were shown."""
    path = written(tmp_path, html=IN_SCRIPTS)
    rows = [
        {name: f'["{name} {n}"]' for name in (*FILLED, "unused")} | {"gold.word": "a"}
        for n in range(3)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "birds.csv", index=False)
    checked = check_campaign(path, on=START.date())
    # The review page and the report show an item's columns by these names.
    assert {*checked.campaign.task.shown_columns} == {"item_id", *FILLED}
    assert not [text for text in checked.warnings if "placeholder" in text]
    with rehearsal_of(prepare(path)) as (run, crowd):
        work_through(run, crowd)
        export(run)
    items = pd.read_csv(tmp_path / "out/birds/dataset/items.csv")
    inputs = {name for name in items.columns if name.startswith("input_")}
    assert inputs == {f"input_{name}" for name in FILLED}
    assert sorted(items["input_content"]) == [f'["content {n}"]' for n in range(3)]


def test_a_page_is_checked_and_priced(tmp_path: Path) -> None:
    """Every HIT is rendered; its items are numbered as the file has them."""
    checked = check_campaign(written(tmp_path), on=START.date())
    assert checked.price.hits == 20
    assert checked.campaign.items[4].item_id == "row_5"
    assert checked.campaign.task.name == "hit"
    assert checked.campaign.keywords == ()
    assert not [warning for warning in checked.warnings if "placeholder" in warning]
    same = check_campaign(
        written(tmp_path, html=HTML.replace("${image_url}", "a.jpg")), on=START.date()
    )
    assert "all items look the same on it" in " ".join(same.warnings)


def test_a_store_is_bound_to_its_page(tmp_path: Path) -> None:
    """Another page, or other options, ask something else."""
    path = written(tmp_path)
    store = open_store(tmp_path / "piecework.db", create=True)
    bind_store(store, load_campaign(path), "here")
    bind_store(store, load_campaign(path), "here")
    (tmp_path / "hit.html").write_text(HTML + "<p>More</p>")
    with pytest.raises(StoreError, match=r"its task .*hit\.html has changed"):
        bind_store(store, load_campaign(path), "here")
    store.close()


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ('task = "hit.html"', "", "set task"),
        ('task = "hit.html"', 'question = "hit.html"', 'set task = "hit.html"; question is the'),
        ('task = "hit.html"', 'task = "caption"\nhosts = ["a.b"]', "go with a page"),
        ('reward = "0.10"\n', "", "a page does not say how long it takes; write"),
        ('"hit.html"', '"hat.html"', "hat.html: "),
        ('task = "hit.html"', 'task = "hit.html"\nhosts = ["https://a.b/c"]', "hosts[1]"),
        ('task = "hit.html"', 'fields = "f.toml"\ntask = "hit.html"', "the page has no such field"),
    ],
)
def test_what_a_campaign_says_wrongly_of_a_page_is_told(
    tmp_path: Path, before: str, after: str, fault: str
) -> None:
    """In one sentence, before anything is posted."""
    path = written(tmp_path)
    (tmp_path / "f.toml").write_text("[fields.size]\nlabel = '?'\n")
    path.write_text(CAMPAIGN.replace(before, after, 1))
    with pytest.raises(ConfigError) as raised:
        load_campaign(path)
    assert any(fault in message for message in raised.value.faults), raised.value.faults


def test_the_inputs_of_a_file_of_results_are_items(tmp_path: Path) -> None:
    """MTurk names them Input.image_url; a cell of an address may be empty."""
    path = written(tmp_path, html=HTML + "<img src='${second}'>")
    rows = "Input.image_url,Input.second,Answer.age\nhttps://e.org/1.jpg,,7\nhttps://e.org/2.jpg,https://e.org/3.jpg,8\n"
    (tmp_path / "birds.csv").write_text(rows)
    first, _ = load_campaign(path).items
    assert first.columns["image_url"] == "https://e.org/1.jpg"


def test_a_column_that_the_page_asks_for_must_be_there(tmp_path: Path) -> None:
    """The sentence names the columns that there are."""
    path = written(tmp_path, html=HTML + "<p>${hint}</p>")
    with pytest.raises(ConfigError, match=r"asks for 'hint'; the columns are item_id"):
        check_campaign(path, on=START.date())


def test_a_picture_is_looked_for_where_pictures_are(tmp_path: Path) -> None:
    """Whatever its column is called; the fault has the line of the items file."""
    path = written(tmp_path, rows=3)
    items = tmp_path / "birds.csv"
    items.write_text(items.read_text().replace("https://example.org/2", "pic"))
    with pytest.raises(ConfigError, match=r"line 4: image_url 'pic\.jpg' is not http"):
        load_campaign(path)
    path.write_text(f'pictures = "p"\n{CAMPAIGN}')
    (tmp_path / "p").mkdir()
    with pytest.raises(ConfigError, match=r"'pic\.jpg' is not a file in"):
        load_campaign(path)
    Image.new("RGB", (40, 30)).save(tmp_path / "p" / "pic.jpg")
    campaign = load_campaign(path)
    known = {item.item_id: item for item in campaign.items}
    hits = chain(*all_first_rounds(campaign, on=START.date()))
    page = next(question(campaign, hit, known) for hit in hits if "row_3" in hit.item_ids)
    assert '<img src="/pictures/pic.jpg">' in page
    assert picture_sizes(campaign) == {"row_3": (40, 30)}
    assert small_pictures(campaign, known)["row_3"].startswith("data:image/jpeg")
    # `check --reach` looks at files, and asks for those that lie elsewhere.
    *files, first, second = sorted(sample_of_pictures(campaign))
    assert [Path(file).name for file in files] == ["pic.jpg"]
    assert [first, second] == [f"https://example.org/{n}.jpg" for n in (0, 1)]


def warnings_of(folder: Path, html: str, *, cell: str = "x") -> str:
    """What `check` warns of."""
    path = written(folder, html=html)
    (folder / "birds.csv").write_text(f'text\n"{cell}"\n"{cell}"\n', "utf-8")
    return "\n".join(check_campaign(path, on=START.date()).warnings)


def test_what_check_cannot_see_is_warned_of(tmp_path: Path) -> None:
    """Inputs of a script, of an item's column, without a name; each with its line."""
    html = "<p>${text}</p><input name='a'>"
    assert "hit.html" not in warnings_of(tmp_path, html)
    for script in (
        "t.innerHTML = '<textarea name=b>'",
        "document.createElement('input')",
        "$.post('/x', $('form').serialize())",
        "box.setAttribute('name', 'b2')",
    ):
        shown = warnings_of(tmp_path, f"{html}\n<script>\n{script}</script>")
        assert "hit.html: line 2: a script makes or renames inputs" in shown
    quiet = f"{html}<script>var n = 1; f.name == 'b'</script>"
    assert "script" not in warnings_of(tmp_path, quiet)
    shown = warnings_of(tmp_path, html + "<br><input type=radio name=r>\n" * 2)
    assert "line 2: every ticked 'r' is sent as 'on'; give each a value" in shown
    shown = warnings_of(tmp_path, f"{html}\n<input name='q${{text}}'>\n<input>")
    assert "line 2: the name of <input> depends on the item" in shown
    assert "line 3: <input> has no name" in shown


FILES = {
    "style.css": "<link rel=stylesheet href=style.css>",
    "clip.js": '<script src="clip.js"></script>',
    "sounds/...": '<audio src="sounds/${text}"></audio>',
    "a.png": '<img srcset="https://a.org/b.png, a.png 2x">',
    "./b.png": "<style>p { background: url('./b.png') }</style>",
    "c.png": '<p style="background: url(c.png)">',
    "d.mp3": '<script>new Audio("d.mp3").play()</script>',
    "../e.mp4": '<video poster="/x"><source src="../e.mp4"></video>',
}


def test_files_beside_the_page_are_named_with_their_lines(tmp_path: Path) -> None:
    """Workers load only what a marketplace or a host serves."""
    page = "\n".join(["<p>${text}</p><input name='a'>", *FILES.values()])
    shown = warnings_of(tmp_path, page)
    for line, name in enumerate(FILES, start=2):
        assert f"hit.html: line {line}: {name!r} is a file beside the page" in shown
    for name in ("style.css", "clip.js", "a.png", "./b.png", "c.png"):
        assert f"{name.removeprefix('./')} does not exist): put {name} beside" in shown
    for name in ("sounds/...", "d.mp3", "../e.mp4"):
        assert f"and write '/pictures/{name}'" in shown
    served = """<p>${text}</p><input name='a'><img src="${text}"><a href="x.html">x</a>
    <img src="/pictures/a.png"><img src="data:image/png;base64,AA"><svg><use
    href="#a"></use></svg><script src="https://assets.crowd.aws/x.js"></script>"""
    assert "beside the page" not in warnings_of(tmp_path, served, cell="https://a.org/b.png")


def test_markup_of_items_is_told_with_the_line_to_write(tmp_path: Path) -> None:
    """What workers see as text, what is left out, and which inputs are no fields."""
    html = "<div>{}</div><i title='${{text}}'></i><input name='a'>".format
    cell, line = "<p><input name='mark'></p>", "{{ task.input.text | skip_autoescape }}"
    liquid = html("{{ task.input.text }}")
    shown = warnings_of(tmp_path, liquid, cell=cell)
    assert "hold markup that workers see as text: text of item row_1" in shown
    assert "write {{ task.input.text | strip_html }}. To show it whole, if" in shown
    assert f"as MTurk did, write {line}" in shown
    for plain in ("a < b", "<3", "by <John>", "R&D"):
        assert "markup" not in warnings_of(tmp_path, liquid, cell=plain)
    for insert in ("${text}", line):
        shown = warnings_of(tmp_path, html(insert), cell=cell)
        assert "markup" not in shown
        assert "items hold inputs (mark) that are no fields" in shown
    loads = ("<b onclick='f()'>", "<iframe src='//a.b'>", "<a href='javascript:f()'>")
    for script in (*(f"{cell}{each}" for each in loads), "<script>f()</script> Hello."):
        shown = warnings_of(tmp_path, html("${text}"), cell=script)
        assert "hold markup without its scripts and frames: text of item row_1" in shown
        assert "the markup, write {{ task.input.text }}. To show it whole, if you trust" in shown
        assert "markup" not in warnings_of(tmp_path, html(line), cell=script)


def test_a_page_without_inputs_needs_them_in_its_items(tmp_path: Path) -> None:
    """With them, all that workers send is one field."""
    assert "markup" not in warnings_of(tmp_path, "<p>${text}</p>", cell="<input name='b'>")
    with pytest.raises(ConfigError, match=r"hit\.html: the page has nothing to fill in"):
        warnings_of(tmp_path, "<p>${text}</p>", cell="<b>x</b>")


def test_a_long_page_is_stored_once_and_shown_with_each_item(tmp_path: Path) -> None:
    """Ten copies would be nine megabytes; a question that is sent whole is smaller."""
    letters = [sha256(str(n).encode()).hexdigest() for n in range(13_500)]
    script = f"<script>var n = a[b[0]]; // ]]> {''.join(letters)}</script>"
    path = written(tmp_path, html=f"{HTML}{script}", rows=10)
    with rehearsal_of(prepare(path)) as (run, crowd):
        assert work_through(run, crowd).is_finished
        assert len(answers_table(run)) == 30
    (database,) = (tmp_path / "out").rglob("marketplace.db")
    assert database.stat().st_size < 2_500_000
    large = path.with_name("hit.html")
    large.write_text(HTML + "x" * 900_000)
    with pytest.raises(ConfigError, match=r"has 900,\d+ bytes; a page may have at most"):
        load_campaign(path)
    large.write_text(HTML.replace("</p>", "${text}</p>") + "x" * 60_000)
    (tmp_path / "birds.csv").write_text(
        f"image_url,text\nhttps://example.org/0.jpg,{'y' * 70_000}\n"
    )
    with pytest.raises(ConfigError, match="of them from its item"):
        check_campaign(path, on=START.date())


def test_spaces_around_an_address_do_not_count(tmp_path: Path) -> None:
    """Browsers ignore them, and many tables have them."""
    path = written(tmp_path, rows=1)
    (tmp_path / "birds.csv").write_text("image_url\n https://example.org/0.jpg \n")
    (item,) = load_campaign(path).items
    assert item.columns["image_url"] == "https://example.org/0.jpg"


SCRIPTED = """<div id="here"></div><input name="bird"><script>
var img = new Image(); img.src = '${image_url}'; var hint = "${hint}";
here.append(img);
</script>"""


def test_a_picture_that_a_script_shows_is_served_too(tmp_path: Path) -> None:
    """Only what names a picture is looked for; words and other hosts stay."""
    path = written(tmp_path, html=SCRIPTED)
    path.write_text(f'pictures = "p"\n{CAMPAIGN}')
    (tmp_path / "birds.csv").write_text(
        "image_url,hint\na b.jpg,on a wire\nhttps://example.org/2.jpg,/b\n"
    )
    (tmp_path / "p").mkdir()
    with pytest.raises(ConfigError, match=r"line 2: image_url 'a b\.jpg' is not a file in"):
        load_campaign(path)
    Image.new("RGB", (40, 30)).save(tmp_path / "p" / "a b.jpg")
    campaign = load_campaign(path)
    known = {item.item_id: item for item in campaign.items}
    hits = chain(*all_first_rounds(campaign, on=START.date()))
    pages = {str(hit.item_ids[0]): question(campaign, hit, known) for hit in hits}
    assert "img.src = '/pictures/a%20b.jpg'; var hint = \"on a wire\"" in pages["row_1"]
    assert "img.src = 'https://example.org/2.jpg'; var hint = \"/b\"" in pages["row_2"]
    assert campaign.items[0].columns["image_url"] == "a b.jpg"


def test_a_folder_is_enough_for_a_script_that_shows_pictures(tmp_path: Path) -> None:
    """The one column of the page is the picture's; JavaScript's own are no columns."""
    html = SCRIPTED.replace('"${hint}"', "`${1 + 1} ${two}`")
    path = written(tmp_path, html=html)
    path.write_text(CAMPAIGN.replace('[items]\nfile = "birds.csv"', 'pictures = "p"'))
    (tmp_path / "p").mkdir()
    Image.new("RGB", (40, 30)).save(tmp_path / "p" / "a.png")
    (item,) = load_campaign(path).items
    assert item.columns == {"item_id": "a.png", "image_url": "a.png"}


@pytest.mark.full
def test_who_writes_the_same_everywhere_is_found(tmp_path: Path) -> None:
    """A page of texts alone: no choice to compare, and nothing is cleaned."""
    html = '<p>${image_url}</p><textarea name="a"></textarea><input name="b">'
    path = written(tmp_path, html=html, rows=8)
    text = CAMPAIGN.replace("first_clicker", "straight_liner")
    text = text.replace("answers = 3", "answers = 5")  # so that all have to work
    path.write_text(text.replace("straight_line", "same_sentence", 1))
    with rehearsal_of(prepare(path)) as (run, crowd):
        work_through(run, crowd)
        traits = crowd.traits_by_worker()
        flagged = run.store.db.execute(
            "SELECT DISTINCT worker_id FROM findings JOIN answers ON answer_id = "
            "subject_id JOIN assignments USING (assignment_id) "
            "WHERE heuristic = 'same_sentence' AND flag"
        ).fetchall()
        assert {traits[worker] for (worker,) in flagged} == {"straight_liner"}
        assert clean_answers(run) == 0


SHORT = {"emotion_detection.html"}
"""Hidden inputs of a plain layout, and a crowd form: rehearsed each time."""


@needs_shared
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=() if page.name in SHORT else (pytest.mark.full,))
        for page in sorted(SHARED.rglob("*.html"))
    ],
    ids=lambda page: page.name,
)
def test_a_shared_page_is_rehearsed(tmp_path: Path, page: Path) -> None:
    """Unchanged, with its own items where it has some, to typed answers."""
    html = page.read_text("utf-8")
    path = written(tmp_path, html=html)
    names = {"translate_minimal": "translate_two_cities"}
    names["translate_validate"] = names["translate_minimal"]
    own = page.with_name(f"{names.get(page.stem, page.stem)}.csv")
    if own.is_file():
        items = own.read_text("utf-8")
    else:
        columns = cut(html).columns or ("unused",)
        cells = [f"https://example.org/{name}.jpg" for name in columns]
        items = f"{','.join(columns)}\n{','.join(cells)}\n"
    (tmp_path / "birds.csv").write_text(items)
    hosts = ", ".join(f'"{host}"' for host in LIBRARIES)
    path.write_text(f"hosts = [{hosts}]\n{CAMPAIGN}")
    with rehearsal_of(prepare(path)) as (run, crowd):
        assert work_through(run, crowd).is_finished
        table = answers_table(run)
    assert len(table) >= 3
    assert table["problems"].map(len).sum() == 0
    values = table[[name for name in table.columns if name.startswith("value.")]]
    assert values.map(bool).all(axis=None)


SEVERAL = "".join(
    f'<section><h2>Picture {n}</h2><img src="${{image{n}}}">'
    f'<label><input type="radio" name="bird{n}" value="yes" required> Yes</label>'
    f'<label><input type="radio" name="bird{n}" value="no"> No</label></section>'
    for n in range(1, 5)
)
OF_SEVERAL = """task = "hit.html"
items = "birds.csv"
answers = { least = 2, most = 4, until = 0.9 }
reward = "0.20"
minutes = 1
formats = ["csv"]
[gold]
file = "gold.csv"
share = 0.2
[rehearsal.crowd]
diligent = 5
guesser = 2
"""


def of_several(folder: Path) -> Path:
    """A campaign whose page shows four of its items at once, some of them gold."""
    (folder / "hit.html").write_text(SEVERAL)
    lines = [f"https://example.org/{n}.jpg,{'yes' if n % 3 else 'no'}" for n in range(14)]
    (folder / "birds.csv").write_text("\n".join(["image,truth.bird", *lines]))
    gold = [f"g{n},https://example.org/g{n}.jpg,yes" for n in range(4)]
    (folder / "gold.csv").write_text("\n".join(["item_id,image,gold.bird", *gold]))
    path = folder / "birds.toml"
    path.write_text(OF_SEVERAL)
    return path


def test_items_of_one_page_are_judged_replaced_and_exported_one_by_one(tmp_path: Path) -> None:
    """With gold items among them, and more answers only where labels are unsure."""
    path = of_several(tmp_path)
    campaign = load_campaign(path)
    assert campaign.posting.items_per_hit == 4
    (derived,) = (each for each in campaign.derived if each.key == "posting.items_per_hit")
    assert derived.why == "the page shows ${image1} to ${image4}"
    with rehearsal_of(prepare(path)) as (run, crowd):
        work_through(run, crowd)
        table = answers_table(run)
        sizes = {len(hit.item_ids) for hit in load_hits(run.store)}
        export(run)
    assert table["problems"].map(len).sum() == 0
    assert set(table["value.bird"]) == {"yes", "no"}
    assert max(sizes) == 4
    assert len(sizes) > 1  # later rounds ask about single items
    folder = next(path.parent.glob("out/birds/**/dataset"))
    items = pd.read_csv(folder / "items.csv")
    assert len(items) == 14
    assert set(items["input_image"]) == {f"https://example.org/{n}.jpg" for n in range(14)}
    answers = pd.read_csv(folder / "answers.csv")
    assert answers.groupby("item_id").size().between(2, 4).all()
    assert set(answers["item_id"]) == set(items["item_id"])


def test_rows_that_arrive_later_need_the_number_of_items_stated(tmp_path: Path) -> None:
    """Their columns are not known before; `check` says what to write."""
    path = of_several(tmp_path)
    grows = OF_SEVERAL.partition("[gold]")[0] + 'budget = "20"\n[grows]\n'
    rows = (tmp_path / "birds.csv").read_text().splitlines()
    ids = ["item_id", *(f"b{n}" for n in range(len(rows) - 1))]
    (tmp_path / "birds.csv").write_text("\n".join(map(",".join, zip(ids, rows, strict=True))))
    path.write_text(grows)
    with pytest.raises(ConfigError) as refused:
        check_campaign(path, on=START.date())
    assert "write items_per_hit = 4 in [posting]" in refused.value.next_step
    path.write_text(f"{grows}[posting]\nitems_per_hit = 4\n")
    assert check_campaign(path, on=START.date()).campaign.task.items_per_hit == 4


def test_more_items_than_the_page_shows_are_refused_with_the_line_to_write(
    tmp_path: Path,
) -> None:
    """Also where the page has no numbers at all."""
    path = of_several(tmp_path)
    path.write_text(OF_SEVERAL + "[posting]\nitems_per_hit = 5\n")
    with pytest.raises(ConfigError, match=r"hit\.html shows 4 items; write items_per_hit = 4"):
        load_campaign(path)
    path.write_text(OF_SEVERAL + "[posting]\nitems_per_hit = 3\n")
    hits = chain(*all_first_rounds(load_campaign(path), on=START.date()))
    assert max(len(hit.item_ids) for hit in hits) == 3
    (tmp_path / "hit.html").write_text('<img src="${image}"><input name="caption">')
    with pytest.raises(ConfigError, match=r"shows one item; number its placeholders and fields"):
        load_campaign(path)


def test_trials_that_the_page_would_not_show_are_refused(tmp_path: Path) -> None:
    """They would be neither asked nor in the results."""
    path = written(tmp_path, rows=4)
    items = tmp_path / "birds.csv"
    header, first, *others = items.read_text().splitlines()
    lines = [f"{header},practice", f"{first},yes", *(f"{line}," for line in others)]
    items.write_text("\n".join(lines))
    with pytest.raises(ConfigError, match=r"practice is set for 1 item, first .* no trials"):
        load_campaign(path)
