"""Several items on one page: numbers, short HITs, and each item's own answer."""

import re
from pathlib import Path

import pytest

from piecework.domain.errors import ConfigError
from piecework.domain.field import StatedField
from piecework.domain.hit import Item
from piecework.domain.ids import AssignmentId, ItemId
from piecework.domain.task import Task
from piecework.hit_templates.answers import read_answers
from piecework.hit_templates.own_html.page import own_page
from piecework.hit_templates.render import render_hit
from tests.hit_templates.own_html import task_of

_PLACEHOLDERS = {
    "image{}": "image",
    "image_{}": "image",
    "image-{}": "image",
    "{}_image": "image",
    "Q{}_image": "image",
    "image0{}": "image",
    "image_url_{}": "image_url",
    "image_url{}": "image_url",
    "image{}_url": "image_url",
    "imageUrl{}": "imageUrl",
}
_NAMES = {
    "caption{}": "caption",
    "caption_{}": "caption",
    "caption-{}": "caption",
    "{}.caption": "caption",
    "Q{}_caption": "caption",
    "image{}_caption": "caption",
    "img_{}_caption": "img_caption",
    "caption0{}": "caption",
    "Answer.{}.caption": "answer_caption",
    "caption[{}]": "caption",
    "q{}": "q",
}


def page(placeholder: str = "image{}", name: str = "caption{}", *, items: int = 3) -> str:
    """A page for several items, each in a part of its own."""
    return "".join(
        f'<div><h3>Picture {n}</h3><img src="${{{placeholder.format(n)}}}">'
        f'<input name="{name.format(n)}" required></div>'
        for n in range(1, items + 1)
    )


def numbered(folder: Path, html: str, *, header: tuple[str, ...] = ("image",)) -> Task:
    """The task of a page, for items that have these columns."""
    return task_of(folder, html, header=header)


def items_of(number: int, column: str = "image") -> list[Item]:
    """Items with an address each."""
    return [
        Item(item_id=ItemId(f"i{n}"), columns={column: f"https://a.org/{n}.jpg"})
        for n in range(1, number + 1)
    ]


def test_the_number_of_a_placeholder_is_found_wherever_it_stands(tmp_path: Path) -> None:
    """The column is its name without the number, and the highest number is how many are shown."""
    for named, column in _PLACEHOLDERS.items():
        task = numbered(tmp_path, page(named), header=("image", "image_url"))
        assert (task.items_per_hit, task.picture_columns) == (3, (column,)), named


def test_the_number_of_a_field_is_found_wherever_it_stands(tmp_path: Path) -> None:
    """Each item gets an answer under the field's name without the number."""
    for named, name in _NAMES.items():
        task = numbered(tmp_path, page(name=named))
        assert [field.name for field in task.fields] == [name], named
        sent = {named.format(n): f"text {n}" for n in (1, 2, 3)}
        read = read_answers(
            task, AssignmentId("a"), [ItemId("i1"), ItemId("i2"), ItemId("i3")], sent
        )
        assert [answer.values[name] for answer in read] == ["text 1", "text 2", "text 3"], named
        assert not any(answer.also_sent or answer.problems for answer in read), named


def test_of_two_numbers_that_of_the_item_rises_over_the_page(tmp_path: Path) -> None:
    """Two questions about each of two items: either number could be the item's."""
    by_item = [f"img{n}_q{q}" for n in (1, 2) for q in (1, 2)]
    by_question = [f"q{q}_img{n}" for n in (1, 2) for q in (1, 2)]
    for names, fields in [
        (by_item, ["img_q1", "img_q2"]),
        (by_question, ["q1_img", "q2_img"]),
    ]:
        inputs = [f'<input name="{name}">' for name in names]
        html = "".join(
            f'<p><img src="${{image{n + 1}}}">{"".join(inputs[2 * n : 2 * n + 2])}</p>'
            for n in (0, 1)
        )
        task = numbered(tmp_path, html)
        assert [field.name for field in task.fields] == fields


