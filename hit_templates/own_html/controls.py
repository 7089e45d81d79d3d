"""Finds a page's controls: inputs, selects, buttons and crowd elements.

The page is read as a browser reads it, with marks for its placeholders. No script runs.
A hidden input counts as a control if a script mentions it or if it is empty. Other
hidden inputs only carry a value along. A disabled input is a control if the page has a
script, which may enable it. Names that MTurk reserved for ids are no controls.
"""

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from piecework.hit_templates.own_html.control_kinds import (
    Control,
    fault_of_tag,
    is_file,
    is_reserved,
    made,
)
from piecework.hit_templates.own_html.markup import Step, lines_of, steps
from piecework.hit_templates.own_html.placeholders import is_mark

_STAND_INS = re.compile(r"//(?:s3\.amazonaws\.com/mturk-public|assets\.crowd\.aws)/")
"""Scripts of MTurk's and of crowd forms, which make no inputs of their own."""

_DATA = re.compile(r"text/(?!\S*(?:java|ecma|live|coffee|type|babel|jsx))|\S*json|x-")
_EMBEDDED = re.compile(r"data:[a-z/]*javascript[^,]*;base64,(?=.{1,30000}\Z)")
"""A script of the page's own in its address; what is longer is a library."""

_MAKES_INPUTS = re.compile(
    r"""<(?:input|textarea|select|crowd-[a-z-]+)\b|createElement\(\s*["'](?:input|textarea|select)\b|"""
    r"""new FormData\b|\.serialize(?:Array)?\(|\.cloneNode\(|\.clone\(|"""
    r"""\.(?:name\s*=(?!=)|attr\(\s*["']name\b|setAttribute\(\s*["']name\b)""",
    re.IGNORECASE,
)
"""What a script writes that makes or renames inputs, or reads a form by its names."""

_LIFTS = re.compile(
    r"required|disabled|novalidate|\.(?:remove|detach|removeChild)\(|\.submit\(\s*\)", re.IGNORECASE
)
"""What a script writes that may make an input optional, take it away, or send it unasked."""


@dataclass(kw_only=True)
class Controls:
    """The controls of a page.

    Attributes:
        by_name: the controls, in the order of the page.
        faults: what cannot be answered, one clause each, with its line.
        losses: what is not sent, or under names that vary: clauses with their lines.
        made_by_script: the line of a script that may make further controls; 0: none.
        hidden_values: of hidden inputs, by name.
        title: the page's title.
        language: the language that the page states, as a tag.
        has_direction: whether the page states its direction of writing.
        has_varying_names: whether an item's column names a control.
        has_script: whether the page's own script may make further controls.
        scripts: the texts of the page's own scripts.
        is_flat: whether its crowd form sends a field for each value (`flatten-objects`).
        submits: whether the page has a button that submits.
    """

    by_name: dict[str, Control] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    made_by_script: int = 0
    hidden_values: dict[str, str] = field(default_factory=dict)
    title: str = ""
    language: str = ""
    has_direction: bool = False
    has_varying_names: bool = False
    has_script: bool = False
    scripts: str = ""
    has_form: bool = False
    has_crowd_form: bool = False
    is_flat: bool = False
    submits: bool = False


def controls_of(marked: str) -> Controls:
    """Return the controls of a page with marked placeholders."""
    page = list(_in_use(steps(marked)))
    reader = _Reader(_Scripts(page))
    for step in page:
        reader.read(step)
    return reader.finished(marked)


def _in_use(page: Iterator[Step]) -> Iterator[Step]:
    """Leave out what a browser with scripts does not show."""
    unused = 0
    for step in page:
        is_around = step.name in {"template", "noscript"}
        if is_around and step.kind == "start":
            unused += 1
        elif is_around and step.kind == "end":
            unused -= 1
        elif not unused:
            yield step


class _Scripts:
    """The scripts of a page, read before its controls."""

    def __init__(self, page: list[Step]) -> None:
        texts: list[str] = []
        self.is_there = False
        self.made_in: int | None = None
        is_code, number = True, 0
        for step in page:
            here: list[str] = []
            if step.kind == "start":
                number = step.number
                is_code = not _DATA.match(step.attributes.get("type", "").strip())
                here = [
                    text
                    for name, text in step.attributes.items()
                    if name.startswith("on") or text.startswith("javascript:")
                ]
                source = step.attributes.get("src", "")
                is_own = step.name == "script" and source and is_code
                self.is_there |= bool(is_own and not _STAND_INS.search(source))
                if is_own and _EMBEDDED.match(source):
                    here.append(_script_in(source))
            elif step.kind == "text" and step.name == "script":
                here = [step.text] if is_code else []
                if not is_code and _MAKES_INPUTS.search(step.text):
                    self.made_in = number if self.made_in is None else self.made_in
            texts += here
            if self.made_in is None and any(map(_MAKES_INPUTS.search, here)):
                self.made_in = number
        self.text = "\n".join(texts)
        self.may_lift = _LIFTS.search(self.text) is not None
        self.is_there |= bool(self.text.strip())


