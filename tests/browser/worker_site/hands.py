"""Hands that mark a picture or a text: a mouse, a finger, the keyboard alone."""

from playwright.sync_api import Locator, Page, expect

WIDE, HIGH = 934, 466
"""The size of the picture that hands draw on, in pixels of the picture."""

SVG = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}'%3E"
    "%3Crect width='100%25' height='100%25' fill='%23cde'/%3E%3C/svg%3E"
)
"""The address of a picture of a width and a height."""

TEXT = "Ada Lovelace wrote to Charles \U0001f600 Babbage in London."
"""The text that hands mark; the face is two UTF-16 units."""

Point = tuple[float, float]

RANGE = """(node, [words, end]) => {
  const from = node.textContent.indexOf(words);
  const place = (offset) => {
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    let left = offset;
    while (walker.nextNode() && left > walker.currentNode.length) left -= walker.currentNode.length;
    return [walker.currentNode, left];
  };
  const range = document.createRange();
  range.setStart(...place(from));
  range.setEnd(...place(from + words.length));
"""


class Hand:
    """Draws with a mouse, at places given from the middle of the picture."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frame = page.frame_locator("iframe")

    def at(self, stage: Locator, place: Point) -> Point:
        """A place of the picture in the window."""
        box = stage.bounding_box()
        assert box is not None
        return (
            box["x"] + (WIDE / 2 + place[0]) * box["width"] / WIDE,
            box["y"] + (HIGH / 2 + place[1]) * box["height"] / HIGH,
        )

    def drag(self, stage: Locator, *places: Point) -> None:
        """Press at the first place, let go at the last."""
        stage.scroll_into_view_if_needed()
        points = [self.at(stage, place) for place in places]
        self.page.mouse.move(*points[0])
        self.page.mouse.down()
        for point in points[1:]:
            self.page.mouse.move(*point, steps=4)
        self.page.mouse.up()

    def tap(self, stage: Locator, place: Point) -> None:
        """Press and let go at a place."""
        self.drag(stage, place)

    def label(self, tool: Locator, name: str) -> None:
        """Choose the label of what comes next."""
        tool.get_by_role("radio", name=name, exact=True).check()

    def press(self, button: Locator) -> None:
        """Press a button."""
        button.click()

    def move_chosen(self, tool: Locator, start: Point, by: Point) -> None:
        """Move the region that was drawn last by its inside."""
        self.drag(tool.locator(".crowd-stage"), start, (start[0] + by[0], start[1] + by[1]))

    def move_corner(self, tool: Locator, _number: int, start: Point, by: Point) -> None:
        """Move a corner of the region that was drawn last."""
        self.move_chosen(tool, start, by)

    def select(self, text: Locator, words: str) -> None:
        """Select words of a text, which labels them."""
        text.scroll_into_view_if_needed()
        start, end = (self._edge(text, words, end=is_end) for is_end in (False, True))
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*end, steps=3)
        self.page.mouse.up()

    def _edge(self, text: Locator, words: str, *, end: bool) -> Point:
        frame = text.page.locator("iframe").bounding_box()
        assert frame is not None
        place = text.evaluate(
            RANGE
            + """const box = range.getClientRects()[end ? range.getClientRects().length - 1 : 0];
              return [end ? box.right : box.left, (box.top + box.bottom) / 2]; }""",
            [words, end],
        )
        return frame["x"] + place[0], frame["y"] + place[1]


class Finger(Hand):
    """Draws with a finger."""

    def drag(self, stage: Locator, *places: Point) -> None:
        """Press at the first place, lift at the last."""
        stage.scroll_into_view_if_needed()
        points = [self.at(stage, place) for place in places]
        touch = self.page.context.new_cdp_session(self.page)
        way = [points[0]]
        for point in points[1:]:
            (x0, y0), (x1, y1) = way[-1], point
            way += [(x0 + (x1 - x0) * n / 4, y0 + (y1 - y0) * n / 4) for n in range(1, 5)]
        way += points[1:][-1:] * 3  # A finger that stops does not fling.
        for n, (x, y) in enumerate(way):
            kind = "touchMove" if n else "touchStart"
            touch.send(
                "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]}
            )
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def label(self, tool: Locator, name: str) -> None:
        """Tap the label's text."""
        tool.locator("fieldset label").filter(has_text=name).first.tap()

    def press(self, button: Locator) -> None:
        """Tap a button."""
        button.tap()

    def select(self, text: Locator, words: str) -> None:
        """Select as a long press and its handles do, then tap the button."""
        text.evaluate(
            RANGE
            + """document.getSelection().setBaseAndExtent(
              range.startContainer, range.startOffset, range.endContainer, range.endOffset); }""",
            [words, False],
        )
        self.frame.get_by_role("button", name="Label the selected text").tap()


class Keys(Hand):
    """Draws with the keyboard alone."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self._cross: dict[str, Point] = {}

    def go(self, stage: Locator, place: Point) -> None:
        """Move the cross, which begins in the middle."""
        stage.focus()
        name = stage.evaluate("stage => stage.closest('[name]').getAttribute('name')")
        x, y = self._cross.get(name, (0, 0))
        self._steps(place[0] - x, place[1] - y)
        self._cross[name] = place

    def _steps(self, right: float, down: float) -> None:
        for key, way in (
            ("ArrowRight", right),
            ("ArrowLeft", -right),
            ("ArrowDown", down),
            ("ArrowUp", -down),
        ):
            for _ in range(round(way / 10)):
                self.page.keyboard.press(key)

    def drag(self, stage: Locator, *places: Point) -> None:
        """Enter at the first place and at the last."""
        self.go(stage, places[0])
        self.page.keyboard.press("Enter")
        for place in places[1:]:
            self.go(stage, place)
        self.page.keyboard.press("Enter")

    def tap(self, stage: Locator, place: Point) -> None:
        """Enter at a place."""
        self.go(stage, place)
        self.page.keyboard.press("Enter")

    def label(self, tool: Locator, name: str) -> None:
        """The label's digit on the picture."""
        names = tool.locator("fieldset").first.locator("label").all_inner_texts()
        tool.locator(".crowd-stage, .crowd-text").focus()
        self.page.keyboard.press(str(names.index(name) + 1))

    def press(self, button: Locator) -> None:
        """Enter on a button."""
        button.press("Enter")

    def move_chosen(self, tool: Locator, _start: Point, by: Point) -> None:
        """Edit it in the list, then arrows."""
        self.press(tool.get_by_role("button", name="Edit").last)
        self._steps(*by)

    def move_corner(self, tool: Locator, number: int, _start: Point, by: Point) -> None:
        """Edit, then tab to the corner, then arrows."""
        self.press(tool.get_by_role("button", name="Edit").last)
        for _ in range(number):
            self.page.keyboard.press("Tab")
        expect(tool.get_by_role("button", name=f"Corner {number} of")).to_be_focused()
        self._steps(*by)

    def select(self, text: Locator, words: str) -> None:
        """Caret to the words, Shift and arrows over them, Enter."""
        text.focus()
        self.page.keyboard.press("Control+Home")
        for _ in range(TEXT.index(words)):
            self.page.keyboard.press("ArrowRight")
        for _ in words:
            self.page.keyboard.press("Shift+ArrowRight")
        self.page.keyboard.press("Enter")
