"""The archive's client against the emulator, which shares no code with it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta

import pytest

from fixtures.emulator.behaviour import FAULTS
from fixtures.emulator.server import EmulatorServer
from ppcfetch.adapters.archive.client import ArchiveClient
from ppcfetch.errors import (
    ArchiveBlocked,
    ArchiveChanged,
    ArchiveRejected,
    ArchiveThrottled,
    ArchiveUnavailable,
    PpcFetchError,
    Retryable,
)
from ppcfetch.model.ad import Ad, AdFormat, ArchivePage, PreviewKind, Query, TotalRange
from ppcfetch.model.domain import DomainName
from ppcfetch.settings import Settings
from tests.archive_reading import TODAY
from tests.contract.emulator import behave, call, running_emulator

NOW = datetime.combine(TODAY, time(23, 59), UTC)
BUSY = Query(DomainName("ads-2350.example"))
CONTROL = DomainName("ads-3.example")

ENDS = {
    "captcha_redirect": ArchiveBlocked,
    "json_429": ArchiveThrottled,
    "html_429": ArchiveThrottled,
    "html_200": ArchiveBlocked,
    "forbidden_403": ArchiveBlocked,
    "missing_404": ArchiveUnavailable,
    "unavailable_503": ArchiveUnavailable,
    "bad_request_400": ArchiveRejected,
    "empty_body": ArchiveBlocked,
    "empty_object": ArchiveBlocked,
    "truncated_json": ArchiveUnavailable,
    "cut_gzip": ArchiveUnavailable,
    "slow_drip": ArchiveUnavailable,
    "reset": ArchiveUnavailable,
    "wrong_shape": ArchiveChanged,
    "deep_json": ArchiveChanged,
    "huge_json": ArchiveChanged,
}
GOES_ON = {"repeat_cursor", "repeat_page", "reversed_page", "empty_page"}


@pytest.fixture(scope="module")
def running() -> Iterator[EmulatorServer]:
    with running_emulator() as server:
        yield server


@pytest.fixture
def emulator(running: EmulatorServer) -> Iterator[EmulatorServer]:
    yield running
    call(running, "DELETE", "/_emulator/behaviour")


@pytest.fixture
def archive(emulator: EmulatorServer) -> Iterator[ArchiveClient]:
    with client(emulator) as made:
        yield made


def client(server: EmulatorServer, deadline: timedelta = timedelta(seconds=30)) -> ArchiveClient:
    return ArchiveClient(server.url, deadline=deadline, control=CONTROL, now=lambda: NOW)


def walk(archive: ArchiveClient, query: Query) -> list[ArchivePage]:
    pages = [archive.page(query, None)]
    while pages[-1].next_cursor:
        pages.append(archive.page(query, pages[-1].next_cursor))
    return pages


def truth(server: EmulatorServer, domain: DomainName) -> list[dict[str, str | None]]:
    lines = call(server, "GET", f"/_emulator/truth/{domain}").body.splitlines()
    return [json.loads(line) for line in lines]


def told(ad: Ad) -> dict[str, str | None]:
    """Say of an ad what the truth says of it."""
    return {
        "advertiser": ad.advertiser_id,
        "creative": ad.creative_id,
        "format": ad.format.value,
        "first_shown": written(ad.first_shown),
        "last_shown": written(ad.last_shown),
        "name": ad.advertiser_name,
    }


def written(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="microseconds") if moment else None


def named(server: EmulatorServer, most_ads: int) -> list[DomainName]:
    """Give the demo's domains, but for those that would take long."""
    known = call(server, "GET", "/_emulator/domains").json()
    small = [each for each in known if isinstance(each["ads"], int) and each["ads"] <= most_ads]
    return [DomainName.parse(each["domain"]) for each in small]


def test_a_whole_walk_equals_the_truth_field_by_field(
    emulator: EmulatorServer, archive: ArchiveClient
) -> None:
    pages = walk(archive, BUSY)

    ads = [ad for page in pages for ad in page.ads]
    assert len(pages) == 24
    assert [told(ad) for ad in ads] == truth(emulator, BUSY.domain)
    assert {page.total for page in pages} == {TotalRange(2000, 3000)}
    assert {ad.preview.kind for ad in ads} >= {PreviewKind.IMAGE, PreviewKind.SCRIPT}
    assert not [text for page in pages for text in page.warnings if "order" in text]


def test_every_named_company_is_read_as_it_is(
    emulator: EmulatorServer, archive: ArchiveClient
) -> None:
    companies = named(emulator, most_ads=2000)

    for domain in companies:
        ads = [ad for page in walk(archive, Query(domain)) for ad in page.ads]
        assert [told(ad) for ad in ads] == truth(emulator, domain)
    assert len(companies) > 5


