"""Pages of one advertiser and of one ad."""

from flask import Blueprint, render_template

from ppcfetch.errors import NotFound
from ppcfetch.model.ad import AdFormat
from web.charts import bar_lengths
from web.identity import services
from web.outward import archive_ad, archive_advertiser

LONGEST_ID = 64
KINDS = {
    AdFormat.TEXT: "Text ad",
    AdFormat.IMAGE: "Image ad",
    AdFormat.VIDEO: "Video ad",
    AdFormat.UNKNOWN: "Ad",
}

blueprint = Blueprint("ads", __name__)


@blueprint.get("/advertisers/<advertiser_id>")
def advertiser(advertiser_id: str) -> str:
    """Show an advertiser and the domains that it pays for."""
    _refuse_long(advertiser_id)
    page = services().catalogue.advertiser(advertiser_id)
    lengths = bar_lengths([share.ads for share in page.domains])
    return render_template(
        "advertiser.html",
        page=page,
        shares=list(zip(page.domains, lengths, strict=True)),
        outside=archive_advertiser(advertiser_id),
    )


@blueprint.get("/ads/<advertiser_id>/<creative_id>")
def ad(advertiser_id: str, creative_id: str) -> str:
    """Show one ad and every domain that it leads to."""
    _refuse_long(advertiser_id)
    _refuse_long(creative_id)
    page = services().catalogue.ad(advertiser_id, creative_id)
    newest = max(page.sightings, key=lambda held: held.last_fetch_id).ad
    return render_template(
        "ad.html",
        ad=newest,
        sightings=page.sightings,
        kind=KINDS[newest.format],
        outside=archive_ad(advertiser_id, creative_id),
    )


def _refuse_long(identifier: str) -> None:
    if len(identifier) > LONGEST_ID or not identifier.isprintable():
        raise NotFound("no such id")
