"""A fetch that was read in parts shows each of them."""

from dataclasses import replace

from ppcfetch.model.ad import AdFormat
from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.job_view import JobView
from tests.site import DOMAIN, NOW, FakeSite, a_fetch, a_page

FIRST = JobView(
    id=1,
    fetch_id=41,
    domain=DOMAIN.name,
    pool=Pool.BULK,
    state=JobState.DONE,
    created_at=NOW,
    due_at=NOW,
    pages=1,
)
PART = replace(FIRST, id=2, format=AdFormat.VIDEO, state=JobState.DEAD, pages=1_234, parent_id=1)


def shown(*walks: JobView) -> str:
    """The page of a fetch with these walks."""
    site = FakeSite()
    fetch = a_fetch()
    site.catalogue.hold(a_page(fetch))
    site.walks = walks
    return site.visitor().get(f"/domains/{DOMAIN}/fetches/{fetch.id}").text


def test_each_part_is_shown_with_its_state_and_pages() -> None:
    page = shown(FIRST, PART)

    assert "<td>all ads</td><td>split into parts</td>" in page
    assert "<td>video ads</td><td>could not be read</td>" in page
    assert "1,234" in page


def test_a_fetch_in_one_walk_has_no_parts_to_show() -> None:
    assert "Its parts" not in shown(FIRST)