def test_names_of_published_pages_are_divided(tmp_path: Path) -> None:
    """Naming as in pages that requesters published, each with the columns of one item."""
    cases = [
        # placeholders, fields, header, columns, fields of an item
        ("Object{0} Use{0}", "nl_phrase{0}", "Object Use", "Object Use", "nl_phrase"),
        ("cont{0} hypo{0}", "il{0} iu{0} range{0}", "cont hypo", "cont hypo", "il iu range"),
        ("trial{0}_stim", "trial{0}_resp", "stim", "stim", "resp"),
        ("question{0}", "answer{0}-1 answer{0}-2", "question", "question", "answer_1 answer_2"),
        ("Sentence{0}", "sentence_{0}_rating", "sentence", "Sentence", "sentence_rating"),
        ("image0{0}", "annotation_data{0}", "image", "image", "annotation_data"),
    ]
    for shown, asked, names, columns, fields in cases:
        html = "".join(
            "<p>"
            + " ".join(f"${{{name.format(n)}}}" for name in shown.split())
            + "".join(f'<input name="{name.format(n)}">' for name in asked.split())
            + "</p>"
            for n in range(1, 6)
        )
        task = numbered(tmp_path, html, header=tuple(names.split()))
        assert task.items_per_hit == 5, shown
        assert [*task.optional_columns] == columns.split(), shown
        assert [field.name for field in task.fields] == fields.split(), shown
    # Several answers about one item, and several pictures of one.
    keywords = '<img src="${url}">' + "".join(f'<input name="keyword{n}">' for n in (1, 2, 3))
    assert numbered(tmp_path, keywords, header=("url",)).items_per_hit == 1
    unit = "".join(f'<img src="${{image_url_{n}}}">' for n in (1, 2, 3)) + "<input name=text>"
    header = ("layer", "image_url_1", "image_url_2", "image_url_3")
    assert numbered(tmp_path, unit, header=header).items_per_hit == 1


def test_labels_and_limits_hold_for_each_item(tmp_path: Path) -> None:
    """The number of an item is no part of the question."""
    html = "".join(
        f'<img src="${{image{n}}}"><label>Caption {n}: <input name="caption{n}" '
        f'maxlength="{90 + n}" {"required" if n > 1 else ""}></label>'
        for n in (1, 2, 3)
    )
    task = numbered(tmp_path, html)
    assert task.fields[0].label == "Caption:"
    assert [(rule.kind, dict(rule.parameters)) for rule in task.rules] == [
        ("max_length", {"maximum": 93})
    ]


def test_numbers_may_begin_with_nought(tmp_path: Path) -> None:
    """Placeholders and fields each have their own first number."""
    html = "".join(f'<img src="${{image{n}}}"><input name="caption{n + 1}">' for n in range(3))
    (field,) = numbered(tmp_path, html).fields
    assert field.sent_at == ("caption1", "caption2", "caption3")


def test_items_with_numbered_columns_stay_one_to_a_page(tmp_path: Path) -> None:
    """A file as MTurk took it: a row is a HIT."""
    task = numbered(tmp_path, page(), header=("image1", "image2", "image3"))
    assert task.items_per_hit == 1
    assert [field.name for field in task.fields] == ["caption1", "caption2", "caption3"]
    unknown = task_of(tmp_path, page(), header=None)
    assert unknown.items_per_hit == 1
    stated = task_of(tmp_path, page(), header=None, items_per_hit=3)
    assert stated.items_per_hit == 3


def test_what_has_no_number_is_asked_once_for_the_hit(tmp_path: Path) -> None:
    """Its answer is with each item's, and a column without a number is the same for all."""
    html = "<h1>${topic}</h1>" + page() + '<textarea name="feedback"></textarea>'
    task = numbered(tmp_path, html, header=("image", "topic"))
    assert [(field.name, field.scope) for field in task.fields] == [
        ("caption", "item"),
        ("feedback", "hit"),
    ]
    assert task.one_value_per_hit == "topic"
    sent = {"caption1": "a", "caption2": "b", "caption3": "c", "feedback": "fine"}
    read = read_answers(task, AssignmentId("a"), [ItemId(f"i{n}") for n in (1, 2, 3)], sent)
    assert [answer.hit_values for answer in read] == [{"feedback": "fine"}] * 3


