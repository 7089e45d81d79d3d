"""What the page says about each heuristic's truth is what is measured."""

from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import pytest

from piecework.qc.heuristics import random_sample
from piecework.qc.registry import HEURISTICS, OFF_BY_DEFAULT
from piecework.qc.truth import BY_PEOPLE, measured
from piecework.qc.typing_evidence import WEIGHTS
from tests.bench.truth import machine_texts, written_fit
from tests.bench.truth.measure import auc, figures_of, wilson
from tests.bench.truth.sets import (
    DATA,
    LabelledSet,
    entailment,
    paraphrases,
    repeated_sentences,
    submissions,
)
from tests.bench.truth.typing_fit import PAGE, fitted, held_out, held_out_set
from tests.bench.truth.typing_fit import measured as measured_typing
from tests.bench.truth.typing_sessions import sessions
from tools.heuristics_page import heuristics_page, measured_page


def test_every_heuristic_was_measured_in_its_version_or_says_never() -> None:
    """A changed heuristic has to be measured again (`make truth`)."""
    versions = {name: version for name, (version, _) in measured().items()}
    assert versions == {
        heuristic.NAME: heuristic.VERSION
        for heuristic in HEURISTICS
        if heuristic is not random_sample
    }
    page = measured_page()
    for name, (_, figures) in measured().items():
        section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
        is_measured = any(figure.kind in BY_PEOPLE for figure in figures)
        assert ("**Never measured**" in section) is not is_measured
        is_in_short_table = f"\n| `{name}` | " in heuristics_page()
        assert is_in_short_table is (is_measured and name not in OFF_BY_DEFAULT)
        assert section.count("| measured on |") == bool(figures)


def test_what_is_worth_nothing_is_off_and_what_runs_spares_the_honest() -> None:
    """On work by real people: below 2 % of the honest, or switched off."""
    for name, (_, figures) in measured().items():
        real = [figure for figure in figures if figure.kind != "rehearsed"]
        assert all(figure.kind in BY_PEOPLE or name == "not_typed" for figure in real)
        if name not in OFF_BY_DEFAULT:
            assert all(figure.honest_flagged[0] <= 0.02 for figure in real), name
        else:
            assert all(figure.auc is None or figure.auc[0] < 0.52 for figure in real), name


def test_agreement_wrongs_no_worker_of_a_campaign_that_is_shipped() -> None:
    """In every rehearsal, those asked for opinions included, at most 2 %."""
    _, figures = measured()["low_agreement"]
    shipped = [figure for figure in figures if figure.kind == "rehearsed"]
    assert {"rehearsal of severity.toml", "rehearsal of congruency.toml"} <= {
        figure.set_name for figure in shipped
    }
    assert all(figure.honest_flagged[0] <= 0.02 for figure in shipped)


@pytest.mark.shared
@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")
@pytest.mark.parametrize(
    "labelled",
    [
        *(paraphrases, entailment, repeated_sentences, submissions),
        *(machine_texts.long_texts, machine_texts.short_texts),
    ],
)
def test_the_figures_are_not_stale(labelled: Callable[[], LabelledSet]) -> None:
    """Measured anew, every figure is the one that is committed, to the last digit."""
    held = {
        (name, figure.set_name, figure.unit): figure
        for name, (_, figures) in measured().items()
        for figure in figures
    }
    fresh = list(figures_of(labelled()))
    assert fresh
    for name, figure in fresh:
        assert asdict(figure) == asdict(held[name, figure.set_name, figure.unit]), name


def test_the_figures_of_typing_are_not_stale() -> None:
    """Sessions in a browser are in the repository, with the weights fitted to them."""
    (fresh,) = figures_of(held_out_set())
    name, figure = fresh
    _, held = measured()[name]
    assert asdict(figure) in map(asdict, held)
    assert measured_typing(held_out()) in PAGE.read_text("utf-8")
    fit = fitted([session for session in sessions() if session.seed % 2])
    assert fit == pytest.approx(WEIGHTS, abs=0.02)


@pytest.mark.shared
@pytest.mark.full
@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")
def test_the_figures_of_machine_texts_are_not_stale() -> None:
    """All tables of the page, measured anew."""
    assert machine_texts.measured() in machine_texts.PAGE.read_text("utf-8")
    assert written_fit.measured() in PAGE.read_text("utf-8")


def test_the_intervals_are_the_published_ones() -> None:
    """Wilson for 15 of 50 by hand; an area of 1 has no error, one of half is chance."""
    # (0.3 + 1.96^2/100 -+ 1.96 sqrt(0.21/50 + 1.96^2/10000)) / (1 + 1.96^2/50)
    assert wilson(15, 50) == (0.3, 0.191, 0.4375)
    is_bad = np.array([False, False, True, True])
    assert auc([0.1, 0.2, 0.3, 0.4], is_bad) == (1.0, 1.0, 1.0)
    assert auc([0.2, 0.2, 0.2, 0.2], is_bad)[0] == 0.5
