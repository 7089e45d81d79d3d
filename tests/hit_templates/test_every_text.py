"""No text of a page bypasses the messages, and each language has all of them."""

import re
import tomllib
from pathlib import Path

import pytest

from piecework.hit_templates.messages import FOLDER, frame_texts, languages
from piecework.hit_templates.tasks import task_names
from tests.for_each import for_each

TEMPLATES = sorted([*FOLDER.glob("*/question.html.j2"), *FOLDER.glob("_*.html.j2")])
SCRIPTS = sorted(FOLDER.glob("_*.js"))
FRAMES = sorted(path.name.split(".")[1] for path in FOLDER.glob("_messages.*.toml"))

_CODE = re.compile(r"(?s)\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}")
_UNSEEN = re.compile(
    r"(?s)<(style|script)\b.*?</\1>|\{% block styles %\}.*?endblock %\}"
    r"|\{% macro \w+_(?:styles|scripts)\(.*?endmacro -?%\}"
)
_TAG = re.compile(r"""(?s)<(?:[^>"']|"[^"]*"|'[^']*')*>""")
_TEXTS = re.compile(r"""\b(?:aria-label|title|alt|placeholder)="([^"]*)\"""")
_SLOT = re.compile(r"\{(\w+)\}")


@for_each("path", TEMPLATES)
def test_no_text_of_a_task_s_page_bypasses_the_messages(path: Path) -> None:
    """Neither between tags nor in an attribute."""
    source = _UNSEEN.sub(" ", path.read_text("utf-8"))
    source = re.sub(r"(?s)\{%-? *macro .*?%\}|\{#.*?#\}", " ", source)
    bare = _CODE.sub(" ", source)
    attributes = [text for tag in _TAG.findall(bare) for text in _TEXTS.findall(tag)]
    between = _TAG.sub(" ", bare)
    assert re.findall(r"[A-Za-z]{2,}", " ".join([*attributes, between])) == []


@for_each("path", SCRIPTS)
def test_no_script_of_a_page_has_a_sentence_of_its_own(path: Path) -> None:
    """It takes them from the page's data."""
    code = re.sub(r"(?m)//.*$", "", path.read_text("utf-8"))
    texts = re.findall(r'"([^"\n]*)"|`([^`\n]*)`', code)
    sentences = [text for pair in texts for text in pair if re.search(r"[A-Z][a-z]+ [a-z]+ ", text)]
    assert sentences == []


@pytest.mark.parametrize("language", FRAMES)
def test_the_frame_has_every_text_in_each_language(language: str) -> None:
    """With the same slots; one language is written from right to left."""
    english, other = frame_texts("en"), frame_texts(language)
    assert english.keys() == other.keys()
    for key, text in english.items():
        assert set(_SLOT.findall(text)) == set(_SLOT.findall(other[key])), key
    assert {"en", "he", "zh-Hant"} <= set(FRAMES)
    assert frame_texts("he")["html_dir"] == "rtl"


def keys_of(table: dict[str, object], above: str = "") -> set[str]:
    """The keys of a file, with their tables."""
    keys: set[str] = set()
    for key, value in table.items():
        if isinstance(value, dict):
            keys |= keys_of(value, f"{above}{key}.")
        else:
            keys.add(f"{above}{key}")
    return keys


@for_each("name", task_names())
def test_a_task_has_every_text_in_each_of_its_languages(name: str) -> None:
    """A task in two languages says the same in both."""
    keys = {
        language: keys_of(tomllib.loads((FOLDER / name / f"messages.{language}.toml").read_text()))
        for language in languages(FOLDER / name)
    }
    assert keys["en"]
    for language, own in keys.items():
        assert own == keys["en"], language
