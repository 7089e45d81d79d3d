"""One pass without Prefect: the five steps in their order, and where that has led."""

from domain.progress import Progress
from flows.steps import assess, collect, decide, launch, settle
from flows.steps.progress import progress
from flows.workplace import Workplace

STEPS = (
    collect.collect,
    assess.assess,
    decide.decide,
    settle.settle,
    launch.launch,
)


def whole_pass(place: Workplace) -> Progress:
    """Do whatever is due, in order, and say how far the campaign is."""
    for step in STEPS:
        step(place)
    return progress(place)
