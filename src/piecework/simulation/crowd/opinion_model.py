"""How simulated people differ in matters of opinion.

If a field is an opinion (`Field.is_opinion`), the column `truth.<field>` is the mean
over people. Each person has an offset from it, each person has another in each
condition that the task compares, and each answer has noise. The sizes follow the one
study rehearsed here: *Gradations of error severity* (INLG 2020) has F(2.33, 139.5) =
13.827, eta squared = 0.05 and standard deviations of 23 to 26 of 100 among 61 people.
With means of 41, 53, 40 and 48 its mean square of conditions is 61 * 116 / 3 = 2,359,
so the error's is 171 = 13.1 squared. For people, 7,076 / 0.05 - 7,076 - 30,780 =
103,664 remains, which is 20.8 squared a person. The noise of single answers is set so
that the nine points between the two directions of an age error give t(60) = -4.49, and
the one point between those of gender gives t(60) = 0.835.
"""

from piecework.domain.hit import Item
from piecework.domain.task import Field, Task
from piecework.simulation.crowd.people import Person
from piecework.simulation.seeded_rng import seeded_rng

_OF_A_PERSON = 0.21
_IN_A_CONDITION = 0.105
_IN_AN_ANSWER = 0.18
"""Standard deviations, as parts of the scale. The ends of the scale cut answers off,
and people place answers with further noise (`piecework.simulation.crowd.judging`). With
these values, the published figures are in the middle of 100 simulated studies
(hit_templates/severity/NOTES.md)."""


def opinion_offset(task: Task, field: Field, item: Item, person: Person, *, seed: int) -> float:
    """Return this person's offset from the mean over people, in units of the field."""
    if not field.is_opinion:
        return 0.0
    width = field.maximum - field.minimum
    own = seeded_rng(seed, person.handle, field.name, "leaning")
    total = own.gauss(0.0, _OF_A_PERSON * width)
    for compared in task.conditions:
        if compared.field == field.name:
            condition = item.columns.get(compared.column, "")
            here = seeded_rng(seed, person.handle, field.name, "leaning", condition)
            total += here.gauss(0.0, _IN_A_CONDITION * width)
    single = seeded_rng(seed, person.handle, field.name, "leaning", item.item_id)
    return total + single.gauss(0.0, _IN_AN_ANSWER * width)
