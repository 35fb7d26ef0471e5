"""The fenced write of an archive page, on the real database."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import Engine, text

from ppcfetch.adapters.database.engine import make_engine
from ppcfetch.adapters.database.pages import PostgresPages
from ppcfetch.errors import LeaseLost
from ppcfetch.model.ad import AdFormat, ArchivePage, Preview, PreviewKind, TotalRange
from ppcfetch.model.job import JobState
from tests.contract.pages_rig import (
    NOON,
    ad,
    fetched,
    lease_of,
    page,
    row,
    rows,
    walk,
    write,
)
from tests.contract.recount import drift

DAY = timedelta(days=1)


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    made = make_engine(database_url, application="test", pool_size=4, lease=timedelta(seconds=30))
    yield made
    made.dispose()


def test_a_page_stores_its_ads_and_its_checkpoint(engine: Engine) -> None:
    lease = lease_of(engine)

    progress = write(PostgresPages(engine), lease, page(ad(1), ad(2), cursor="c1"))

    assert (progress.new, progress.changed, progress.ended) == (2, 0, False)
    assert progress.job.pages == 1
    stored = row(engine, "SELECT * FROM ads WHERE creative_id = 'CR0001'")
    assert stored["first_shown"] == NOON - 10 * DAY
    assert stored["preview_url"] == "https://pictures.example/1"
    assert stored["first_fetch_id"] == stored["last_fetch_id"] == lease.job.fetch_id
    job = row(engine, "SELECT * FROM jobs")
    assert (job["cursor"], job["pages"], job["starts"], job["attempts"]) == ("c1", 1, 0, 0)
    assert job["progressed_at"] is not None
    assert row(engine, "SELECT name FROM advertisers")["name"] == "Shoes Ltd"
    assert drift(engine) == {}


def test_a_stale_consumer_cannot_write_a_page(engine: Engine) -> None:
    lease = lease_of(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE jobs SET fence = fence + 1"))

    with pytest.raises(LeaseLost):
        write(PostgresPages(engine), lease, page(ad(1)))

    assert rows(engine, "SELECT * FROM ads") == []
    assert row(engine, "SELECT pages FROM jobs")["pages"] == 0


@pytest.mark.parametrize("state", ["queued", "cancelled", "dead", "done"])
def test_a_job_that_does_not_run_takes_no_page(engine: Engine, state: str) -> None:
    lease = lease_of(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE jobs SET state = :state"), {"state": state})

    with pytest.raises(LeaseLost):
        write(PostgresPages(engine), lease, page(ad(1)))

    assert rows(engine, "SELECT * FROM page_log") == []


def test_a_connection_that_lost_its_lease_writes_the_next_page(engine: Engine) -> None:
    lost, held = lease_of(engine), lease_of(engine, "hats.example")
    pages = PostgresPages(engine)
    with pytest.raises(LeaseLost):
        write(pages, replace(lost, fence=0), page(ad(1)))

    assert write(pages, held, page(ad(1))).new == 1
    assert write(pages, lost, page(ad(1))).new == 1


def test_a_write_whose_answer_was_lost_stores_nothing_twice(engine: Engine) -> None:
    lease = lease_of(engine)
    fetched(engine, ad(1), ad(2), domain="hats.example")
    changed = [ad(1), ad(2, format=AdFormat.VIDEO)]
    pages = PostgresPages(engine)
    first = write(pages, lease, page(*changed, cursor="c1"))

    again = write(pages, lease, page(*changed, cursor="c1"))

    assert again == first
    assert row(engine, "SELECT pages, found FROM fetches ORDER BY id LIMIT 1") == {
        "pages": 1,
        "found": 2,
    }
    assert drift(engine) == {}


def test_a_last_page_whose_answer_was_lost_is_ended_all_the_same(engine: Engine) -> None:
    lease = lease_of(engine)
    pages = PostgresPages(engine)
    first = write(pages, lease, page(ad(1), cursor=None))

    again = write(pages, lease, page(ad(1), cursor=None))

    assert again == first
    assert again.ended
    assert again.job.state is JobState.DONE


def test_the_last_page_ends_the_job_and_its_fetch(engine: Engine) -> None:
    lease = lease_of(engine)

    walk(engine, lease, [page(ad(1)), page(ad(2), cursor=None)])

    assert row(engine, "SELECT state, pages FROM jobs") == {"state": "done", "pages": 2}
    fetch = row(engine, "SELECT state, pages, found, unseen FROM fetches")
    assert fetch == {"state": "done", "pages": 2, "found": 2, "unseen": 0}
    assert row(engine, "SELECT checked_at FROM domains")["checked_at"] is not None


def test_a_fetch_goes_on_while_another_job_of_it_is_active(engine: Engine) -> None:
    one, other = lease_of(engine), lease_of(engine)

    walk(engine, one, [page(ad(1), cursor=None)])

    assert row(engine, "SELECT state FROM fetches")["state"] == "active"
    walk(engine, other, [page(ad(2), cursor=None)])
    assert row(engine, "SELECT state FROM fetches")["state"] == "done"


def test_an_empty_page_is_a_page(engine: Engine) -> None:
    lease = lease_of(engine)

    walk(engine, lease, [page(), page(cursor=None)])

    assert row(engine, "SELECT pages, found FROM fetches") == {"pages": 2, "found": 0}
    assert drift(engine) == {}


def test_dates_only_widen(engine: Engine) -> None:
    fetched(engine, ad(1, first_shown=NOON - 5 * DAY, last_shown=NOON, days_shown=9))

    fetched(engine, ad(1, first_shown=NOON - 9 * DAY, last_shown=NOON - DAY, days_shown=3))
    fetched(engine, ad(1, first_shown=None, last_shown=NOON + DAY, days_shown=None))

    stored = row(engine, "SELECT first_shown, last_shown, days_shown FROM ads")
    assert stored == {
        "first_shown": NOON - 9 * DAY,
        "last_shown": NOON + DAY,
        "days_shown": 9,
    }
    assert drift(engine) == {}


def test_what_the_archive_leaves_out_is_kept(engine: Engine) -> None:
    first = fetched(engine, ad(1))

    second = fetched(
        engine,
        ad(1, advertiser_name=None, format=AdFormat.UNKNOWN, preview=Preview(PreviewKind.NONE)),
    )

    stored = row(engine, "SELECT * FROM ads")
    assert (stored["format"], stored["preview_kind"], stored["preview_width"]) == (1, 1, 300)
    assert (stored["first_fetch_id"], stored["last_fetch_id"]) == (first, second)
    assert stored["changed_fetch_id"] is None
    assert row(engine, "SELECT name FROM advertisers")["name"] == "Shoes Ltd"


def test_a_new_name_replaces_the_old_one(engine: Engine) -> None:
    fetched(engine, ad(1))

    fetched(engine, ad(1, advertiser_name="Shoes & Sons"))

    assert row(engine, "SELECT name FROM advertisers")["name"] == "Shoes & Sons"


SCRIPT = Preview(PreviewKind.SCRIPT, "https://scripts.example/?sig=1")


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        pytest.param({}, {}, 0, id="the same again"),
        pytest.param({}, {"last_shown": NOON + DAY, "days_shown": 6}, 0, id="shown on"),
        pytest.param({}, {"advertiser_name": "Shoes & Sons"}, 0, id="advertiser renamed"),
        pytest.param(
            {"preview": SCRIPT},
            {"preview": replace(SCRIPT, url="https://scripts.example/?sig=2")},
            0,
            id="script signed anew",
        ),
        pytest.param({}, {"format": AdFormat.VIDEO}, 1, id="another format"),
        pytest.param({}, {"preview": SCRIPT}, 1, id="another kind of preview"),
        pytest.param(
            {},
            {"preview": Preview(PreviewKind.IMAGE, "https://pictures.example/2", 300, 200)},
            1,
            id="another picture",
        ),
        pytest.param({}, {"first_shown": NOON - 11 * DAY}, 1, id="an earlier first day"),
        pytest.param({}, {"first_shown": NOON - 9 * DAY}, 0, id="a later first day"),
        pytest.param({"first_shown": None}, {}, 1, id="a first day at last"),
    ],
)
def test_an_ad_is_changed_when_it_looks_different(
    engine: Engine, before: dict[str, object], after: dict[str, object], changed: int
) -> None:
    fetched(engine, ad(1, **before))

    second = fetched(engine, ad(1, **after))

    assert (
        row(engine, "SELECT changed FROM fetches WHERE id = :id", id=second)["changed"] == changed
    )
    assert drift(engine) == {}


def test_an_ad_met_twice_in_one_fetch_is_found_once(engine: Engine) -> None:
    lease = lease_of(engine)

    walk(engine, lease, [page(ad(1), ad(2)), page(ad(2, format=AdFormat.IMAGE), ad(3))])

    fetch = row(engine, "SELECT found, new, changed FROM fetches")
    assert fetch == {"found": 3, "new": 3, "changed": 0}
    assert row(engine, "SELECT image_ads FROM domains")["image_ads"] == 1
    assert drift(engine) == {}


def test_a_page_that_repeats_an_ad_stores_it_once_and_whole(engine: Engine) -> None:
    lease = lease_of(engine)
    twice = page(ad(1, last_shown=None), ad(2), ad(1, first_shown=NOON - 20 * DAY, days_shown=1))

    progress = write(PostgresPages(engine), lease, twice)

    assert progress.new == 2
    stored = row(engine, "SELECT * FROM ads WHERE creative_id = 'CR0001'")
    assert (stored["first_shown"], stored["last_shown"]) == (NOON - 20 * DAY, NOON)
    assert stored["days_shown"] == 5
    assert drift(engine) == {}


def test_the_archives_range_is_kept_for_the_whole_domain_only(engine: Engine) -> None:
    whole, part = lease_of(engine), lease_of(engine, format=AdFormat.TEXT)

    walk(engine, whole, [page(total=TotalRange(200, 300)), page(total=None)])
    walk(engine, part, [page(total=TotalRange(7, 7))])

    totals = "SELECT total_lower, total_upper FROM"
    assert row(engine, f"{totals} domains") == {"total_lower": 200, "total_upper": 300}
    assert row(engine, f"{totals} fetches") == {"total_lower": 200, "total_upper": 300}


def test_each_page_leaves_a_line_in_the_audit(engine: Engine) -> None:
    lease = lease_of(engine)

    walk(engine, lease, [page(ad(1), cursor="c1"), page(ad(1), ad(2), cursor=None)])

    log = rows(engine, "SELECT * FROM page_log ORDER BY page")
    assert [(r["page"], r["cursor_in"], r["cursor_out"]) for r in log] == [
        (1, None, "c1"),
        (2, "c1", None),
    ]
    assert [(r["ads"], r["new"]) for r in log] == [(1, 1), (2, 1)]
    assert {(r["fence"], r["holder"], r["incarnation"]) for r in log} == {(1, "host.bulk.1", 1)}


def test_warnings_are_counted(engine: Engine) -> None:
    lease = lease_of(engine)
    warned = ArchivePage((), next_cursor="c1", total=None, warnings=("one", "two"))

    write(PostgresPages(engine), lease, warned)

    assert row(engine, "SELECT warnings FROM fetches")["warnings"] == 2
