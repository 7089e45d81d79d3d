"""What the background of each drawn place shows, in about eighty words.

Each sentence is true of every clear drawing of the place, whatever things are in it. So
a description can be as long as those that annotators of long descriptions compare.
"""

from collections.abc import Mapping

BACKGROUNDS: Mapping[str, str] = {
    "kitchen counter": (
        "The counter is made of a light stone with small dark specks, and its front "
        "edge is brown. Behind it, the whole wall is covered with square tiles. Most "
        "of the tiles are white, and some have a touch of green. A window with a gray "
        "frame is set into the wall on the right and divided into four panes. Through "
        "it one can see a rounded green hill, a pale blue sky and the sun. Everything "
        "on the counter throws a soft, short shadow. No people can be seen."
    ),
    "desk": (
        "The desk is made of brown wood with fine, wavy lines, and it fills the lower "
        "part of the picture. Behind it there is a plain gray wall, which is lighter "
        "at the top and on the left. A cork board with a wooden frame is on the "
        "wall, in the upper left. Two notes are pinned to it: a yellow one with a red "
        "pin, and a white one with a blue pin. Nothing is written on either of them. "
        "There are no people in the picture."
    ),
    "street": (
        "The road in front is dark gray and has a broken white line in the middle. "
        "Behind it runs a lighter pavement. A row of houses stands behind the "
        "pavement, close together. From left to right they are yellow, blue, red, "
        "green and pink. They have flat brown roofs, brown doors and narrow windows "
        "with white frames. The blue house and the green house are taller than the "
        "others. The sky above the roofs is light blue, with two white clouds. There "
        "are no people in the street."
    ),
    "park": (
        "The grass is bright green, with small darker tufts. A sandy path starts at "
        "the bottom of the picture, becomes narrower and bends away towards the "
        "middle. To the right of the path lies a small blue pond. Behind the meadow "
        "rise two rounded hills in a paler green. The sky above them is light blue. "
        "The sun stands in the upper right, and two white clouds are to the left of "
        "it. There are no people and no houses in the picture."
    ),
    "living room": (
        "The floor is made of brown boards, and an oval red rug with lighter rings "
        "lies in the middle. The wall is light brown with pale vertical stripes, and "
        "a white board runs along its foot. A painting of two green mountains in a "
        "brown frame is on the wall on the left. On the right there is a window "
        "with a white frame and four panes. Through it one can see a green hill, a "
        "blue sky and the sun. There are no people in the room."
    ),
    "shelf": (
        "The shelf is made of brown wood and has two wide boards. The upper board runs "
        "across the middle of the picture, and the lower board near the bottom. A "
        "round wooden post stands at the left edge, and another at the right edge. "
        "The back of the shelf is plain and has a light brown color, which is a little "
        "darker between the two boards. A thin rail runs across the top. There are no "
        "people in the picture, and no wall or floor can be seen."
    ),
    "bathroom": (
        "The counter is white and has a narrow gray edge. A round white sink is set "
        "into it, with a curved gray tap in the middle. The wall behind it is covered "
        "with square tiles in several shades of light blue. A mirror with a gray frame "
        "is on the wall above the sink. The edge of the picture cuts off the top of "
        "the mirror, and only pale stripes of light are reflected in it. There are no "
        "people in the picture."
    ),
    "beach": (
        "The sand is yellow and nearly flat, with a darker, wet strip where the beach "
        "meets the sea. A thin white line of foam runs along the water. The sea is "
        "blue, with a darker band below the horizon and a few small white waves. The "
        "horizon is a straight line across the middle of the picture. The sky above it "
        "is light blue. The sun stands in the upper left, and two white clouds are to "
        "the right of it. There are no people on the beach."
    ),
}
