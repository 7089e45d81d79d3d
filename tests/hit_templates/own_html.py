"""Pages of somebody's own for tests, and the real ones that were shared with us."""

from pathlib import Path

import pytest

from piecework.domain.task import Task
from piecework.hit_templates.own_html.task import Around, html_task

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "html_hits"

needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="../shared/data/html_hits is not there"
)

DIRECTIONS: dict[str, str | None] = {
    **dict.fromkeys(("ar", "fa-IR", "ur-PK", "AR-eg", "ar-u-nu-latn", "fa-x-latn"), "rtl"),
    **dict.fromkeys(("uz-Arab", "ks-arab-IN", "ff-Adlm", "syr-Syrc", "dv-Thaa"), "rtl"),
    **dict.fromkeys(("nqo-Nkoo", "yi-Hebr-US", "sd-Arab-u-nu-latn"), "rtl"),
    **dict.fromkeys(("ur-Latn", "sd-Deva", "ug-Cyrl-KZ", "yi-latn", "art", "fr"), None),
    **dict.fromkeys(("nl-x-arab", "ms-u-nu-arab", "de-DE-x-hebr"), None),
}
"""The direction of writing that a language's tag brings; None: the browser's."""

LIBRARIES = ("code.jquery.com", "stackpath.bootstrapcdn.com", "cdnjs.cloudflare.com")


def task_of(folder: Path, html: str, **around: object) -> Task:
    """The task whose page is this HTML, written to a file called hit.html."""
    path = folder / "hit.html"
    path.write_text(html, encoding="utf-8")
    plain: dict[str, object] = {"title": "t", "description": "d", "fields": {}}
    return html_task(path, Around(**{**plain, **around}))  # type: ignore[arg-type]
