"""Studies that nobody uses are closed when memory is short, and opened again when somebody asks."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.service.running import Running, at

from proband import Problem
from proband.errors import ServiceError
from proband.service import shelf
from proband.service.desk import Desk
from proband.service.limits import Limits
from proband.studies import Study, open_store


def studies(store: str, problem: Problem, n: int) -> list[str]:
    where = open_store(store)
    names = [f"study {i:04}" for i in range(n)]
    for name in names:
        Study.create(problem, name=name, agent="test-everything", store=where, replan="never").close()
    where.close()
    return names


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process takes more than it may."""
    monkeypatch.setattr(shelf, "used_memory", lambda: shelf.LEAST + 1)


def test_those_that_nobody_has_used_for_longest_are_closed(tmp_path: Path, problem: Problem, short: None) -> None:
    names = studies(f"sqlite:///{tmp_path}/store.db", problem, 20)

    async def work() -> None:
        desk = Desk(open_store(f"sqlite:///{tmp_path}/store.db"), Limits(memory=shelf.LEAST))
        for name in names:
            await desk.write(name, Study.arrive, actor="QA", station=None)
        await desk.ask(names[0], Study.subjects)  # used again
        await desk.shelf.make_room()
        assert desk.open == [names[0], *names[3:]]
        assert desk.shelf.closed == 2
        for name in names:  # whoever asks notices nothing
            assert len(await desk.ask(name, Study.subjects)) == 1
        assert len(desk.open) == 20
        await desk.close()

    asyncio.run(work())


def test_a_study_that_is_at_work_stays_open(tmp_path: Path, problem: Problem, short: None) -> None:
    names = studies(f"sqlite:///{tmp_path}/store.db", problem, 3)

    async def work() -> None:
        desk = Desk(open_store(f"sqlite:///{tmp_path}/store.db"), Limits(memory=shelf.LEAST))
        loop = asyncio.get_running_loop()
        begun, go_on = asyncio.Event(), asyncio.Event()

        def hold(live: Study) -> str:
            loop.call_soon_threadsafe(begun.set)
            asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result(60)
            return live.arrive().name

        held = asyncio.create_task(desk.call(names[0], hold))
        await begun.wait()
        for name in names[1:]:
            await desk.ask(name, Study.subjects)
        for _ in range(4):
            await desk.shelf.make_room()
        assert desk.open == [names[0]]
        go_on.set()
        assert await held == "1"
        await desk.shelf.make_room()
        assert desk.open == []
        await desk.close()

    asyncio.run(work())


def test_a_service_keeps_within_its_memory_and_answers_all(tmp_path: Path, problem: Problem) -> None:
    """With hardly any room left, each study is closed soon after it was used; what is told is all there in the end."""
    store = f"sqlite:///{tmp_path}/store.db"
    names = studies(store, problem, 12)
    with Running(store, "--open", "--memory", "256M") as running:
        for turn in range(3):
            for name in names:
                assert running.call("POST", at(name, "arrive"), {"subject": f"bolt {turn}"}).status == 201
        for name in names:
            listed = running.call("GET", at(name, "subjects")).json["items"]
            assert [each["name"] for each in listed] == ["bolt 0", "bolt 1", "bolt 2"]


@pytest.mark.parametrize("memory", ["1M", "much", "-1G", "2 parsecs", ""])
def test_a_limit_that_is_none_is_refused(memory: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="the memory is"):
        Running(f"sqlite:///{tmp_path}/store.db", "--open", "--memory", memory)


def test_without_a_system_that_tells_there_is_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "used_memory", lambda: 0)
    assert shelf.half_the_memory() is None
    with pytest.raises(ServiceError, match="Linux"):
        Desk(open_store("memory:"), Limits(memory=2**40))
