"""Whether the process lives, and whether it can answer visitors."""

from http import HTTPStatus

from flask import Blueprint, Response, jsonify, make_response

from web.identity import services

blueprint = Blueprint("health", __name__)


@blueprint.get("/livez")
def livez() -> Response:
    """Tell that the process answers; touches nothing."""
    return _fresh(jsonify(status="ok"), HTTPStatus.OK)


@blueprint.get("/readyz")
def readyz() -> Response:
    """Tell whether pages can be served.

    Shape: without the stream they can, and requests are kept: that is only degraded.
    """
    found = services().health()
    is_ready = found.database and found.schema
    status = "unavailable" if not is_ready else "ok" if found.stream else "degraded"
    body = jsonify(status=status, database=found.database, schema=found.schema, stream=found.stream)
    return _fresh(body, HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE)


def _fresh(body: Response, status: HTTPStatus) -> Response:
    response = make_response(body, status)
    response.headers["Cache-Control"] = "no-store"
    return response
