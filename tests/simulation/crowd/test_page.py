"""Reading the form of a page."""

from piecework.simulation.crowd.browser import read_page

PAGE = """
<input name="outside" value="no">
<!-- <form><input name="commented"></form> -->
<form action="/mturk/externalSubmit">
<style>input{color:red}</style>
<input type="hidden" name="item.1" value="a &amp; b">
<INPUT type='radio' name=mood.1 value="good"/><input type="radio" name="mood.1">
<textarea name="caption.1"></textarea> <input name="note" />
<input type="range" name="level.1"><input name="off" disabled>
<script>const no = '<input name="scripted">';</script>
</form>
<input name="behind">
"""


def test_what_the_form_sends_is_read_and_nothing_else() -> None:
    """Comments, scripts, other parts of the page and disabled boxes send nothing."""
    page = read_page(PAGE)
    assert page.fixed == {"item.1": "a & b"}
    assert page.options == {"mood.1": ["good", "on"]}
    assert page.texts == ["caption.1", "note"]
    assert list(page.names) == ["item.1", "mood.1", "caption.1", "note", "level.1"]


def test_equal_tags_of_two_pages_stay_apart() -> None:
    """What is known of a tag is shared; what is known of a page is its own."""
    first, second = read_page(PAGE), read_page(PAGE)
    first.fixed["item.1"] = "changed"
    first.options["mood.1"].append("more")
    assert second.fixed == {"item.1": "a & b"}
    assert second.options == {"mood.1": ["good", "on"]}