def test_a_numbered_field_can_be_stated_as_asked_once(tmp_path: Path) -> None:
    """Questions about the worker may have numbers of their own."""
    html = page() + '<input name="Q1"><input name="Q2">'
    with pytest.raises(ConfigError, match='scope = "hit"'):
        numbered(tmp_path, html)
    once = {name: StatedField(scope="hit") for name in ("Q1", "Q2")}
    stated = once | {"caption": StatedField(label="What do you see?")}
    task = task_of(tmp_path, html, header=("image",), fields=stated)
    assert [field.scope for field in task.fields] == ["item", "hit", "hit"]
    assert task.fields[0].label == "What do you see?"
    with pytest.raises(ConfigError, match=r"state it for all as \[fields.caption\]"):
        task_of(tmp_path, html, header=("image",), fields=once | {"caption2": StatedField()})
    with pytest.raises(ConfigError, match="shows 51 items; a HIT may have at most 50"):
        numbered(tmp_path, page(items=51))


def test_numbers_that_do_not_fit_are_refused_with_what_to_write(tmp_path: Path) -> None:
    """One sentence says what is there and what is missing."""
    gap = page().replace("${image2}", "https://a.org/2.jpg")
    short = page().replace('<input name="caption3" required>', "")
    other = page().replace('<input name="caption3"', '<input type="number" name="caption3"')
    alone = re.sub(r"caption\d", "caption", page())
    two = "${topic} ${season}" + page()
    for html, words in [
        (gap, "has ${image1}, ${image3}, but no ${image2}; write it too"),
        (short, "shows 3 items (${image1} to ${image3}), but its fields are caption1, capt"),
        (other, "caption3 has other answers than caption1"),
        (alone, "no field has a number; name the field of the first item caption1"),
        (two, "only one column can be the same for all items of a HIT; write ${season1}"),
    ]:
        with pytest.raises(ConfigError) as refused:
            numbered(tmp_path, html)
        assert words in str(refused.value)
        assert len(refused.value.faults) == 1


_LAYOUTS = {
    "parts": page(items=4),
    "flat": "<p>Describe them.</p>"
    + "<hr>".join(
        f'<h3>Picture {n}</h3><img src="${{image{n}}}"><textarea name="caption{n}"></textarea>'
        for n in range(1, 5)
    )
    + "<hr><textarea name=feedback></textarea><button>Send</button>",
    "table": "<table><tr>"
    + "".join(f'<td><img src="${{image{n}}}"></td>' for n in range(1, 5))
    + "</tr><tr>"
    + "".join(f'<td>Picture {n} <input name="caption{n}"></td>' for n in range(1, 5))
    + "</tr></table>",
    "rows": "<table>"
    + "".join(
        "<tr>"
        + "".join(
            f'<td>Picture {n}<img src="${{image{n}}}"><input name="caption{n}"></td>' for n in pair
        )
        + "</tr>"
        for pair in ((1, 2), (3, 4))
    )
    + "</table>",
    "document": "<!DOCTYPE html>\n<html><head><title>t</title></head><body><form>"
    + "".join(
        f'<fieldset id="box{n}"><legend>Picture {n}</legend><img src="${{image{n}}}">'
        f'<label for="c{n}">Caption</label><input id="c{n}" name="caption{n}"></fieldset>'
        for n in range(1, 5)
    )
    + "<button>Send</button></form></body></html>",
}


def test_a_hit_with_fewer_items_has_no_parts_about_the_others(tmp_path: Path) -> None:
    """Pictures, fields and headings of missing items are left out, and nothing else."""
    for layout, html in _LAYOUTS.items():
        task = numbered(tmp_path, html)
        for items in (1, 2, 3):
            shown = own_page(task, items_of(items), title="t").partition("</script>\n")[2]
            kept = range(1, items + 1)
            assert re.findall(r'src="https://a.org/(\d).jpg"', shown) == [*map(str, kept)], layout
            assert re.findall(r'name="caption(\d)"', shown) == [*map(str, kept)], layout
            assert {int(n) for n in re.findall(r"Picture (\d)", shown)} <= {*kept}, (layout, items)
            assert ("<button>Send" in shown) == ("<button>Send" in html), layout
            assert ("feedback" in shown) == ("feedback" in html), layout


