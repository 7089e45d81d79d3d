"""Pages are complete, escaped, small enough, and survive MTurk's XML."""

import html as html_words
import json
import re
from pathlib import Path

import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.task import Task
from piecework.hit_templates.page_compression import decompress
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task
from piecework.platforms.wire import NAMESPACE, html_question

GOLDEN = Path(__file__).parent / "golden"
HOSTILE = """"><script>alert(1)</script>{{ 7 * 7 }}]]>'"""


def item(item_id: str = "img_1", url: str = "/pictures/a.svg") -> Item:
    """An item with this id and address."""
    return Item(item_id=ItemId(item_id), columns={"image_id": item_id, "url": url})


def content_of(question: str) -> str:
    """The HTML inside a question, as an XML reader sees it."""
    text = fromstring(question).findtext(f"{{{NAMESPACE}}}HTMLContent")
    assert text is not None
    return str(text)


def without_scripts(page: str) -> str:
    """The page's markup; scripts and styles have files and tests of their own."""
    short = re.sub(r"(?s)(<style>|<script>)\n.*?\n(</)", r"\1...\2", page)
    return re.sub(r"[ \t]+\n|\n{2,}", "\n", short)


def test_the_caption_page_has_the_paper_s_instructions(
    caption_task: Task, example_items: list[Item]
) -> None:
    """Word for word as VizWiz-Captions quotes them (section 3.1)."""
    quoted = """
    Describe all parts of the image that may be important to a person who is blind.
    If text is in the image, and is important, then you can summarize what it says.
    DO NOT describe the image quality issues.
    DO NOT use all the specific phrases that you see in the image as your description
    of the image.
    """
    page = without_scripts(render_hit(caption_task, example_items[:1]))
    shown = " ".join(re.sub(r"<[^>]+>", "", page).split())
    for sentence in " ".join(quoted.split()).split(". "):
        assert sentence in shown


def test_the_caption_page_is_the_golden_one(
    caption_task: Task, example_items: list[Item], *, update_golden: bool
) -> None:
    """Any change of the markup is seen by a person before it is seen by workers."""
    page = without_scripts(render_hit(caption_task, example_items[:2]))
    path = GOLDEN / "caption.html"
    if update_golden:
        path.parent.mkdir(exist_ok=True)
        path.write_text(page, "utf-8")
    assert page == path.read_text("utf-8")


def test_the_page_is_a_complete_document_with_every_wire_name(
    caption_task: Task, example_items: list[Item]
) -> None:
    """Each field of each item is in the form under its name."""
    page = decompress(render_hit(caption_task, example_items))
    assert page.startswith("<!DOCTYPE html>\n<html lang=")
    assert page.rstrip().endswith("</html>")
    names = set(re.findall(r'\bname="([^"]+)"', page)) - {"viewport"}
    kinds = [
        "item", "caption", "has_text", "flaws", "flaw_other",
        "shown_ms", "pastes", "keystrokes", "focus_losses", "typing",
    ]  # fmt: skip
    expected = {f"{kind}.{n}" for kind in kinds for n in range(1, 6)}
    assert names == expected | {"assignmentId", "comment"}
    assert "<noscript>" in page


def test_the_page_asks_no_host_but_that_of_its_pictures(
    caption_task: Task, example_items: list[Item]
) -> None:
    """No address of another host is in the page, not even a protocol's beginning."""
    page = render_hit(caption_task, example_items)
    assert "//" not in re.sub(r"(?s)<script>.*?</script>", "", page)
    assert not re.search(r"https?://", page)
    assert "@import" not in page
    assert "url(" not in page


def test_a_page_of_five_leaves_room_for_long_addresses(caption_task: Task) -> None:
    """Five addresses of 1,500 bytes each, as signed ones are, still fit."""
    items = [item(f"img_{n}", "https://pictures.example/" + "x" * 1475) for n in range(5)]
    html_question(render_hit(caption_task, items))


def test_strangers_text_is_escaped_everywhere(caption_task: Task) -> None:
    """An item id with markup stays text, and is read back whole from the form."""
    page = render_hit(caption_task, [item(HOSTILE)], title=HOSTILE)
    assert "<script>alert" not in page
    assert "49" not in without_scripts(page).split('id="page-data"')[0]
    match = re.search(r'name="item\.1" value="([^"]*)"', page)
    assert match is not None
    assert html_words.unescape(match[1]) == HOSTILE
    assert content_of(html_question(page)) == page


