"""Links that a panel did not make, or whose ids are none: a page, and no trace."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.markets.panel.arrivals import Ids, Links, Secrets, UnusableError, signature
from tests.conftest import in_full
from tests.markets.panel.scene import SECRET, Scene, a_scene, changed, panel_of

_BY = 'by = "signature"\nparameter = "sig"\nsecret_variable = "PANEL_SECRET"'
_HOSTILE = [
    "",
    "a" * 129,
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "=HYPERLINK(1)",
    *in_full("a b", "a/b", "a\x00b", "a\r\nSet-Cookie: x=1", "ü", "-1", "@SUM", "%41"),
]


@pytest.mark.parametrize("hostile", _HOSTILE)
@pytest.mark.parametrize("parameter", ["pid", "sid", "project"])
def test_what_is_no_id_is_refused_even_if_signed(
    scene: Scene, hostile: str, parameter: str
) -> None:
    """One sentence, and the database stays as it was."""
    scene.post(2)
    ids = {"pid": "ann", "sid": "s1", "project": "p1", parameter: hostile}
    link = scene.panel.open(ids["pid"], ids["sid"], ids["project"])
    for reply in (scene.visitor().look(link), scene.visitor().arrive(link)):
        assert reply.status_code == 400
        assert "This link is incomplete" in reply.text
        assert hostile not in reply.text or not hostile
    assert not any(scene.sizes().values())


@pytest.mark.parametrize("change", ["sig", "pid", "sid", "project", "missing"])
def test_a_forged_link_opens_nothing(scene: Scene, change: str) -> None:
    """A signature belongs to person, session and project; others have none."""
    scene.post(2)
    link = scene.panel.open("ann", "s1")
    if change == "missing":
        del link["sig"]
    else:
        link[change] = scene.panel.forged("eve", "s9", "p9")[change]
    for reply in (scene.visitor().look(link), scene.visitor().arrive(link)):
        assert reply.status_code == 403
        assert "does not come from Example Panel" in reply.text
        assert "way-back" not in reply.text
    assert not any(scene.sizes().values())


def test_a_forged_link_shows_no_exit_of_a_visit(scene: Scene) -> None:
    """Nor its code: only the panel's own link leads there."""
    scene.post(2)
    visitor = scene.visitor()
    visitor.arrive(scene.panel.open("ann", "s1"))
    visitor.finish()
    forged = scene.visitor().look(scene.panel.forged("ann", "s1"))
    assert forged.status_code == 403
    assert "status=complete" not in forged.text


def test_a_list_lets_in_who_is_on_it(tmp_path: Path) -> None:
    """Also who is added while the marketplace runs."""
    ids = tmp_path / "ids.txt"
    ids.write_text("ann\n\n  bob\n")
    file = changed((_BY, f'by = "list"\nids_file = "{ids}"'))
    with a_scene(tmp_path, file=file) as scene:
        scene.post(4)
        assert scene.visitor().look(scene.panel.open("bob", "s1")).status_code == 200
        cat = scene.panel.open("cat", "s2")
        assert scene.visitor().look(cat).status_code == 403
        ids.write_text("ann\nbob\ncat\n")
        assert scene.visitor().look(cat).status_code == 200
        ids.unlink()
        assert scene.visitor().look(cat).status_code == 200


def test_a_shared_secret_is_compared_whole(tmp_path: Path) -> None:
    """A part of it, or more than it, is not it."""
    file = changed(('by = "signature"', 'by = "secret"'))
    with a_scene(tmp_path, file=file) as scene:
        scene.post(2)
        for proof, status in ((SECRET, 200), (SECRET[:-1], 403), (SECRET + "x", 403), ("", 403)):
            link = {**scene.panel.open("ann", "s1"), "sig": proof}
            assert scene.visitor().look(link).status_code == status


def test_without_verification_the_page_says_so(tmp_path: Path) -> None:
    """People learn that others could open their visit."""
    accepted = 'accepted_risk = "The class has twelve people whom we know."'
    file = changed((_BY, f'by = "nothing"\n{accepted}'))
    with a_scene(tmp_path, file=file) as scene:
        scene.post(2)
        page = scene.visitor().look({"pid": "ann", "sid": "s1", "project": "p1"})
        assert page.status_code == 200
        assert "cannot check that a link is really yours" in page.text


