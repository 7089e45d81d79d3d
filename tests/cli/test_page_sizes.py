"""Templates that never end, or take all memory: `check` says which, and where."""

import shutil
from pathlib import Path

import pytest

from piecework.campaign import questions
from piecework.domain.errors import ConfigError
from piecework.hit_templates.messages import FOLDER
from piecework.platforms.clocks import START
from piecework.simulation.rehearsals.checking import check_campaign
from tests.trusted import own

CAMPAIGN = """
name = "dog"
description = "Looks at dogs."
task = "./dog"
reward = "0.10"
budget = "50.00"
hourly_wage = "5.00"
[items]
file = "items.csv"
"""


def written(folder: Path, line: str) -> tuple[Path, str]:
    """A campaign whose page has this line, and where the line stands."""
    shutil.copytree(FOLDER / "_starters" / "choice", folder / "dog")
    (folder / "items.csv").write_text("item_id,text\na,A\nb,B\n")
    page = folder / "dog" / "question.html.j2"
    text = page.read_text().rstrip()
    page.write_text(f"{text}\n{{% block scripts %}}\n{line}\n{{% endblock %}}\n")
    path = folder / "dog.toml"
    path.write_text(CAMPAIGN)
    return path, f"{page}:{len(text.splitlines()) + 2}"


LOOP = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


@pytest.mark.parametrize(
    "line",
    [
        LOOP,
        pytest.param(
            "{% set n = [7 ** 9] %}{% set m = 9 ** (n[0]) %}{{ m }}", marks=pytest.mark.full
        ),
    ],
)
def test_a_page_that_never_ends_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """In a sentence with file and line, whatever holds the interpreter."""
    monkeypatch.setattr(questions, "PAGE_SECONDS", 3)
    path, where = written(tmp_path, line)
    with pytest.raises(ConfigError) as raised:
        check_campaign(path, on=START.date())
    (fault,) = raised.value.faults
    assert fault.startswith(f"{where}: a page takes more than 3 seconds to")


@pytest.mark.parametrize(
    "line",
    [
        "{{ 'x' * 9999999999 }}",
        "{% set n = range(99999) | list %}{{ (n * 9999) | length }}",
        "{{ '%99999999999d' % 1 }}",
    ],
)
def test_a_page_that_takes_all_memory_is_refused(tmp_path: Path, line: str) -> None:
    """The process has room for a page, and not for the machine's memory."""
    path, _where = written(tmp_path, line)
    with pytest.raises(ConfigError) as raised:
        check_campaign(path, on=START.date())
    (fault,) = raised.value.faults
    assert fault.startswith(f"{tmp_path / 'dog' / 'question.html.j2'}")


def test_a_fault_of_a_template_comes_out_of_the_process(tmp_path: Path) -> None:
    """As it would without one."""
    path, where = written(tmp_path, "{{ 1 / 0 }}")
    with pytest.raises(ConfigError) as raised:
        check_campaign(path, on=START.date())
    assert list(raised.value.faults) == [f"{where}: division by zero (ZeroDivisionError)."]
    assert "docs/reference/macros.md" in raised.value.next_step


def test_the_largest_page_is_measured(tmp_path: Path) -> None:
    """Of all HITs."""
    small, _ = written(tmp_path, "")
    size = check_campaign(small, on=START.date()).largest_question_bytes
    (tmp_path / "items.csv").write_text(f"item_id,text\na,A\nb,{'B' * 1001}\n")
    larger = check_campaign(small, on=START.date()).largest_question_bytes
    assert size + 1000 <= larger < size + 1100


_PAGE = "<p>${text}</p><input name='a'>"


@pytest.mark.parametrize(("in_hit", "page"), [(2, ""), (1, ""), (1, _PAGE)])
def test_a_page_that_is_too_long_is_told_with_its_items_and_what_to_change(
    tmp_path: Path, in_hit: int, page: str
) -> None:
    """Whatever asks for the page: `check`, a rehearsal and a pass."""
    (tmp_path / "page.html").write_text(page)
    (tmp_path / "items.csv").write_text(f"item_id,text\na,{'A' * 70_000}\nb,B\n")
    path = tmp_path / "c.toml"
    asked = 'task = "page.html"' if page else 'task = "rate"\nquestion = "Is it?"\nscale = [1, 5]'
    stated = 'items = "items.csv"\nreward = "0.10"\nanswers = 2'
    path.write_text(f"{asked}\n{stated}\n[posting]\nitems_per_hit = {in_hit}\n")
    with pytest.raises(ConfigError) as raised:
        check_campaign(own(path), on=START.date())
    (fault,) = raised.value.faults
    of_two = "a HIT of 2 items (a, b; the longest is a): the question has "
    assert fault.startswith(of_two if in_hit > 1 else "item a: the ")
    lower = f"lower posting.items_per_hit, now 2, in {path}; or "
    assert raised.value.next_step == f"{lower * (in_hit > 1)}shorten the column 'text' of item a"
