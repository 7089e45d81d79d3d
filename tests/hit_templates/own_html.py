"""Pages of somebody's own for tests, and the real ones that were shared with us."""

from pathlib import Path

import pytest

from piecework.domain.task import Task
from piecework.hit_templates.own_html.task import Around, html_task

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "html_hits"

needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="../shared/data/html_hits is not there"
)

LIBRARIES = ("code.jquery.com", "stackpath.bootstrapcdn.com", "cdnjs.cloudflare.com")


def task_of(folder: Path, html: str, **around: object) -> Task:
    """The task whose page is this HTML, written to a file called hit.html."""
    path = folder / "hit.html"
    path.write_text(html, encoding="utf-8")
    plain: dict[str, object] = {"title": "t", "description": "d", "fields": {}}
    return html_task(path, Around(**{**plain, **around}))  # type: ignore[arg-type]
