"""Smaller answers for public pages.

What is for one browser alone bears its form token and stays as it is: the length of a compressed
page that repeats what was asked could tell the token bit by bit.
"""

import gzip

from flask import Flask, Response, g, request

LEVEL = 5
SMALLEST = 860
"""Bytes; a smaller page fits into the first packet anyhow."""


def install(app: Flask) -> None:
    """Compress public pages for browsers that can read it."""

    @app.after_request
    def compress(response: Response) -> Response:
        if not _is_public_page(response):
            return response
        response.vary.add("Accept-Encoding")
        if request.accept_encodings.quality("gzip") > 0:
            response.set_data(gzip.compress(response.get_data(), LEVEL, mtime=0))
            response.headers["Content-Encoding"] = "gzip"
        return response


def _is_public_page(response: Response) -> bool:
    is_alone = g.get("user") is not None or g.get("has_form")
    is_text = response.mimetype in {"text/html", "text/plain"}
    return is_text and not is_alone and (response.content_length or 0) >= SMALLEST