def _script_in(address: str) -> str:
    """Return the text of a script that is in its own address."""
    try:
        content = b64decode(address.partition(",")[2])
    except ValueError:
        return ""
    return content.decode("utf-8", errors="replace")


class _Reader:
    """Goes through the page and collects its controls."""

    def __init__(self, scripts: _Scripts) -> None:
        self.controls = Controls(has_script=scripts.is_there, scripts=scripts.text)
        self._scripts = scripts
        self._number = 0
        self._hidden: dict[str, tuple[Control, str, str]] = {}
        self._labels: dict[str, str] = {}
        self._wanting: list[tuple[Control, str | None, str]] = []
        self._texts: list[str] = []
        self._label_of: str | None = None
        self._before_label = ""
        self._select: Control | None = None
        self._option: str | None = None
        self._group = self._group_name = ""
        self._groups: dict[str, list[str]] = {}
        self._buttons: dict[str, list[str]] = {}
        self._button: tuple[str, ...] = ()
        self._legend = ""
        self._disabled_sets: list[bool] = []
        self._faults: list[tuple[int, str]] = []
        self._losses: list[tuple[int, str]] = []
        self._valueless: dict[str, list[int]] = {}
        self._begins = {
            "label": self._begin_label,
            "legend": self._begin_legend,
            "fieldset": self._begin_fieldset,
            "option": self._begin_option,
            "button": self._begin_button,
            "crowd-radio-group": self._begin_group,
        }
        self._ends = {
            "label": self._end_label,
            "legend": self._end_legend,
            "fieldset": self._end_fieldset,
            "select": self._end_select,
            "option": self._end_option,
            "button": self._end_button,
            "crowd-radio-group": self._end_group,
        }

    # --- steps ----------------------------------------------------------------------
    def read(self, step: Step) -> None:
        """Read the next step of the page."""
        if step.kind == "start":
            self._start(step)
        elif step.kind == "end" and step.name in self._ends:
            self._ends[step.name]()
        elif step.kind == "text" and step.name == "title":
            self.controls.title += step.text
        elif step.kind == "text" and step.name not in {"script", "style", "textarea"}:
            self._texts.append(step.text)

    def _start(self, step: Step) -> None:
        self._number = step.number
        tag, values = step.name, step.attributes
        if tag == "html":
            self.controls.language = values.get("lang", "").strip()
            self.controls.has_direction |= "dir" in values
        self._forms(tag, values)
        if tag in self._begins:
            self._begins[tag](values)
        elif fault := fault_of_tag(tag, is_named="name" in values):
            self._faults.append((self._number, fault))
        else:
            self._control(tag, values)

    # --- parts ----------------------------------------------------------------------
    def _forms(self, tag: str, values: Mapping[str, str]) -> None:
        kind = values.get("type", "").lower()
        self.controls.has_form |= tag == "form"
        self._scripts.may_lift |= tag == "form" and "novalidate" in values
        # A text to mark has a crowd form of its own.
        if tag in {"crowd-form", "crowd-entity-annotation"}:
            self.controls.has_crowd_form = True
            self.controls.is_flat |= values.get("answer-format") == "flatten-objects"
        is_submit = tag in {"input", "button"} and kind in {"submit", "image"}
        is_submit |= tag == "crowd-button" and values.get("form-action") == "submit"
        self.controls.submits |= is_submit

    def _begin_label(self, values: Mapping[str, str]) -> None:
        heard = self._heard()
        self._before_label = "" if self._flush() else heard
        self._label_of = values.get("for", "")

    def _begin_legend(self, _values: Mapping[str, str]) -> None:
        self._flush()

    def _end_legend(self) -> None:
        self._legend, self._texts = _tidy("".join(self._texts)), []

    def _begin_fieldset(self, values: Mapping[str, str]) -> None:
        self._disabled_sets.append("disabled" in values)

    def _end_fieldset(self) -> None:
        self._flush()
        self._legend = ""
        self._disabled_sets.pop()

    def _begin_group(self, values: Mapping[str, str]) -> None:
        self._group, self._group_name = f"group_{self._number}", values.get("name", "")

    def _end_group(self) -> None:
        self._flush()
        self._group = self._group_name = ""

    def _begin_button(self, values: Mapping[str, str]) -> None:
        self._button, self._texts = tuple(values.get("class", "").split()), []
        self._control("button", values)

    def _end_button(self) -> None:
        for name in self._button:
            button_text = _tidy("".join(self._texts))
            self._buttons.setdefault(name, []).append(button_text)
        self._flush()
        self._button = ()

    def _end_select(self) -> None:
        self._end_option()
        self._select = None

    def _control(self, tag: str, values: Mapping[str, str]) -> None:
        kind = values.get("type", "").lower()
        if is_file(tag, values):
            self._lose("a HIT's form cannot send a file")
        if tag == "worker-comment":
            self._lose("<worker-comment> has no box here; ask in a <crowd-text-area> with a name")
        made_control = made(tag, values, group=self._group_name)
        is_disabled = "disabled" in values or any(self._disabled_sets)
        if made_control is None or (is_disabled and not self._scripts.is_there):
            return
        control, option = made_control
        if is_disabled or (self._scripts.may_lift and not tag.startswith("crowd-")):
            # The browser asks for it as long as the page requires it.
            control = replace(control, is_required=False)
        if not control.name and kind != "hidden":
            self._lose(f"<{tag}> has no name, so its value is not sent")
        elif is_mark(control.name):
            self.controls.has_varying_names = True
            self._lose(
                f"the name of <{tag}> depends on the item, so its answers are in no "
                "column of one name; give it a fixed one"
            )
        elif control.name and not is_reserved(control.name):
            self._keep(tag, values, control, option)

    def _keep(
        self, tag: str, values: Mapping[str, str], control: Control, option: str | None
    ) -> None:
        kind = values.get("type", "").lower()
        if tag == "input" and kind == "hidden":
            own_id, value = values.get("id", ""), values.get("value", "")
            control.is_hidden = True
            self.controls.hidden_values.setdefault(control.name, value)
            self._hidden[control.name] = control, value, own_id
            return
        is_button = kind in {"radio", "checkbox"} or tag in {"crowd-radio-button", "crowd-checkbox"}
        if is_button and "value" not in values:
            self._valueless.setdefault(control.name, []).append(self._number)
        self._add(self._joined(control), tag, values, option)

    def _add(
        self, control: Control, tag: str, values: Mapping[str, str], option: str | None
    ) -> None:
        own_id = values.get("id", "")
        if self._group and tag == "crowd-radio-button":
            self._groups.setdefault(self._group, []).append(control.name)
        if tag == "select":
            self._select = control
        # The text after a button or a box is its option, not a label.
        heard = self._heard()
        heard = self._legend or ("" if self._flush() else heard)
        if option is not None and self._label_of is not None:
            # The label names the option; the text before it is the question.
            heard = self._legend or self._before_label
        if option is None or is_mark(option):
            control.is_open |= option is not None
            self._wanting.append((control, None, own_id))
        else:
            control.options.setdefault(option, _tidy(values.get("aria-label", "")))
            self._wanting.append((control, option, own_id))
        if not control.label:
            own_label = _stated_label(values) if option is None else ""
            control.label = own_label or heard

    def _joined(self, control: Control) -> Control:
        known = self.controls.by_name.setdefault(control.name, control)
        if known is not control:
            known.join(control)
        return known

    def _begin_option(self, values: Mapping[str, str]) -> None:
        self._end_option()
        if self._select is not None and "disabled" not in values:
            self._texts = []
            self._option = values.get("value", "\0")

    def _end_option(self) -> None:
        if self._select is None or self._option is None:
            return
        option_text = "".join(self._texts)
        # Browsers send a whole text, without the spaces that HTML joins.
        value = re.sub(r"[ \t\n\f\r]+", " ", option_text).strip(" ")
        value = value if self._option == "\0" else self._option
        if is_mark(value):
            self._select.is_open = True
        elif value:
            self._select.options[value] = _tidy(option_text)
        self._option, self._texts = None, []

    def _heard(self) -> str:
        """Return the last text before a control: its label, if it has no other."""
        lines = [_tidy(text) for text in self._texts]
        last_text = next((line for line in reversed(lines) if line), "")
        return last_text if not is_mark(last_text) else ""

    def _flush(self) -> bool:
        """Add the text since then to the button or box before it, if it fits."""
        text_after = _tidy("".join(self._texts))
        for control, option, _ in self._wanting[-1:]:
            if option is not None and text_after and not control.options[option]:
                control.options[option] = text_after
                self._texts = []
                return True
        self._texts = []
        return False

    def _end_label(self) -> None:
        label_text = _tidy("".join(self._texts))
        if self._label_of:
            self._labels[self._label_of] = label_text
        elif self._wanting:
            control, option, _ = self._wanting[-1]
            if option is not None and not control.options[option]:
                control.options[option] = label_text
        self._label_of = None
        self._texts = []

    def _lose(self, clause: str) -> None:
        self._losses.append((self._number, clause))

    # --- the end --------------------------------------------------------------------
    def finished(self, marked: str) -> Controls:
        """Return everything that was found, with labels, hidden inputs and lines."""
        self._flush()
        for control, option, own_id in self._wanting:
            label_text = self._labels.get(own_id, "") if own_id else ""
            if label_text and option is None and not is_mark(label_text):
                control.label = label_text
            elif label_text and option is not None and not control.options[option]:
                control.options[option] = label_text
        self._join_groups()
        self._add_hidden()
        self._add_faults(marked)
        for control in self.controls.by_name.values():
            if control.is_button and len(control.options) == 1:
                # It is the only button, so its value says nothing.
                control.kind = "carried"
            elif control.kind in {"one", "several"} and not control.options:
                control.kind = "text"
            elif control.kind == "several" and any("|" in v for v in control.options):
                control.kind = "text"  # Values of one name are joined by "|".
        title = _tidy(self.controls.title)
        self.controls.title = "" if is_mark(title) else title
        return self.controls

    def _add_faults(self, marked: str) -> None:
        """Add what cannot be answered, and what is lost, with lines."""
        faults, losses, made_in = self._faults, self._losses, self._scripts.made_in
        if not self._scripts.is_there:  # A script may give values.
            losses = losses + [
                (numbers[1], f"every ticked {name!r} is sent as 'on'; give each a value")
                for name, numbers in self._valueless.items()
                if len(numbers) > 1
            ]
        if not faults and not losses and made_in is None:
            return
        lines = lines_of(marked)
        self.controls.faults = [f"line {lines[n]}: {fault}" for n, fault in faults]
        self.controls.losses = [f"line {lines[n]}: {loss}" for n, loss in losses]
        self.controls.made_by_script = 0 if made_in is None else lines[made_in]

    def _join_groups(self) -> None:
        """Join radio buttons that exclude each other under several names."""
        for names in self._groups.values():
            alone = [name for name in dict.fromkeys(names) if name in self.controls.by_name]
            members = [self.controls.by_name[name] for name in alone]
            if len(alone) < 2 or any(len(member.options) != 1 for member in members):  # noqa: PLR2004 - a choice has two
                continue
            sent = [*chain.from_iterable(member.options.items() for member in members)]
            # Values that are alike, as without a value, do not tell options apart.
            is_apart = len(dict(sent)) == len(sent)
            joined = Control(name="|".join(alone), kind="one", label=members[0].label)
            for name, (value, label) in zip(alone, sent, strict=True):
                joined.options[value if is_apart else name] = label
                joined.parts[name] = value
            self.controls.by_name = {
                (joined.name if name == alone[0] else name): (
                    joined if name == alone[0] else control
                )
                for name, control in self.controls.by_name.items()
                if name == alone[0] or name not in alone
            }

    def _add_hidden(self) -> None:
        scripts = self._scripts.text
        for name, (control, value, own_id) in self._hidden.items():
            is_scripted = is_mentioned(scripts, name.strip(), own_id)
            if (shown := self.controls.by_name.get(name)) is not None:
                shown.add_hidden(value, is_fixed=not (is_mark(value) or is_scripted))
                continue
            if is_mark(value) or (value and not is_scripted):
                control.kind = "carried"
            elif not value:
                self._guess(control, scripts)
            self.controls.by_name[name] = control

    def _guess(self, control: Control, scripts: str) -> None:
        """Treat the buttons that a script listens to as the options of an input."""
        groups = [
            texts
            for name, texts in self._buttons.items()
            if len(texts) > 1 and re.search(rf"[.]{re.escape(name)}(?![\w-])", scripts)
        ]
        is_alone = sum(hidden.kind != "carried" for hidden, _, _ in self._hidden.values()) == 1
        if len(groups) == 1 and is_alone and all(groups[0]):
            control.kind, control.is_open = "one", True
            control.options = dict.fromkeys(groups[0], "")


def is_mentioned(scripts: str, *words: str) -> bool:
    """Return whether scripts mention a name or an id, so that they may change its value."""
    return any(
        re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", scripts) for word in words if word
    )


def _stated_label(values: Mapping[str, str]) -> str:
    labels = (values.get(name, "") for name in ("label", "header", "aria-label"))
    shown = next((text for text in labels if text.strip()), values.get("placeholder", ""))
    return "" if is_mark(shown) else _tidy(shown)


def _tidy(text: str) -> str:
    return " ".join(text.split())[:200]
