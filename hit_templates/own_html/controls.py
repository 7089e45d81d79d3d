"""Finds a page's controls: inputs, selects, buttons and crowd elements.

The page is read as written, with marks for its placeholders. No script runs. A hidden
input counts as a control if a script mentions it or if it is empty. Other hidden inputs
only carry a value along.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

from piecework.hit_templates.own_html.control_kinds import Control, made
from piecework.hit_templates.own_html.crowd_tags import fault_of_tag
from piecework.hit_templates.own_html.placeholders import is_mark

_ANSWERS_HERE = re.compile(r"/mturk/externalSubmit")
"""A form address that answers the HIT, as in `_own_page.js`."""


@dataclass(kw_only=True)
class Controls:
    """The controls of a page.

    Attributes:
        by_name: the controls, in the order of the page.
        faults: what cannot be answered, one clause each, with its line.
        title: the page's title.
        has_script: whether the page's own script may make further controls.
        submits: whether the page has a button that submits.
    """

    by_name: dict[str, Control] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    title: str = ""
    has_script: bool = False
    has_form: bool = False
    has_crowd_form: bool = False
    submits: bool = False


def controls_of(marked: str) -> Controls:
    """Return the controls of a page with marked placeholders."""
    reader = _Reader()
    reader.feed(marked)
    reader.close()
    return reader.finished()


class _Reader(HTMLParser):
    """Goes through the tags and collects their controls."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.controls = Controls()
        self._scripts: list[str] = []
        self._hidden: dict[str, tuple[Control, str, str]] = {}
        self._labels: dict[str, str] = {}
        self._wanting: list[tuple[Control, str | None, str]] = []
        self._texts: list[str] = []
        self._reading: str = ""
        self._label_of: str | None = None
        self._before_label = ""
        self._select: Control | None = None
        self._option: str | None = None
        self._ignored = 0
        self._group: str = ""
        self._groups: dict[str, list[str]] = {}
        self._buttons: dict[str, list[str]] = {}
        self._button: tuple[str, ...] = ()
        self._legend = ""
        self._unsent: list[str] = []
        self._valueless: dict[str, list[int]] = {}
        self._sent_away: list[str] = []
        self._answers_here = False
        self._begins = {
            "label": self._begin_label,
            "legend": self._begin_legend,
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

    # --- tags -----------------------------------------------------------------------
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "template":
            self._ignored += 1
        if self._ignored:
            return
        self._scripts += [
            text for name, text in values.items() if name.startswith("on")
        ]
        self._forms(tag, values)
        if tag in {"script", "style", "title"}:
            self._reading = tag
        elif tag in self._begins:
            self._begins[tag](values)
        elif fault := fault_of_tag(tag, is_named="name" in values):
            self._fault(fault)
        else:
            self._control(tag, values)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag == "template":
            self._ignored = max(self._ignored - 1, 0)
        elif tag == self._reading:
            self._reading = ""
        elif tag in self._ends:
            self._ends[tag]()

    def handle_data(self, data: str) -> None:
        if self._reading == "script":
            self._scripts.append(data)
        elif self._reading == "title":
            self.controls.title += data
        elif not self._reading and not self._ignored:
            self._texts.append(data)

    # --- parts ----------------------------------------------------------------------
    def _forms(self, tag: str, values: Mapping[str, str]) -> None:
        kind = values.get("type", "").lower()
        self.controls.has_form |= tag == "form"
        if tag == "form":
            self._form_address(values.get("action", "").strip())
        if tag == "crowd-form":
            self.controls.has_crowd_form = True
        is_submit = tag in {"input", "button"} and kind in {"submit", "image"}
        is_submit |= tag == "crowd-button" and values.get("form-action") == "submit"
        self.controls.submits |= is_submit

    def _form_address(self, address: str) -> None:
        if not address or _ANSWERS_HERE.search(address):
            self._answers_here = True
            return
        shown = "an item's column" if is_mark(address) else repr(address[:100])
        self._sent_away.append(
            f"line {self.getpos()[0]}: <form> is sent to {shown}, so its answers do "
            "not arrive here; remove its action"
        )

    def _begin_label(self, values: Mapping[str, str]) -> None:
        heard = self._heard()
        self._before_label = "" if self._flush() else heard
        self._label_of = values.get("for", "")

    def _begin_legend(self, _values: Mapping[str, str]) -> None:
        self._flush()

    def _end_legend(self) -> None:
        self._legend, self._texts = _tidy("".join(self._texts)), []

    def _end_fieldset(self) -> None:
        self._flush()
        self._legend = ""

    def _begin_group(self, values: Mapping[str, str]) -> None:
        line, column = self.getpos()
        self._group = values.get("name", "") or f"group_{line}_{column}"

    def _end_group(self) -> None:
        self._flush()
        self._group = ""

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
        line, kind = self.getpos()[0], values.get("type", "").lower()
        if tag == "input" and kind == "file":
            self._unsent.append(f"line {line}: a HIT's form cannot send a file")
        made_control = made(tag, values, group=self._group)
        if made_control is None or "disabled" in values:
            return
        control, option = made_control
        if not control.name and kind != "hidden":
            self._unsent.append(
                f"line {line}: <{tag}> has no name, so its value is not sent"
            )
        if control.name in {"", "assignmentId"}:
            return
        if is_mark(control.name):
            self._fault(f"the name of <{tag}> depends on the item; give it a fixed one")
        elif tag == "input" and kind == "hidden":
            own_id, value = values.get("id", ""), values.get("value", "")
            control.is_hidden = True
            self._hidden[control.name] = control, value, own_id
        else:
            if kind in {"radio", "checkbox"} and "value" not in values:
                self._valueless.setdefault(control.name, []).append(line)
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
            known.options |= control.options
            known.is_required |= control.is_required
        return known

    def _begin_option(self, values: Mapping[str, str]) -> None:
        self._end_option()
        if self._select is not None and "disabled" not in values:
            self._texts = []
            self._option = values.get("value", "\0")

    def _end_option(self) -> None:
        if self._select is None or self._option is None:
            return
        option_text = _tidy("".join(self._texts))
        value = option_text if self._option == "\0" else self._option
        if is_mark(value):
            self._select.is_open = True
        elif value:
            self._select.options[value] = option_text
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

    def _fault(self, words: str) -> None:
        self.controls.faults.append(f"line {self.getpos()[0]}: {words}")

    # --- the end --------------------------------------------------------------------
    def finished(self) -> Controls:
        """Return everything that was found, with labels and hidden inputs."""
        self._flush()
        for control, option, own_id in self._wanting:
            label_text = self._labels.get(own_id, "") if own_id else ""
            if label_text and option is None and not is_mark(label_text):
                control.label = label_text
            elif label_text and option is not None and not control.options[option]:
                control.options[option] = label_text
        self._join_groups()
        self._add_hidden()
        if not self.controls.has_script:  # A script may do what the form does not.
            self._add_faults()
        for control in self.controls.by_name.values():
            if control.is_button and len(control.options) == 1:
                # It is the only button, so its value says nothing.
                control.kind = "carried"
            elif control.kind in {"one", "several"} and not control.options:
                control.kind = "text"
        self.controls.title = _tidy(self.controls.title)
        return self.controls

    def _add_faults(self) -> None:
        """Add what cannot be answered, unless a script compensates for it."""
        self.controls.faults += self._unsent
        self.controls.faults += [
            f"line {lines[1]}: every ticked {name!r} is sent as 'on'; give each a value"
            for name, lines in self._valueless.items()
            if len(lines) > 1
        ]
        if not (self._answers_here or self.controls.has_crowd_form):
            self.controls.faults += self._sent_away

    def _join_groups(self) -> None:
        """Join radio buttons that exclude each other under several names."""
        for names in self._groups.values():
            alone = [
                name for name in dict.fromkeys(names) if name in self.controls.by_name
            ]
            members = [self.controls.by_name[name] for name in alone]
            if len(alone) < 2 or any(len(member.options) != 1 for member in members):  # noqa: PLR2004 - a choice has two
                continue
            joined = Control(name="|".join(alone), kind="one", label=members[0].label)
            for name, member in zip(alone, members, strict=True):
                ((value, label),) = member.options.items()
                joined.options[value] = label
                joined.parts[name] = value
            self.controls.by_name = {
                (joined.name if name == alone[0] else name): (
                    joined if name == alone[0] else control
                )
                for name, control in self.controls.by_name.items()
                if name == alone[0] or name not in alone
            }

    def _add_hidden(self) -> None:
        scripts = "\n".join(self._scripts)
        self.controls.has_script = bool(scripts.strip())
        for name, (control, value, own_id) in self._hidden.items():
            if name in self.controls.by_name:
                continue
            if is_mark(value) or (value and not _is_scripted(scripts, name, own_id)):
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
        is_alone = (
            sum(hidden.kind != "carried" for hidden, _, _ in self._hidden.values()) == 1
        )
        if len(groups) == 1 and is_alone and all(groups[0]):
            control.kind, control.is_open = "one", True
            control.options = dict.fromkeys(groups[0], "")


def _is_scripted(scripts: str, name: str, own_id: str) -> bool:
    """Return whether a script names the input, so that it may change its value."""
    return any(
        re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", scripts)
        for word in (name, own_id)
        if word
    )


def _stated_label(values: Mapping[str, str]) -> str:
    labels = (values.get(name, "") for name in ("label", "header", "aria-label"))
    shown = next(
        (text for text in labels if text.strip()), values.get("placeholder", "")
    )
    return "" if is_mark(shown) else _tidy(shown)


def _tidy(text: str) -> str:
    return " ".join(text.split())[:200]
