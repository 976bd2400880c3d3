"""The page: static files of this package, read once; a request chooses among their names, and opens no path."""

from __future__ import annotations

from importlib import resources
from typing import Any

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "png": "image/png"}
"""What may be served, by the ending of its name."""

INDEX = "index.html"

routes = APIRouter(include_in_schema=False)


def files() -> dict[str, tuple[bytes, str]]:
    """Return the files of the page by name, each with its media type."""
    found: dict[str, tuple[bytes, str]] = {}
    place: Any = resources.files("proband.service") / "page"
    for file in place.iterdir():
        ending = file.name.rpartition(".")[2]
        if ending in TYPES:
            found[file.name] = file.read_bytes(), TYPES[ending]
    return found


FILES = files()


@routes.get("/")
async def index() -> Response:
    """Return the first page."""
    return _served(INDEX)


@routes.get("/page/{name}")
async def file(name: str) -> Response:
    """Return one of the page's files."""
    return _served(name)


def _served(name: str) -> Response:
    if name not in FILES:
        raise HTTPException(404)
    content, media_type = FILES[name]
    return Response(content, media_type=media_type)
