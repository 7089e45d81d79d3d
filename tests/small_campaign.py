"""The small campaign of many tests: four pictures, two batches of one HIT each.

Scripted workers (`tests.crash.people`) do it: of six assignments five are paid and one
is rejected, two answers are dropped, two workers excluded, two HITs posted again.
"""

from pathlib import Path

from piecework.qc.registry import HEURISTICS
from tests.trusted import own


def heuristics_off(*used: str) -> str:
    """Lines for `[heuristics]` that switch off all but these.

    What a policy does not name costs more on few answers than all the rest.
    """
    names = [heuristic.NAME for heuristic in HEURISTICS]
    assert {*used} <= {*names}
    return "".join(f"{name} = false\n" for name in names if name not in used)


CAMPAIGN = f"""
name = "crash"
description = "Small enough to be killed at every call."
task = "caption"
batches = 2
answers = 2
reward = "0.50"
budget = "20.00"
hourly_wage = "5.00"
formats = ["csv"]
[items]
file = "items.csv"
[posting]
items_per_hit = 2
[heuristics]
{heuristics_off("same_sentence", "capitals", "rule_violation")}[heuristics.same_sentence]
min_images = 2
[decisions]
by = "policy"
[[decisions.rule]]
on = "assignment"
any_of = ["same_sentence"]
share = 1.0
then = "reject"
because = "{{flagged}} of {{answers}} answers repeat: {{evidence}}."
[[decisions.rule]]
on = "answer"
any_of = ["capitals", "rule_violation"]
then = "drop"
because = "Not what the page asks for."
[[decisions.rule]]
on = "worker"
any_of = ["capitals", "same_sentence"]
then = "exclude"
because = "Not what the page asks for, again and again."
# the end
"""

MACHINE = "# piecework.toml\n"
"""What follows in a text belongs to the machine's file, beside the campaign file."""


def write_campaign(folder: Path, text: str = CAMPAIGN, *, pictures: int = 4) -> Path:
    """Write the campaign's file and its items into a folder, and trust it; its path."""
    return own(write_received(folder, text, pictures=pictures))


def write_received(folder: Path, text: str = CAMPAIGN, *, pictures: int = 4) -> Path:
    """Write them as somebody else would have sent them."""
    path = folder / "crash.toml"
    write_files(path, text)
    rows = "".join(f"p{n},https://example.org/{n}.jpg\n" for n in range(1, pictures + 1))
    (folder / "items.csv").write_text("image_id,url\n" + rows)
    return path


def write_files(path: Path, text: str) -> None:
    """Write the text of a campaign file, and that of the machine's file if it has one."""
    campaign, _, machine = text.partition(MACHINE)
    path.write_text(campaign)
    beside = path.with_name("piecework.toml")
    beside.write_text(machine) if machine else beside.unlink(missing_ok=True)
