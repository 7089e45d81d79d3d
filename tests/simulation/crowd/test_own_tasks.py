"""Simulated workers on tasks of one's own: careful work breaks no rule of the page."""

from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.domain.assignment import TYPING
from piecework.domain.ids import AssignmentId
from piecework.hit_templates.answers import read_answers, text_fields
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.starters import write_starter
from piecework.simulation.crowd.browser import read_page
from piecework.simulation.crowd.people import people
from piecework.simulation.rehearsals.campaign import answering_of

ASSIGNMENT = AssignmentId("3ASSIGNMENT1")
CAREFUL = ("diligent", "hurried", "slow")
AS_CAPTIONS = 'dataset = "captions"\n'
LONG = """
[[rules]]
name = "answer_long"
kind = "min_words"
field = "answer"
parameters = { minimum = 60 }
"""
ONE_SENTENCE = """
[[rules]]
name = "answer_short"
kind = "max_length"
field = "answer"
parameters = { maximum = 40 }
"""
OWN_FLAWS = """
[[fields]]
name = "flaws"
kind = "choices"
options = ["rude", "vague", "none"]

[[rules]]
name = "flaws_required"
kind = "required"
field = "flaws"

[[rules]]
name = "flaws_alone"
kind = "exclusive_option"
field = "flaws"
parameters = { option = "none" }
"""
TWO_TICKS = """
[[fields]]
name = "kinds"
kind = "choices"
options = ["a", "b", "c", "d", "e", "f"]

[[rules]]
name = "kinds_required"
kind = "required"
field = "kinds"

[[rules]]
name = "kinds_most"
kind = "most_chosen"
field = "kinds"
parameters = { maximum = 2 }
"""
WHY = """
[[fields]]
name = "why"
kind = "text"
optional = true

[[fields]]
name = "sure"
kind = "choice"
options = ["yes", "no"]

[[rules]]
name = "sure_required"
kind = "required"
field = "sure"

[[rules]]
name = "why_required"
kind = "text_with_option"
field = "why"
parameters = { chosen_in = "sure", option = "no" }

[[rules]]
name = "why_words"
kind = "min_words"
field = "why"
parameters = { minimum = 9 }
"""
READ = """
[[fields]]
name = "read"
kind = "choice"
options = ["no", "yes"]

[[rules]]
name = "read_yes"
kind = "must_choose"
field = "read"
parameters = { option = "yes" }
"""
MACROS = {
    "flaws": "choices",
    "kinds": "choices",
    "sure": "choice",
    "read": "choice",
    "why": "text_line",
}
VARIANTS = {
    "as it is": "",
    "many words": LONG,
    "few characters": ONE_SENTENCE,
    "flaws of its own": OWN_FLAWS,
    "at most two": TWO_TICKS,
    "a reason before its option": WHY,
    "an option that must be chosen": READ,
}


def written(folder: Path, extra: str, *, first: str = "") -> Path:
    """Write a campaign with a text task that also asks what `extra` declares."""
    write_starter(folder / "own", "text")
    task, page = folder / "own/task.toml", folder / "own/question.html.j2"
    text = task.read_text("utf-8").replace("main_text", f"{first}main_text")
    task.write_text(text + extra, "utf-8")
    messages = folder / "own/messages.en.toml"
    shown = messages.read_text("utf-8")
    lines = ""
    for name, macro in MACROS.items():
        if f'name = "{name}"' not in extra:
            continue
        lines += f"{{{{ {macro}(fields.{name}, n) }}}}\n"
        options = [
            part.strip(' "')
            for part in extra.split(f'name = "{name}"')[1]
            .partition("options = [")[2]
            .partition("]")[0]
            .split(",")
        ]
        shown += f'\n[fields.{name}]\nlabel = "Your {name}"\n'
        if macro != "text_line":
            shown += f"[fields.{name}.options]\n"
            shown += "".join(f'{option} = "{option}"\n' for option in options)
    rules = [part.partition('"')[0] for part in extra.split('[[rules]]\nname = "')[1:]]
    messages_of_rules = "".join(f'{rule} = "Please look again."\n' for rule in rules)
    messages.write_text(shown.replace("[rules]", f"[rules]\n{messages_of_rules}#", 1), "utf-8")
    html = page.read_text("utf-8").replace(
        "import text_area,", "import text_area, choice, choices, text_line,"
    )
    page.write_text(
        html.replace("</div>\n</div>\n{% endblock", f"{lines}</div>\n</div>\n{{% endblock"), "utf-8"
    )
    return folder / "own.toml"


@pytest.mark.parametrize("first", ["", AS_CAPTIONS], ids=["answers", "captions"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_careful_workers_fill_only_what_the_task_asks_and_break_no_rule(
    tmp_path: Path, variant: str, first: str
) -> None:
    """No field that the page lacks is sent or recorded, and none is left out."""
    campaign = load_campaign(written(tmp_path, VARIANTS[variant], first=first))
    answering = answering_of(campaign)
    columns = {item.item_id: item.columns for item in campaign.items}
    problems, recorded = set(), set()
    for at in range(0, len(campaign.items), 4):
        page = read_page(render_hit(campaign.task, campaign.items[at : at + 4]))
        for person in people(dict.fromkeys(CAREFUL, 8), seed=2):
            form = answering.fill_in(page, ASSIGNMENT, person=person, shown_ms=[9000] * 4, seed=3)
            assert set(form) <= set(page.names)
            fields = {name: "|".join(values) for name, values in form.items()}
            for answer in read_answers(
                campaign.task, ASSIGNMENT, page.item_ids, fields, columns=columns
            ):
                problems |= set(answer.problems)
                recorded |= set(answer.typing)
            assert all(f"{TYPING}.{n}" in form for n in range(1, 5))
    assert problems == set()
    assert "answer" in recorded
    assert recorded <= set(text_fields(campaign.task))