def test_numbered_examples_in_the_instructions_stay(tmp_path: Path) -> None:
    """They come before the first item, and belong to none."""
    examples = "".join(f'<p id="example{n}">Example {n}</p>' for n in (1, 2, 3))
    shown = own_page(numbered(tmp_path, examples + page()), items_of(1), title="t")
    assert [n for n in (1, 2, 3) if f"Example {n}" in shown] == [1, 2, 3]
    assert "Picture 2" not in shown


def test_a_page_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    """With a sentence, where it would have to be shortened."""
    task = numbered(tmp_path, "<div>" * 20_000 + page())
    with pytest.raises(ConfigError, match="nested too deeply"):
        own_page(task, items_of(1), title="t")


def test_numbers_that_are_dates_say_nothing_about_items(tmp_path: Path) -> None:
    """The page is read as one for an item, whose columns are missing."""
    html = "${id20240101} ${id20240102} ${q11} ${q12} <input name=word>"
    task = numbered(tmp_path, html, header=("image",))
    assert task.items_per_hit == 1


def test_placeholders_in_a_script_are_empty_for_missing_items(tmp_path: Path) -> None:
    """A script is the same for any number of items."""
    html = page() + "<script>const all = ['${image1}', '${image2}', \"${image3}\"];</script>"
    task = numbered(tmp_path, html)
    shown = own_page(task, items_of(1), title="t")
    assert "const all = ['https://a.org/1.jpg', '', \"\"];" in shown


def test_a_full_hit_shows_the_page_as_it_was_written(tmp_path: Path) -> None:
    """Nothing is parsed and written again."""
    html = page().replace("<h3>", "<H3 ID=x >")
    shown = render_hit(numbered(tmp_path, html), items_of(3))
    for n in (1, 2, 3):
        html = html.replace(f"${{image{n}}}", f"https://a.org/{n}.jpg")
    assert html in shown


def test_an_answer_for_an_item_that_the_hit_lacks_is_kept_but_no_field(tmp_path: Path) -> None:
    """A script may send all fields; empty ones say nothing."""
    task = numbered(tmp_path, page())
    sent = {"caption1": "a", "caption2": "", "caption3": "x"}
    (answer,) = read_answers(task, AssignmentId("a"), [ItemId("i1")], sent)
    assert answer.values == {"caption": "a"}
    assert answer.also_sent == {"caption3": "x"}


def test_other_values_go_to_the_item_that_their_number_names(tmp_path: Path) -> None:
    """Hidden inputs often carry the address along."""
    hidden = "".join(
        f'<input type="hidden" name="url{n}" value="${{image{n}}}">' for n in (1, 2, 3)
    )
    task = numbered(tmp_path, page() + hidden)
    sent = {f"caption{n}": "c" for n in (1, 2, 3)} | {f"url{n}": f"u{n}" for n in (1, 2, 3)}
    read = read_answers(
        task,
        AssignmentId("a"),
        [ItemId(f"i{n}") for n in (1, 2, 3)],
        sent | {"agent": "Firefox 120"},
    )
    assert [answer.also_sent for answer in read] == [
        {"url": f"u{n}", "agent": "Firefox 120"} for n in (1, 2, 3)
    ]


