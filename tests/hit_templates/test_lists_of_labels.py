"""Lists in attributes of crowd elements: Python reads the labels that the page shows."""

import json
import shutil
import subprocess
from pathlib import Path

import piecework
from piecework.hit_templates.own_html.control_kinds import listed, loose
from tests.conftest import absent

_SCRIPT = Path("marketplace/workers/stand_ins/crowd-html-elements.js")

LISTS = {
    '["Cat", "Dog"]': ["Cat", "Dog"],
    "['Cat', 'Dog']": ["Cat", "Dog"],
    "['Cat', 'Dog',]": ["Cat", "Dog"],
    "[{label: 'Cat'}, {label: 'Dog'}]": ["Cat", "Dog"],
    "[{'label': 'Cat', 'shortDisplayName': 'c'}, {\"label\": \"Dog\"}]": ["Cat", "Dog"],
    "[ // pets\n 'Cat', /* not\n wild */ 'Dog' ]": ["Cat", "Dog"],
    "'Cat', 'Dog'": ["Cat", "Dog"],
    "Cat 'Dog' \"Cow\"": ["Dog", "Cow"],
    "['It\\'s', 'a // b', 'c: d', 'e,]']": ["It's", "a // b", "c: d", "e,]"],
    "[1, 2.5, true, null, 'x']": ["1", "2.5", "true", "null", "x"],
    "['a', True]": ["a"],
    "[NaN, 'a']": ["a"],
    "['\\n\\u0041']": ["nu0041"],
    '["\\u0041"]': ["A"],
    "{label: 'Cat'}": ["Cat"],
    "['é', '色', '👍']": ["é", "色", "👍"],
    "": [],
    "none": [],
    "[": [],
    "[]": [],
}


def test_a_list_is_read_as_javascript_writes_it() -> None:
    """Also with names without quotes, comments, and words in quotes alone."""
    assert {text: listed(text) for text in LISTS} == LISTS
    assert loose("{ text: 'None', }") == {"text": "None"}


def test_the_page_reads_the_same_lists() -> None:
    """The elements' own code, run on the same table."""
    node = shutil.which("node")
    if node is None:
        absent("node", "node is not installed, so the page's code cannot be run")
    script = (Path(piecework.__file__).parent / _SCRIPT).read_text(encoding="utf-8")
    code = script[script.index("const TOKEN") : script.index("const instructions")]
    labels = "label => String(typeof label === 'object' && label !== null ? label.label : label)"
    asked = f"{code} console.log(JSON.stringify({json.dumps([*LISTS])}"
    asked += f".map((text) => list(text).map({labels}))));"
    done = subprocess.run([node, "-e", asked], check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == [*LISTS.values()]
