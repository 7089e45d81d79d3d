"""The crowd elements that the marketplace has, and those that it lacks."""

from piecework.domain.suggestion import did_you_mean
from piecework.hit_templates.own_html.control_kinds import CONTROL_TAGS

_UNAVAILABLE = frozenset(
    f"crowd-{name}"
    for name in (
        *("bounding-box", "polygon", "polyline", "line", "keypoint"),
        *("semantic-segmentation", "instance-segmentation", "entity-annotation"),
        *("3d-point-cloud", "video-object-detection", "video-object-tracking"),
        *("rekognition-detect-moderation-labels", "textract-analyze-document"),
        "question-answer-generation",
    )
)
"""Crowd elements that the marketplace does not have."""

_OTHERS = frozenset(
    f"crowd-{name}"
    for name in (
        *("form", "radio-group", "radio-button", "checkbox", "toggle-button"),
        *("button", "instructions", "modal", "tabs", "tab", "card", "alert", "icon"),
        *("fab", "toast", "badge"),
    )
)
"""Crowd elements that are not controls, or are read in another way."""


def fault_of_tag(tag: str, *, is_named: bool) -> str:
    """Explain as a clause why an element's value is not sent; "" if it is sent.

    Args:
        tag: the tag's name.
        is_named: whether the page expects an answer from it; browsers ignore other
            unknown tags.
    """
    if tag in _UNAVAILABLE:
        return f"<{tag}> is not available here"
    if not (is_named and tag.startswith("crowd-")) or tag in CONTROL_TAGS | _OTHERS:
        return ""
    meant = did_you_mean(tag, [*CONTROL_TAGS, *_OTHERS])
    shown = f" ({meant.removeprefix('; ')})" if meant else ""
    return f"there is no <{tag}>{shown}, so its value is not sent"
