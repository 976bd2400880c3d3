"""The log itself: pages of events, the live stream, exports and imports, the table of subjects."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import Header, Query, Request
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response, StreamingResponse

from proband.service import replies
from proband.service.access.tokens import Caller, Role
from proband.service.problems import Answer
from proband.service.routes.common import After, Engineer, Limit, Service, StudyName, Viewer, page, router, speaking_of
from proband.service.routes.subjects import Searched
from proband.service.state import State
from proband.studies import Event, Study, import_study
from proband.studies.events.checks import LONGEST
from proband.studies.exchange.exports import read_export
from proband.studies.stores.contract import Store

routes = router("log")
LINES = "application/x-ndjson"


@routes.get("/studies/{study}/events", response_model=replies.Page[replies.EventOut])
async def list_events(
    service: Service, caller: Viewer, study: StudyName, after: After = 0, limit: Limit = 100
) -> Answer:
    """List the events of the log: who did what, where and when."""

    def look(live: Study) -> list[Event]:
        return list(live.events(after, limit=limit + 1))

    events = await service.desk.ask(study, look)
    return Answer(page(list(map(_told, events)), limit, lambda item: item["number"]))


@routes.get("/studies/{study}/trail", response_model=replies.Page[replies.EventOut])
async def follow_trail(
    service: Service,
    caller: Viewer,
    study: StudyName,
    before: Annotated[int | None, Query(ge=1, lt=2**53, description="Only events with a smaller number.")] = None,
    limit: Limit = 100,
    kind: Annotated[str, Query(max_length=LONGEST)] = "",
    subject: Annotated[str, Query(max_length=LONGEST, description="Part of the subject's name.")] = "",
    actor: Annotated[str, Query(max_length=LONGEST, description="Part of the name of who did it.")] = "",
) -> Answer:
    """List events from the end of the log backwards; `next` is the `before` of the page that follows."""
    wanted = partial(Study.trail, before=before, limit=limit, kind=kind, subject=subject, actor=actor)
    found = await service.desk.call(study, wanted)
    return Answer({"items": list(map(_told, found.events)), "next": found.next})


@routes.get(
    "/studies/{study}/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def stream(
    service: Service,
    caller: Viewer,
    study: StudyName,
    after: After = 0,
    last: Annotated[int | None, Header(alias="Last-Event-ID", ge=0, lt=2**53)] = None,
) -> Response:
    """Send every event after a number, and then each as it is written, as server-sent events whose id is the number.

    A browser that was cut off sends the last id by itself, and goes on from there.
    """
    await service.desk.ask(study, lambda live: None)
    service.feeds.check_room(caller.user)
    still = partial(service.access.still, caller)
    begin = await service.feeds.position(study, after if last is None else last)
    events = service.feeds.stream(study, begin, caller.user, still)
    return StreamingResponse(events, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


@routes.get("/studies/{study}/verify", response_model=replies.VerifiedOut)
async def verify(service: Service, caller: Engineer, study: StudyName) -> Answer:
    """Prove that no entry of the log was altered, reordered or dropped; keep the hash elsewhere."""
    found = await service.desk.call(study, lambda live: live.verify())
    return Answer(found._asdict())


@routes.get(
    "/studies/{study}/export",
    response_class=FileResponse,
    responses={200: {"content": {LINES: {"schema": {"type": "string"}}}}},
)
async def export(service: Service, caller: Viewer, study: StudyName) -> Response:
    """Return the whole log, lossless, one entry a line; importing it elsewhere gives an equal study."""
    return await _file(service, study, "study.jsonl", LINES, lambda live, path: live.export(path))


@routes.get(
    "/studies/{study}/table.csv",
    response_class=FileResponse,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
async def table(service: Service, caller: Viewer, study: StudyName, search: Searched) -> Response:
    """Return the table of subjects, all or those that are looked for: a row each, empty where a test was not run.

    No cell is a formula.
    """
    return await _file(service, study, "subjects.csv", "text/csv", lambda live, path: live.write_table(path, search))


@routes.get("/studies/{study}/table.json", response_model=list[dict[str, str | float | bool | None]])
async def table_in_json(service: Service, caller: Viewer, study: StudyName, search: Searched) -> Response:
    """Return the same as a list of objects: null where a test was not run."""
    return await _file(
        service, study, "subjects.json", "application/json", lambda live, path: live.write_table(path, search)
    )


@routes.post(
    "/import",
    status_code=201,
    response_model=replies.ImportedOut,
    openapi_extra={"requestBody": {"required": True, "content": {LINES: {"schema": {"type": "string"}}}}},
)
async def import_log(request: Request, service: Service, caller: Engineer) -> Answer:
    """Import a study that was exported, whole or not at all; every event is checked, and twice adds nothing."""
    with tempfile.TemporaryDirectory(prefix="proband-") as folder:
        path = Path(folder) / "study.jsonl"
        with path.open("wb") as file:
            async for part in request.stream():
                await service.desk.run(partial(file.write, part))
        work = partial(_imported, path, service.desk.store, caller)
        imported = await service.desk.run(work, seconds=service.limits.long_seconds)
    service.desk.shelf.drop(str(imported["study"]))  # what was open may have been removed from the store meanwhile
    return Answer(imported, 201)


def _told(event: Event) -> dict[str, Any]:
    return {name: getattr(event, name) for name in replies.EventOut.model_fields}


def _imported(path: Path, store: Store, caller: Caller) -> dict[str, int | str]:
    with speaking_of(path, "the export"):
        study, _ = read_export(path)
        caller.check(Role.ENGINEER, study)
        return {"study": study, **import_study(path, store=store)._asdict()}


async def _file(
    service: State, study: str, name: str, media_type: str, write: Callable[[Study, Path], object]
) -> Response:
    """Return a file that a study writes; it is removed when it was sent."""
    folder = Path(tempfile.mkdtemp(prefix="proband-"))
    remove = partial(shutil.rmtree, folder, ignore_errors=True)
    try:
        await service.desk.call(study, lambda live: write(live, folder / name))
    except BaseException:
        remove()
        raise
    return FileResponse(folder / name, media_type=media_type, filename=name, background=BackgroundTask(remove))