def test_the_title_is_the_tasks_own_unless_given(caption_task: Task) -> None:
    """A campaign may name its HITs; else the task does."""
    assert f"<h1>{caption_task.title}</h1>" in render_hit(caption_task, [item()])
    assert "<h1>Birds</h1>" in render_hit(caption_task, [item()], title="Birds")


def test_a_replacement_asks_workers_who_know_the_pictures_to_return_it(caption_task: Task) -> None:
    """Only a page of a later round says so, in words that fit the number."""
    rest = ". If so, please return this HIT."
    sentence = f"You may have seen this picture before{rest}"
    some = f"You may have seen some of these pictures before{rest}"
    items = [item(), item(item_id="img_2")]
    assert rest not in render_hit(caption_task, items)
    assert some in render_hit(caption_task, items, round_number=1)
    alone = render_hit(caption_task, items[:1], round_number=1)
    assert sentence in alone
    assert some not in alone


def test_the_page_carries_the_rules_as_data(caption_task: Task) -> None:
    """The script reads the same rules as Python, in the same order."""
    page = render_hit(caption_task, [item()])
    match = re.search(r'id="page-data">(.*?)</script>', page)
    assert match is not None
    carried = json.loads(match[1])
    assert [rule["name"] for rule in carried["rules"]] == [rule.name for rule in caption_task.rules]
    assert carried["rules"][1]["parameters"] == {"minimum": 8}


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)", "data:image/png;base64,AAAA", "//other.example/a.png",
        "/\\other.example/a.png", "pictures/a.png", "ftp://x.example/a.png",
        "https:///a.png", "https://x.example/a b.png", "http://[::1/a.png",
    ],
)  # fmt: skip
def test_an_address_that_is_neither_http_nor_a_path_is_refused(
    caption_task: Task, url: str
) -> None:
    """What could run or lead elsewhere never reaches a page."""
    with pytest.raises(ConfigError, match="neither http"):
        render_hit(caption_task, [item(url=url)])


@pytest.mark.parametrize(
    "url", ["https://x.example/a.png?x=1&y=%20", "http://127.0.0.1:8080/a.png", "/a.png"]
)
def test_an_ordinary_address_is_shown_escaped(caption_task: Task, url: str) -> None:
    """The address in the page is the item's."""
    page = render_hit(caption_task, [item(url=url)])
    assert f'<img src="{html_words.escape(url)}"' in page


def test_all_faults_of_all_items_are_told_at_once(caption_task: Task) -> None:
    """A missing column, a control character and a bad address in three items."""
    items = [
        Item(item_id=ItemId("a"), columns={"image_id": "a"}),
        item("b\x07"),
        item("c", "mailto:x"),
    ]
    with pytest.raises(ConfigError) as raised:
        render_hit(caption_task, items)
    faults = raised.value.faults
    assert faults == [
        "item 'a': the column url is missing or empty; leave the row out, or fill it in.",
        "item 'b\\x07': the id holds a control character, a tab or a line break.",
        "item 'b\\x07': the column image_id holds the control character '\\x07'.",
        "item 'c': url is 'mailto:x', neither http(s)://... nor a path that starts with /.",
    ]


@pytest.mark.parametrize("number", [0, 6])
def test_a_hit_shows_as_many_items_as_the_task_allows(caption_task: Task, number: int) -> None:
    """Neither an empty page nor one that is too long is made."""
    with pytest.raises(ConfigError, match=f"1 to 5 items, not {number}"):
        render_hit(caption_task, [item(f"img_{n}") for n in range(number)])


_carried = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\ufffe\uffff")
    .filter(lambda c: c >= " " or c in "\t\n")
)  # fmt: skip


@given(_carried)
def test_any_item_id_comes_back_from_the_page(item_id: str) -> None:
    """The id that a form sends back is the id that was rendered."""
    if not item_id.strip() or {"\t", "\n"} & set(item_id):
        return  # refused: see above
    page = content_of(html_question(render_hit(load_task("caption"), [item(item_id)])))
    match = re.search(r'name="item\.1" value="([^"]*)"', page)
    assert match is not None
    assert html_words.unescape(match[1]) == item_id
