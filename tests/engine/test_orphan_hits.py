"""HITs that the store does not know are named, told apart, and left alone."""

import httpx
import pytest
from click.testing import CliRunner

from piecework.campaign.opened import CampaignRun
from piecework.cli.main import main
from piecework.domain.ids import HitTypeId
from piecework.engine.recover.other_stores import orphan_hits
from piecework.engine.run_pass import run_pass
from piecework.store import hits, intents
from tests.engine.conftest import Open


def _post(run: CampaignRun, annotation: str) -> str:
    """Post the campaign's own page once more, as somebody else would."""
    hit_type = HitTypeId(str(hits.load_hits(run.store)[0].hit_type_id))
    return run.platform.publish(
        hit_type,
        '<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/'
        'AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"><HTMLContent>'
        "<![CDATA[<p>hello</p>]]></HTMLContent><FrameHeight>0</FrameHeight>"
        "</HTMLQuestion>",
        max_assignments=1,
        lifetime_seconds=3600,
        annotation=annotation,
        token=annotation,
    )


def test_what_the_store_does_not_know_is_told_apart_by_its_annotation(
    at_work: Open, campaign_text: str
) -> None:
    """Ours unrecorded, an earlier store's, another campaign's; our own is not named."""
    with at_work(campaign_text) as (run, _):
        run_pass(run)
        assert orphan_hits(run) == []
        name = intents.store_name(run.store)
        ours = _post(run, f"{name}/crash.b0001.r00.000099")
        lost = _post(run, "0123456789abcdef/crash.b0001.r00.000001")
        other = _post(run, "0123456789abcdef/crash.two.b0001.r00.000001")
        plain = _post(run, "batch 7 of the lab")
        owner_of = {orphan.hit_id: orphan.whose for orphan in orphan_hits(run)}
        assert owner_of == {
            ours: "this store",
            lost: "another store of this campaign",
            other: "others",
            plain: "others",
        }


def test_looking_names_them_with_commands_and_touches_nothing(
    at_work: Open, campaign_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line for each, what it means, and how to end one by hand."""
    monkeypatch.setenv("COLUMNS", "100")
    with at_work(campaign_text) as (run, _):
        run_pass(run)
        lost = _post(run, "0123456789abcdef/crash.b0001.r00.000001")
        books = f"{run.platform.endpoint}/rehearsal/books"
        before = httpx.get(books).json()
        words = ["status", str(run.campaign.path), "--look"]
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 0, result.output
        assert f"{lost}  '0123456789abcdef/crash.b0001.r00.000001'" in result.output
        assert "1 HIT unknown to the store, of another store" in result.output
        assert f"update-expiration-for-hit --hit-id {lost}" in result.output
        assert httpx.get(books).json() == before
        plain = CliRunner().invoke(main, words[:-1])
        assert lost not in plain.output