@pytest.mark.parametrize("has_values", [True, False])
def test_crowd_elements_answer_for_their_item(
    tmp_path: Path,
    has_values: bool,  # noqa: FBT001 - a case
) -> None:
    """The JSON of a crowd form is divided too, also for a group under several names."""
    html = (
        "<crowd-form>"
        + "".join(
            f'<img src="{{{{ task.input.image{n} }}}}"><crowd-input name="word{n}"></crowd-input>'
            f'<crowd-radio-group><crowd-radio-button name="yes{n}" value="yes">Yes'
            f'</crowd-radio-button><crowd-radio-button name="no{n}" value="no">No'
            "</crowd-radio-button></crowd-radio-group>"
            for n in (1, 2)
        )
        + "</crowd-form>"
    )
    document = (
        '[{"word1": "a", "word2": "b", "yes1": {"yes": true}, "no1": {"no": false},'
        ' "yes2": {"yes": false}, "no2": {"no": true}}]'
    )
    if not has_values:
        html = html.replace(' value="yes"', "").replace(' value="no"', "")
        document = document.replace('{"yes":', '{"on":').replace('{"no":', '{"on":')
    task = numbered(tmp_path, html)
    read = read_answers(
        task, AssignmentId("a"), [ItemId("i1"), ItemId("i2")], {"taskAnswers": document}
    )
    assert [dict(answer.values) for answer in read] == [
        {"word": "a", "yes": "yes"},
        {"word": "b", "yes": "no"},
    ]


LOOP = """<crowd-form>
{% for photo in task.input.photos %}
<section><h2>Photo {{ forloop.index }}</h2><img src="{{ photo.url | grant_read_access }}">
<p>{{ photo['place'] | upcase }}</p>
<crowd-input name="caption-{{ forloop.index0 }}" required></crowd-input></section>
{%- endfor -%}
</crowd-form>"""


def test_a_loop_shows_each_item_of_the_hit(tmp_path: Path) -> None:
    """The loop is written out once for each item, as SageMaker did it."""
    for items_per_hit in (2, 4):
        task = task_of(tmp_path, LOOP, header=("url", "place"), items_per_hit=items_per_hit)
        assert (task.items_per_hit, task.picture_columns) == (items_per_hit, ("url",))
        (field,) = task.fields
        assert field.name == "caption"
        assert field.sent_at == tuple(f"caption-{n}" for n in range(items_per_hit))
        items = [
            Item(item_id=ItemId(f"i{n}"), columns={"url": f"https://a.org/{n}", "place": "Rome"})
            for n in (1, 2)
        ]
        shown = own_page(task, items, title="t")
        assert re.findall(r'src="([^"]*)"', shown) == ["https://a.org/1", "https://a.org/2"]
        assert shown.count("<p>ROME</p>") == 2
        assert re.findall(r"Photo (\d)", shown) == ["1", "2"]
    long = LOOP.replace("<p>", f"<p>{'long ' * 5_000}")
    with pytest.raises(ConfigError, match="characters with 50 items; shorten its loop"):
        task_of(tmp_path, long, header=("url", "place"), items_per_hit=50)
    twice = task_of(tmp_path, f"<i>a</i>{LOOP}<b>{LOOP}", header=("url",), items_per_hit=2)
    assert twice.html_page is not None
    assert re.findall(r"<(i|crowd-form|section|b)>", twice.html_page.html) == [
        *("i", "crowd-form", "section", "section"),
        *("b", "crowd-form", "section", "section"),
    ]
    alone = task_of(tmp_path, LOOP, header=("url", "place"), items_per_hit=1)
    assert [field.name for field in alone.fields] == ["caption_0"]


def test_a_loop_needs_its_number_and_names_with_numbers(tmp_path: Path) -> None:
    """And one over the cell of an item is not for several items."""
    with pytest.raises(ConfigError) as refused:
        task_of(tmp_path, LOOP, header=("url", "place"))
    (fault,) = refused.value.faults
    assert "hit.html: line 2: {% for photo in task.input.photos %} shows each item" in fault
    assert "write items_per_hit = 5 in [posting]" in fault
    unnamed = LOOP.replace("-{{ forloop.index0 }}", "")
    with pytest.raises(ConfigError, match=r'write name="caption\{\{ forloop.index \}\}"'):
        task_of(tmp_path, unnamed, header=("url", "place"), items_per_hit=3)
    with pytest.raises(ConfigError, match="not supported; write out its result"):
        task_of(tmp_path, LOOP, header=("photos",), items_per_hit=3)
    later = LOOP + "<p>${topic</p>\n{% if x %}"
    with pytest.raises(ConfigError, match=r"line 7: Liquid's '\{% if x %\}' is not"):
        task_of(tmp_path, later.replace("\n</crowd-form>", "</crowd-form>"), items_per_hit=3)
