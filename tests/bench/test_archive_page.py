"""What reading and inventing an archive page costs."""

import json

from ppcfetch.adapters.archive.wire import read_page
from tests.archive_answers import NOW
from tests.archive_reading import archive, query, text_of
from tests.bench.ratio import compare, report

ROUNDS = 200
PAGES_DEEP = 300


def test_reading_a_page_against_parsing_its_json() -> None:
    text = text_of(archive(), query("ads-2350.example"))

    ratio = compare(floor=lambda: json.loads(text), ours=lambda: read(text), rounds=ROUNDS)

    report("reading an archive page", ratio)
    assert read(text) == 100


def test_a_deep_page_of_two_million_ads_against_the_first() -> None:
    source, domain = archive(), "ads-2000000.example"
    cursor = None
    for _ in range(PAGES_DEEP):
        cursor = json.loads(text_of(source, query(domain, cursor=cursor)))["2"]

    ratio = compare(
        floor=lambda: text_of(source, query(domain)),
        ours=lambda: text_of(source, query(domain, cursor=cursor)),
        rounds=ROUNDS,
    )

    report(f"page {PAGES_DEEP + 1} of two million ads", ratio)
    assert text_of(source, query(domain)) != text_of(source, query(domain, cursor=cursor))


def read(text: str) -> int:
    """Read a page as the client does; gives the number of its ads."""
    return len(read_page(text.encode(), now=NOW).ads)
