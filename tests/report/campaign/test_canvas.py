"""Plots as SVG inside a page: no ids in common, no other host, colours one can read."""

import re
from pathlib import Path

import pytest
from defusedxml.ElementTree import fromstring

from piecework.report import plots
from piecework.report.plots import INK, SOFT, draw_svg

_BARS = [plots.Bar("kept", 3, "3 (75.0 %)"), plots.Bar("<b> $a$ &", 1, "1 ]]>")]


def test_labels_stay_text() -> None:
    """Text can be read aloud; neither markup nor formulas are made of it."""
    root = fromstring(draw_svg(plots.bars(_BARS), key="k", title="T", description="D"))

    texts = [element.text for element in root.iter("text")]
    assert {"kept", "<b> $a$ &", "3 (75.0 %)", "1 ]]>"} <= set(texts)
    assert [root[0].text, root[1].text] == ["T", "D"]


def test_two_plots_of_one_page_share_no_id() -> None:
    """Every id begins with the plot's key, and each reference finds its target."""
    bins = [plots.Bin(0, 1, 3), plots.Bin(1, 2, 5)]
    plot = plots.histogram(bins, x_label="x", y_label="y", ticks=[(0, "0")])
    drawing = draw_svg(plot, key="k", title="T", description="D")

    ids = re.findall(r' id="([^"]+)"', drawing)
    references = re.findall(r'(?:href="#|url\(#)([^")]+)', drawing)
    assert len(ids) == len(set(ids))
    assert all(element_id.startswith("k-") for element_id in ids)
    assert set(references) <= set(ids)
    assert references


def test_no_other_host_is_named() -> None:
    """Namespaces, doctype and metadata are gone; the browser needs none of them."""
    drawing = draw_svg(plots.bars(_BARS), key="k", title="T", description="D")

    assert drawing.startswith("<svg ")
    assert not re.findall(r"http|xmlns|DOCTYPE|metadata|<style", drawing)


def _luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(first: str, second: str) -> float:
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_measure_of_contrast_is_right() -> None:
    """Black on white is 21 by definition; #767676 on white is 4.54 (WebAIM's table)."""
    assert _contrast("#000000", "#ffffff") == pytest.approx(21)
    assert _contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("colour", [INK, SOFT])
def test_text_in_plots_stands_out(colour: str) -> None:
    """WCAG AA asks for 4.5 between text and the white it stands on."""
    assert _contrast(colour, "#ffffff") >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("colour", [plots.TEAL, plots.GREEN, plots.AMBER, plots.RED, plots.GREY])
def test_bars_stand_out(colour: str, scheme: str) -> None:
    """WCAG asks for 3 between what a plot draws and the paper around it, and counts on bars."""
    css = (Path(plots.__file__).parent / "templates/report.css").read_text()
    light, dark = re.findall(r":root \{(.*?)\}", css, re.DOTALL)[:2]
    slots = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+)", dark if scheme == "dark" else light))
    slot = plots._COLOURS.get(colour, "").removeprefix("var(--").removesuffix(")")
    shown, paper = slots.get(slot, colour), slots["paper"]
    assert _contrast(shown, paper if len(paper) == 7 else "#ffffff") >= 3
    assert _contrast(shown, "#ffffff") >= 3
