"""A house with a test, a HIT of five pictures behind it, and somebody new to both."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.pictures import picture_name
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.state import accounts
from piecework.marketplace.state.backend import Backend, Rules
from piecework.platforms.wire import html_question
from piecework.simulation.pictures.drawing import draw
from piecework.simulation.pictures.scenes import scenes
from tests.marketplace.documents import form, formatted, key, percentage, question
from tests.marketplace.market import START, Market, post
from tests.marketplace.qualification_types import make, need

NAME = "Describing pictures well"
CAPTIONS = {
    "scene_0004": "A white dog and a brown duck beside a path in a park",
    "scene_0006": "A living room with a white sofa, a television and two green plants",
    "scene_0008": "A brown ketchup bottle, a purple box of tea and a green apple",
    "scene_0013": "A white kettle and a green box of oats on a kitchen counter",
    "scene_0014": "A red bus of line 12 beside a green parking sign on a street",
}
"""What somebody writes about each picture of the HIT (seed 7), in its order."""

WITH_TEXT = ("scene_0008", "scene_0013", "scene_0014")
_TESTED = "scene_0021"


@contextmanager
def campaigning(folder: Path) -> Iterator[Market]:
    """A rehearsing marketplace in which a requester with a name has posted all that.

    Args:
        folder: where database and pictures go.
    """
    pictures = folder / "pictures"
    pictures.mkdir()
    for scene in scenes(7, 21):
        (pictures / picture_name(scene.item_id)).write_text(draw(scene), "utf-8")
    rules = Rules(rehearsal=True, seed=7, start=START)
    with (
        closing(Backend(folder / "market.db", rules)) as backend,
        backend.transaction() as transaction,
    ):
        accounts.add_requester(transaction, "LAB", balance_cents=100_000, name="Vision lab")
    with (
        serve(
            Marketplace(folder / "market.db", rehearsal=True, seed=7, pictures=pictures)
        ) as running,
        closing(Market(running.endpoint_url, running.frames_url)) as market,
    ):
        _post(market)
        yield market


def _post(market: Market) -> None:
    client = market.requester("LAB")
    address = f"{market.frames}/pictures/{picture_name(ItemId(_TESTED))}"
    kind = make(
        client,
        NAME,
        Description="Three short questions on how to describe a picture to somebody "
        "who cannot see it.",
        Test=_test(address),
        AnswerKey=key(
            {
                "best": [(["whole"], 2)],
                "text": [(["words"], 1)],
                "leave": [(["begin", "guess"], 2)],
            },
            mapping=percentage(5),
        ),
        TestDurationInSeconds=600,
        RetryDelayInSeconds=86_400,
    )
    task = load_task("caption")
    items = [
        Item(
            item_id=ItemId(name),
            columns={"image_id": name, "url": f"/pictures/{picture_name(ItemId(name))}"},
        )
        for name in CAPTIONS
    ]
    post(
        client,
        Title=task.title,
        Description=task.description,
        Keywords=", ".join(task.keywords),
        Reward="1.00",
        AssignmentDurationInSeconds=3600,
        Question=html_question(render_hit(task, items)),
        QualificationRequirements=need(kind, "GreaterThanOrEqualTo", IntegerValues=[80]),
    )


def _test(address: str) -> str:
    picture = formatted(f'<img src="{address}" alt="The picture that is asked about" width="440"/>')
    return form(
        "<Overview><Title>How to describe a picture</Title><Text>Your descriptions "
        "are read aloud to people who are blind. With 80 of 100 points you may do "
        "all our HITs of this kind.</Text></Overview>",
        question(
            "best",
            _choice(
                sea="The sea.",
                whole="A white dog beside a pink bucket on a beach, with two red sailing boats.",
                nice="This image shows a nice day that somebody enjoys.",
            ),
            required=True,
            content=f"{picture}<Text>Which sentence describes this picture best?</Text>",
        ),
        question(
            "text",
            _choice(
                words="I say in my own words what it says, if it matters.",
                all="I copy all of it, letter by letter.",
                none="I leave it out.",
            ),
            required=True,
            content="<Text>There is text in a picture. What do you do?</Text>",
        ),
        question(
            "leave",
            _choice(
                most=3,
                begin="“This is a picture of …”",
                guess="What people in it may think",
                colour="Colours",
            ),
            required=True,
            content="<Text>What does not belong in a description?</Text>",
        ),
    )


def _choice(*, most: int = 1, **selections: str) -> str:
    listed = "".join(
        f"<Selection><SelectionIdentifier>{name}</SelectionIdentifier>"
        f"<Text>{words}</Text></Selection>"
        for name, words in selections.items()
    )
    return (
        "<SelectionAnswer><MinSelectionCount>1</MinSelectionCount>"
        f"<MaxSelectionCount>{most}</MaxSelectionCount><StyleSuggestion>"
        f"{'checkbox' if most > 1 else 'radiobutton'}</StyleSuggestion>"
        f"<Selections>{listed}</Selections></SelectionAnswer>"
    )
