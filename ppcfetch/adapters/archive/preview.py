"""What an ad looks like: the three shapes of content a row can have."""

import re

from bs4 import BeautifulSoup, Tag
from bs4.exceptions import ParserRejectedMarkup

from ppcfetch.adapters.archive.answer import Content
from ppcfetch.adapters.archive.findings import Findings
from ppcfetch.model.ad import Preview, PreviewKind

LONGEST_ADDRESS = 8_192
LONGEST_MARKUP = 65_536

_USUAL = re.compile(
    r'<img src="(?P<src>[!#-%\'-;=?-~]+)" height="(?P<height>[0-9]+)" width="(?P<width>[0-9]+)">'
)
"""The one shape in which the archive writes pictures today; no character needs unescaping."""

_LINK = re.compile(r"https?://[a-z0-9][a-z0-9.-]*(?::[0-9]{1,5})?(?=[/?#]|\Z)", re.IGNORECASE)
_PIXELS = re.compile(r"\s*([0-9]{1,5})(?:px)?\s*", re.IGNORECASE | re.ASCII)
_MOST_DIGITS = 5
_NOTHING = Preview(PreviewKind.NONE)

Picture = tuple[str | None, str | None, str | None]
"""The source, width and height of an ``<img>``, as written."""


def read_preview(content: Content | None, findings: Findings) -> Preview:
    """Give what a row's content offers to look at; kind NONE when there is nothing to follow."""
    if content is None:
        findings.note("row without content")
        return _NOTHING
    if content.inline and content.inline.markup:
        return _picture(content.inline.markup, findings)
    for script in (content.script, content.older):
        if script and script.address:
            return _checked(Preview(PreviewKind.SCRIPT, script.address), findings)
    findings.note("row without content")
    return _NOTHING


def read_img(markup: str) -> Picture | None:
    """Give the first ``<img>`` of any markup, None when there is none."""
    start = re.search(r"<img[\s/>]", markup, re.IGNORECASE)
    if start is None or len(markup) > LONGEST_MARKUP:
        return None
    try:
        img = BeautifulSoup(markup[start.start() :], "lxml").find("img")
    except ParserRejectedMarkup:
        return None
    if not isinstance(img, Tag):
        return None
    src, width, height = (img.get(name) for name in ("src", "width", "height"))
    return _word(src), _word(width), _word(height)


def read_usual_img(markup: str) -> Picture | None:
    """Give what `read_img` gives, faster, for the usual shape; None for any other."""
    usual = _USUAL.fullmatch(markup)
    return (usual["src"], usual["width"], usual["height"]) if usual else None


def _picture(markup: str, findings: Findings) -> Preview:
    picture = read_usual_img(markup) or read_img(
        findings.text(markup, longest=LONGEST_MARKUP, name="inline content")
    )
    if picture is None or picture[0] is None:
        findings.note("inline content without a picture")
        return _NOTHING
    src, width, height = picture
    return _checked(
        Preview(PreviewKind.IMAGE, src, width=_pixels(width), height=_pixels(height)), findings
    )


def _checked(preview: Preview, findings: Findings) -> Preview:
    """Keep an address only when it is a plain web link; it is data, nothing is asked of it here."""
    address = preview.url or ""
    if len(address) <= LONGEST_ADDRESS and _is_link(address):
        return preview
    findings.note("preview that is not a web link")
    return _NOTHING


def _is_link(address: str) -> bool:
    """Tell whether this is a web link; by methods of str, which cost a tenth of a long match."""
    return (
        _LINK.match(address) is not None
        and address.isascii()
        and address.isprintable()
        and not (" " in address or '"' in address or "<" in address)
        and not (">" in address or "\\" in address)
    )


def _word(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _pixels(text: str | None) -> int | None:
    if text is None:
        return None
    if len(text) <= _MOST_DIGITS and text.isascii() and text.isdecimal():
        return int(text) or None
    found = _PIXELS.fullmatch(text)
    return int(found[1]) or None if found else None