@pytest.mark.parametrize("ad_format", [AdFormat.TEXT, AdFormat.IMAGE, AdFormat.VIDEO])
def test_a_query_for_one_format_gives_those_ads_and_no_others(
    emulator: EmulatorServer, archive: ArchiveClient, ad_format: AdFormat
) -> None:
    pages = walk(archive, Query(BUSY.domain, format=ad_format))

    expected = [line for line in truth(emulator, BUSY.domain) if line["format"] == ad_format]
    assert [told(ad) for page in pages for ad in page.ads] == expected
    assert expected


def test_a_query_for_some_days_gives_a_part_of_the_ads(archive: ArchiveClient) -> None:
    week = Query(BUSY.domain, first_day=TODAY - timedelta(days=7), last_day=TODAY)

    pages = walk(archive, week)

    assert 0 < sum(len(page.ads) for page in pages) < 2350


def test_the_domain_that_is_asked_first_by_default_has_ads_in_the_emulator_too(
    archive: ArchiveClient,
) -> None:
    control = DomainName.parse(Settings.model_fields["archive_control_domain"].default)

    found = archive.page(Query(control), None)

    assert found.ads


@pytest.mark.parametrize("name", ["ads-0.example", "never-heard-of.example"])
def test_a_domain_without_ads_is_an_empty_page_behind_a_good_control(
    archive: ArchiveClient, name: str
) -> None:
    page = archive.page(Query(DomainName(name)), None)

    assert page == ArchivePage((), None, TotalRange(0, 0))


def test_every_fault_of_the_emulator_has_its_end_here() -> None:
    assert ENDS.keys() | GOES_ON == set(FAULTS)


@pytest.mark.parametrize(("fault", "kind"), ENDS.items())
def test_each_fault_ends_in_the_right_error(
    emulator: EmulatorServer, fault: str, kind: type[PpcFetchError]
) -> None:
    behave(emulator, fault=fault)
    soon = timedelta(seconds=1 if fault == "slow_drip" else 30)

    with client(emulator, soon) as archive, pytest.raises(PpcFetchError) as ended:
        archive.page(BUSY, None)

    assert type(ended.value) is kind
    assert len(str(ended.value)) < 300


@pytest.mark.parametrize("fault", ["empty_body", "empty_object"])
def test_nothing_for_a_cursor_is_not_believed_of_an_archive_that_is_empty_for_all(
    emulator: EmulatorServer, archive: ArchiveClient, fault: str
) -> None:
    first = archive.page(BUSY, None)
    behave(emulator, fault=fault)

    with pytest.raises(ArchiveBlocked):
        archive.page(BUSY, first.next_cursor)


def test_the_delay_of_a_throttling_archive_comes_along(
    emulator: EmulatorServer, archive: ArchiveClient
) -> None:
    behave(emulator, fault="json_429", retry_after=17)

    with pytest.raises(Retryable) as throttled:
        archive.page(BUSY, None)

    assert throttled.value.retry_after == timedelta(seconds=17)


def test_a_cursor_that_comes_back_is_noticed(
    emulator: EmulatorServer, archive: ArchiveClient
) -> None:
    cursor = archive.page(BUSY, None).next_cursor
    behave(emulator, fault="repeat_cursor")

    with pytest.raises(ArchiveChanged) as changed:
        archive.page(BUSY, cursor)

    assert changed.value.field == "2"


def test_an_empty_page_with_a_cursor_goes_on(
    emulator: EmulatorServer, archive: ArchiveClient
) -> None:
    behave(emulator, fault="empty_page")

    page = archive.page(BUSY, None)

    assert page.ads == ()
    assert page.next_cursor
    assert page.warnings == ("1 × page without rows before the last one",)


def test_a_repeated_page_leads_back_to_a_cursor_that_was_there_before(
    emulator: EmulatorServer, archive: ArchiveClient
) -> None:
    first = archive.page(BUSY, None)
    second = archive.page(BUSY, first.next_cursor)
    behave(emulator, fault="repeat_page")

    again = archive.page(BUSY, second.next_cursor)

    assert again == first
    with pytest.raises(ArchiveChanged):
        archive.page(BUSY, first.next_cursor)


def test_after_any_fault_the_same_client_goes_on(
    emulator: EmulatorServer, archive: ArchiveClient
) -> None:
    for fault in ("reset", "html_429", "cut_gzip", "unavailable_503"):
        behave(emulator, fault=fault, for_calls=1)
        with pytest.raises(Retryable):
            archive.page(BUSY, None)

        assert len(archive.page(BUSY, None).ads) == 100