def test_a_panel_without_sessions_lets_each_person_in_once() -> None:
    """The person is the session."""
    text = changed(('session = "sid"\n', ""), ('Session = "{session}"\n', ""))
    text = text.replace("&sid={session}", "")
    panel = panel_of(text)
    links = Links(panel, Secrets(SECRET.encode()))
    query = {"pid": "ann", "project": "p1"}
    ids = Ids(person="ann", session="ann", project="p1")
    query["sig"] = signature(panel, Secrets(SECRET.encode()), ids)
    arrival = links.read(query)
    assert arrival.submission_id == "example/p1/ann"
    assert links.query(arrival) == query


def test_a_signature_is_the_documented_one() -> None:
    """HMAC-SHA256 over the parameters as docs/how-to/panel.md states it.

    printf 'pid=a%%40b&sid=s1&project=p1' | openssl dgst -sha256 -hmac key-key-key-key-k
    """
    ids = Ids(person="a@b", session="s1", project="p1")
    made = signature(panel_of(changed()), Secrets(b"key-key-key-key-k"), ids)
    assert made == "0d409878b9618888f628cfc6f0d7e313347588d462234adf8b031701cf271077"


def test_secrets_are_private_and_long(tmp_path: Path) -> None:
    """A file that others can read, a short secret and a missing one are refused."""
    file = tmp_path / "secret"
    file.write_text(SECRET)
    file.chmod(0o644)
    by_file = changed(('secret_variable = "PANEL_SECRET"', f'secret_file = "{file}"'))
    with pytest.raises(UnusableError, match="chmod 600"):
        Secrets.read(panel_of(by_file), {})
    file.chmod(0o600)
    assert Secrets.read(panel_of(by_file), {}).link == SECRET.encode()
    with pytest.raises(UnusableError, match="at least 16 characters"):
        Secrets.read(panel_of(changed()), {"PANEL_SECRET": "short"})
    with pytest.raises(UnusableError, match="PANEL_SECRET"):
        Secrets.read(panel_of(changed()), {})
    assert SECRET not in repr(Secrets(SECRET.encode()))


@pytest.mark.parametrize("by", ["secret", "nothing"])
def test_an_id_alone_opens_no_visit_that_another_browser_began(tmp_path: Path, by: str) -> None:
    """Everybody's links have the same secret, and a person's id can be guessed."""
    proof = (
        'by = "nothing"\naccepted_risk = "A try without any pay, with twelve people."'
        if by == "nothing"
        else _BY.replace("signature", "secret")
    )
    with a_scene(tmp_path, file=changed((_BY, proof))) as scene:
        scene.post(4)
        link = {**scene.panel.open("ann", "s1"), "sig": SECRET}
        ann, eve, later = (scene.visitor() for _ in range(3))
        assert ann.arrive(link).status_code == 201
        for forged in (link, link | {"sid": "s2"}):
            reply = eve.arrive(forged)
            assert reply.status_code == 409
            assert "set-cookie" not in reply.headers
            assert eve.http.get("/visit").status_code == 401
        assert "They can give you a link" in eve.look_and_begin(link)
        assert scene.sizes()["visits"] == 1
        printed = CliRunner().invoke(
            main, ["market", "people", "continue", "ann", "--database", str(scene.database)]
        )
        assert printed.exit_code == 0, printed.output
        key = parse_qs(urlsplit(printed.stdout.strip()).query)["key"]
        moved = later.http.post("/visit/continue", data={"key": key})
        assert moved.status_code == 201, moved.text
        assert later.finish()["stage"] == "Done"
        assert ann.http.get("/visit").status_code == 401


def test_a_signed_link_is_the_panels_word_on_any_device(scene: Scene) -> None:
    """Only the panel can make it, for this person."""
    scene.post(4)
    link = scene.panel.open("ann", "s1")
    desk, phone = scene.visitor(), scene.visitor()
    assert desk.arrive(link).status_code == 201
    assert phone.arrive(link).status_code == 201
    assert desk.visit() == phone.visit()
    unknown = CliRunner().invoke(
        main, ["market", "people", "continue", "nobody", "--database", str(scene.database)]
    )
    assert unknown.exit_code == 2
    assert "has no visit" in unknown.stderr
