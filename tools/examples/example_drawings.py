"""Draw the pictures that the instructions of tasks show as examples.

They are stored beside the tasks, as `hit_templates/<task>/<name>.svg`; a test compares
them with this module. Draw them again with `python -m tools.examples.example_drawings`.
"""

from collections.abc import Mapping
from pathlib import Path

from piecework.simulation.pictures.portraits import Portrait, draw_portrait

FOLDER = Path(__file__).resolve().parents[2] / "hit_templates"

DRAWINGS: Mapping[str, Portrait] = {
    "expert_rating/walk.svg": Portrait(who="woman", garment="coat", colour="green", doing="dog"),
    "expert_rating/kite.svg": Portrait(who="girl", garment="skirt", colour="red", doing="kite"),
    "crowd_judgement/ball.svg": Portrait(who="boy", garment="shirt", colour="blue", doing="ball"),
}
"""What each file shows."""


def main() -> None:
    """Write the files."""
    for name, portrait in DRAWINGS.items():
        (FOLDER / name).write_text(draw_portrait(portrait), "utf-8")


if __name__ == "__main__":
    main()
