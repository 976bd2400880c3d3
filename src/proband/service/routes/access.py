"""Log-in and log-out, who one is, and tokens."""

from __future__ import annotations

import json
from functools import partial
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import Path, Query, Request
from pydantic import ValidationError
from starlette.responses import RedirectResponse, Response

from proband.errors import AccessError, RequestError, TooManyRequestsError
from proband.service import replies, requests
from proband.service.access.log import UNKNOWN
from proband.service.access.tokens import Caller, Role
from proband.service.gate import address_of, refusal
from proband.service.guard import OWN
from proband.service.problems import Answer
from proband.service.routes.common import Admin, Service, Viewer, router
from proband.service.state import State

routes = router("access")
entrance = router("access", prefix="")


@entrance.post(
    "/login",
    response_model=replies.CallerOut,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/LogIn"}},
                "application/x-www-form-urlencoded": {"schema": {"$ref": "#/components/schemas/LogIn"}},
            },
        }
    },
)
async def log_in(request: Request, service: Service) -> Response:
    """Exchange a token for a cookie, which browsers send by themselves; a form is sent on to the page."""
    body = await request.body()
    form = request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
    token = _token_in(body, form=form)
    caller = await _known(request, service, token)
    answer = RedirectResponse("/", 303) if form else Answer(_caller(caller))
    return await _with_cookie(service, caller, answer)


@entrance.get("/login", response_class=RedirectResponse, status_code=303)
async def log_in_by_link(
    request: Request, service: Service, token: Annotated[str, Query(min_length=1, max_length=500)]
) -> Response:
    """Log in by the link that the service printed when it started, and go on to the page."""
    if request.headers.get("sec-fetch-site", "none") not in OWN:
        raise AccessError("the link comes from another site; open the one that the service printed yourself")
    caller = await _known(request, service, token)
    if caller is not service.guard.startup:  # whatever stands in an address is kept by browsers
        raise AccessError("a link holds the token that the service printed, and no other; log in on the page")
    return await _with_cookie(service, caller, RedirectResponse("/", 303))


@entrance.post("/logout", response_model=replies.Done)
async def log_out(request: Request, service: Service) -> Answer:
    """End the log-in of this browser."""
    guard, caller = service.guard, request.state.caller
    session, answer = guard.session(request.headers), Answer({"done": True})
    if session is not None and caller is not None and caller.session is not None:
        await service.desk.run(partial(service.access.log_out, session, caller))
    answer.delete_cookie(guard.cookie, path="/", secure=guard.secure, httponly=True, samesite="strict")
    return answer


@routes.get("/me", response_model=replies.CallerOut)
async def who_am_i(caller: Viewer) -> Answer:
    """Return who asks: the name that stands in the log, the role, and the studies."""
    return Answer(_caller(caller))


@routes.get("/tokens", response_model=list[replies.TokenOut])
async def list_tokens(service: Service, caller: Admin) -> Answer:
    """List all tokens, without their secrets."""
    tokens = await service.desk.run(service.access.tokens)
    return Answer([{name: token.to_dict()[name] for name in replies.TokenOut.model_fields} for token in tokens])


@routes.post("/tokens", status_code=201, response_model=replies.NewTokenOut)
async def make_token(service: Service, caller: Admin, given: requests.NewToken) -> Answer:
    """Make a token; its secret is shown this once."""
    make = partial(service.access.make, given.user, Role.of(given.role), given.studies, days=given.days, by=caller.user)
    secret, token = await service.desk.run(make)
    return Answer({**{name: token.to_dict()[name] for name in replies.TokenOut.model_fields}, "secret": secret}, 201)


@routes.delete("/tokens/{token}", response_model=replies.TokenOut)
async def revoke_token(
    service: Service, caller: Admin, token: Annotated[str, Path(max_length=100, examples=["1f0c2a9b"])]
) -> Answer:
    """Revoke a token, and end its log-ins and streams."""
    revoked = await service.desk.run(partial(service.access.revoke, token, by=caller.user))
    return Answer({name: revoked.to_dict()[name] for name in replies.TokenOut.model_fields})


async def _known(request: Request, service: State, token: str) -> Caller:
    """Return who holds a token; raise if nobody does, or somebody tries too often."""
    wait = service.log_ins.wait(address_of(request.scope, request.headers, behind_proxy=service.behind_proxy))
    if wait:
        raise TooManyRequestsError(f"too many log-ins came from this address; try again in {wait:.0f} seconds")
    find = partial(service.guard.holder, token, service.access.holder)
    caller = find()
    if caller is None:
        await service.desk.run(partial(service.access.refresh, UNKNOWN))
        caller = find()
    if caller is None:
        raise refusal(service, request.scope, request.headers)
    return caller


async def _with_cookie(service: State, caller: Caller, answer: Response) -> Response:
    seconds, guard = service.limits.session_seconds, service.guard
    secret = await service.desk.run(partial(service.access.log_in, caller, seconds))
    answer.set_cookie(
        guard.cookie, secret, max_age=int(seconds), path="/", secure=guard.secure, httponly=True, samesite="strict"
    )
    return answer


def _token_in(body: bytes, *, form: bool) -> str:
    try:
        if form:
            return requests.LogIn(token=parse_qs(body.decode())["token"][0]).token
        return requests.LogIn.model_validate(json.loads(body)).token
    except (ValueError, LookupError, RecursionError, ValidationError):
        raise RequestError('the request has no token; send {"token": "proband_..."}, or the form of the page') from None


def _caller(caller: Caller) -> dict[str, object]:
    studies = None if caller.studies is None else list(caller.studies)
    return {"user": caller.user, "role": str(caller.role), "studies": studies}
