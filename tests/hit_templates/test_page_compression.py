"""A compressed page is small, and the same page."""

from collections.abc import Iterable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from piecework.campaign.assembling import load_campaign
from piecework.domain.hit import MTURK, Item
from piecework.domain.ids import ItemId
from piecework.hit_templates.page_compression import MARK, compress, decompress, fitted
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task
from piecework.platforms.wire import html_question

CAMPAIGNS = Path(__file__).resolve().parents[2] / "config" / "campaigns"
HEAD, TAIL = "<form>\n<p>5 of 12</p>\n", "</form>\n"

# As on a page: lines end in line feeds, and no control character is in them.
_lines = st.lists(
    st.text(
        st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters=MARK),
        max_size=12,
    ),
    min_size=3,
    max_size=3,
)


def section(n: int, lines: list[str]) -> str:
    """A section as the frame writes it."""
    inside = "".join(f"{line}\n" for line in lines if "</section>" not in line)
    return (
        f'<section class="step item" data-position="{n}">\n'
        f'<b id="x-{n}">{n} of 12</b>\n{inside}</section>\n'
    )


def hosted(items: Iterable[Item]) -> list[Item]:
    """Items whose pictures lie on the web."""
    host = "https://pictures.example/severity"
    return [
        Item(item_id=item.item_id, columns={**item.columns, "url": f"{host}/{item.columns['url']}"})
        for item in items
    ]


@given(st.lists(_lines, min_size=2, max_size=13))
def test_decompressing_gives_the_same_bytes(items: list[list[str]]) -> None:
    """Whatever stands in the lines, also digits that look like positions."""
    sections = [section(n, lines) for n, lines in enumerate(items, start=1)]
    page = HEAD + "".join(sections) + TAIL
    assert decompress(compress(page, more_than=0)) == page


def test_lines_that_differ_in_the_position_only_travel_once() -> None:
    """Twelve sections hold `id="x-..."` once, and each its own sentence."""
    sections = [section(n, [f"A dog, {n * n} times"]) for n in range(1, 13)]
    compressed = compress(HEAD + "".join(sections) + TAIL, more_than=0)
    assert compressed.count("x-") == 1
    assert compressed.count("A dog") == 1
    assert '<section class="' not in compressed


def test_trials_are_compressed_as_well() -> None:
    """They stand before what is asked once, and come out there again."""
    trials = "".join(
        section(n, [f"Trial {n}"]).replace(f'position="{n}"', f'position="p{n}"')
        for n in range(1, 5)
    )
    items = "".join(section(n, [f"Item {n * n}"]) for n in range(1, 9))
    page = f"{HEAD}{trials}<p>About you</p>\n{items}{TAIL}"
    made = compress(page, more_than=0)
    assert '<section class="' not in made
    assert made.index("Trial") < made.index("About you") < made.index("Item")
    assert decompress(made) == page


def test_a_study_with_trials_and_28_items_fits_into_one_question() -> None:
    """The example campaign's own items, under addresses on the web, with room left."""
    for file in ("severity.toml", "severity_en.toml"):
        campaign = load_campaign(CAMPAIGNS / file)
        items, practice = map(hosted, (campaign.items, campaign.practice))
        page = render_hit(campaign.task, items, practice=practice)
        # Longer items would be compressed further: what they have in common is shared.
        least = compress(decompress(page), more_than=0)
        assert len(html_question(least).encode()) < MTURK.question_bytes - 500
        assert decompress(page).count('class="step item"') == 28 + 4


def test_a_small_page_and_a_single_section_stay_as_they_are() -> None:
    """Packing is for pages that would not fit."""
    page = HEAD + section(1, ["a"]) + section(2, ["b"]) + TAIL
    assert compress(page, more_than=len(page.encode())) == page
    assert compress(page, more_than=len(page.encode()) - 1) != page
    alone = HEAD + section(1, ["a"]) + TAIL
    assert compress(alone, more_than=0) == alone


def test_sections_of_unlike_shape_are_left_alone() -> None:
    """Another number of lines, or a mark in the text: not compressed, not broken."""
    unlike = HEAD + section(1, ["a"]) + section(2, ["b", "c"]) + TAIL
    assert compress(unlike, more_than=0) == unlike
    marked = HEAD + section(1, [MARK]) + section(2, ["b"]) + TAIL
    assert compress(marked, more_than=0) == marked


def test_fifty_pairs_of_an_expert_fit_into_one_question() -> None:
    """The page that the document asks for, with long sentences and hostile ones."""
    task = load_task("expert_rating")
    hostile = "</script><script>alert(1)</script>]]>\u2028\\\"'{{7*7}}"
    items = [
        Item(
            item_id=ItemId(f"pair_{n}"),
            columns={
                "pair_id": f"pair_{n}",
                "url": f"https://pictures.example/flickr8k/{n:012}.jpg",
                "sentence": f"{hostile} {n} people walk two dogs past a brick wall",
            },
        )
        for n in range(1, 51)
    ]
    page = render_hit(task, items)
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert "</script><script>" not in decompress(page)
    assert html_question(page)
    assert decompress(page).count('name="score.50"') == 4


def test_a_page_that_is_still_too_large_carries_its_script_packed() -> None:
    """As a program reads it, nothing of it changed; no page is packed in vain."""
    task = load_task("expert_rating")
    items = [
        Item(
            item_id=ItemId(f"pair_{n}"),
            columns={
                "pair_id": f"pair_{n}",
                "url": f"https://pictures.example.org/{n}.jpg",
                "sentence": f"{n} " + "".join(chr(97 + (n * k) % 26) for k in range(250)),
            },
        )
        for n in range(50)
    ]
    page = render_hit(task, items)
    assert len(html_question(page).encode()) <= MTURK.question_bytes
    assert "data-packed" in page
    whole = decompress(page)
    assert whole.count('class="step item"') == 50
    assert "pieceworkRules" in whole
    assert "data-packed" not in whole
    assert fitted(whole, more_than=len(page.encode())) == page
    assert fitted(whole, more_than=len(whole.encode())) == whole
