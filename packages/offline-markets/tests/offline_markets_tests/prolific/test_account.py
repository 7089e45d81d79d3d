"""The account, its workspaces and projects; tokens, addresses, errors and pages."""

import httpx
import pytest

from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from offline_markets_tests.prolific.people import START, Refused, Researcher


@pytest.mark.parametrize("header", [None, "", "Token", "Bearer abc"])
def test_without_a_token_nothing_is_told(researcher: Researcher, header: str | None) -> None:
    """Any word is a token, but there must be one, and the scheme is Token."""
    headers = {} if header is None else {"Authorization": header}
    response = httpx.get(f"{researcher.url}/api/v1/users/me/", headers=headers)
    assert response.status_code == 401
    assert response.json()["error"]["status"] == 401


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/users/me"), ("POST", "/studies"), ("GET", "/nothing/")]
)
def test_an_address_is_exactly_as_documented(
    researcher: Researcher, method: str, path: str
) -> None:
    """A slash that is missing is not found, and nothing is redirected."""
    with pytest.raises(Refused) as caught:
        researcher.ask(method, path)
    assert caught.value.status == 404


def test_a_method_that_is_not_there_is_405(researcher: Researcher) -> None:
    """In the same envelope as other errors."""
    with pytest.raises(Refused) as caught:
        researcher.ask("DELETE", "/users/me/")
    assert caught.value.status == 405
    assert caught.value.document["error"]["title"] == "Method not allowed"


def test_the_account_has_an_id_an_email_and_money(researcher: Researcher) -> None:
    """The id is 24 hexadecimal digits."""
    me = researcher.get("/users/me/")
    assert len(me["id"]) == 24
    assert int(me["id"], 16)
    assert (me["currency_code"], me["balance"]) == ("GBP", 1_000_000)


def test_a_project_is_made_and_read(researcher: Researcher) -> None:
    """It stands beside the first one, in its workspace."""
    path = f"/workspaces/{researcher.workspace_id()}/projects/"
    made = researcher.post(path, title="Pictures", description="All of them")
    assert researcher.get(f"/projects/{made['id']}/") == made
    assert made["workspace"] == researcher.workspace_id()
    titles = [project["title"] for project in researcher.get(path)["results"]]
    assert titles == ["My project", "Pictures"]


def test_a_study_without_a_project_goes_to_the_first(researcher: Researcher) -> None:
    """As documented."""
    workspace = researcher.get(f"/workspaces/{researcher.workspace_id()}/")
    study = researcher.get(f"/studies/{researcher.draft()}/")
    assert study["project"] == workspace["projects"][0]["id"]


@pytest.mark.parametrize(
    ("switch", "wraps_studies", "wraps_account"),
    [("documented", False, True), ("wrapped", True, True), ("bare", False, False)],
)
def test_errors_come_in_both_envelopes(
    researcher: Researcher, switch: str, *, wraps_studies: bool, wraps_account: bool
) -> None:
    """As the document says for each operation, or everywhere alike."""
    researcher.control("PUT", "/switches", {"errors": switch})
    for path, is_wrapped in (
        ("/submissions/", wraps_studies),
        ("/participant-groups/", wraps_account),
    ):
        response = researcher.http.get(f"/api/v1{path}")
        assert response.status_code == 400
        assert ("error" in response.json()) == is_wrapped


def test_pages_of_studies_end_with_404(researcher: Researcher) -> None:
    """Twenty a page; the link to the next is null on the last."""
    for number in range(21):
        researcher.draft(internal_name=f"run {number}")
    first = researcher.get("/studies/")
    assert len(first["results"]) == 20
    assert first["meta"]["count"] == 21
    assert first["_links"]["next"]["href"].endswith("?page=2&page_size=20")
    following = researcher.http.get(first["_links"]["next"]["href"]).json()
    assert [study["internal_name"] for study in following["results"]] == ["run 0"]
    assert following["_links"]["next"]["href"] is None
    with pytest.raises(Refused) as caught:
        researcher.get("/studies/", page=3)
    assert caught.value.status == 404


def test_an_empty_list_has_one_empty_page(researcher: Researcher) -> None:
    """The first page is never past the last."""
    assert researcher.get("/studies/", page=1)["results"] == []


def test_lists_are_walked_by_offset_too(researcher: Researcher) -> None:
    """As the official command line does; past the end is an empty list."""
    ids = [researcher.draft() for _ in range(3)]
    page = researcher.get("/studies/", limit=2, offset=1, ordering="date_created")
    assert [study["id"] for study in page["results"]] == ids[1:]
    assert page["meta"]["count"] == 3
    assert page["_links"]["next"]["href"] is None
    assert researcher.get("/studies/", limit=2, offset=9)["results"] == []


def test_links_may_name_a_host_that_nobody_reaches(researcher: Researcher) -> None:
    """Only what stands behind the question mark is to be used, if the switch is on."""
    for _ in range(2):
        researcher.draft()
    researcher.control("PUT", "/switches", {"internal_links": True})
    link = researcher.get("/studies/", page_size=1)["_links"]["next"]["href"]
    assert httpx.URL(link).host == "prolific-api.internal"
    assert httpx.URL(link).params["page"] == "2"


@pytest.mark.parametrize("page", ["0", "-1", "x", "²", "9" * 40])
def test_a_page_is_a_number(researcher: Researcher, page: str) -> None:
    """Anything else is refused, and the field is named."""
    with pytest.raises(Refused) as caught:
        researcher.get("/studies/", page=page)
    assert (caught.value.status, list(caught.value.detail)) == (400, ["page"])


@pytest.mark.parametrize("body", [b"{", b"[1]", b"[" * 5000, b"\xff"])
def test_a_body_is_a_json_object(researcher: Researcher, body: bytes) -> None:
    """Anything else is 400."""
    response = researcher.http.post("/api/v1/studies/", content=body)
    assert response.status_code == 400


def test_a_body_has_a_mebibyte_at_most(researcher: Researcher) -> None:
    """Whatever its head says of its length."""
    response = researcher.http.post("/api/v1/studies/", content=[b" " * 2**20] * 2)
    assert response.status_code == 413


def test_rewards_are_recommended_in_minor_units(researcher: Researcher) -> None:
    """6 and 9 pounds, 8 and 12 dollars an hour."""
    workspace = researcher.workspace_id()
    recommended = {
        currency: researcher.get(
            "/reward-recommendations/", workspace_id=workspace, currency=currency
        )[0]
        for currency in ("GBP", "USD")
    }
    assert recommended["GBP"]["min_reward_per_hour"] == 600
    assert recommended["USD"]["recommended_reward_per_hour"] == 1200


def test_the_same_seed_gives_the_same_ids() -> None:
    """Of the account, of participants, of what is made."""
    seen = []
    for seed in (5, 5, 6):
        options = Options(start=START, seed=seed, participants=3)
        with serve(options) as url, Researcher(url) as researcher:
            people = researcher.control("GET", "/participants")["results"]
            seen.append((researcher.get("/users/me/"), people, researcher.draft()))
    assert seen[0] == seen[1]
    assert seen[0] != seen[2]
