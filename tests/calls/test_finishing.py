"""Coroutines that are begun before anybody arranges to interrupt them (T18)."""

import asyncio

import pytest

from mcp_server.calls.running import finish_in_time


async def later(value: str, pauses: int) -> str:
    for _ in range(pauses):
        await asyncio.sleep(0)
    return value


@pytest.mark.parametrize("pauses", [0, 1, 3])
async def test_a_coroutine_gives_its_value_however_often_it_waits(pauses: int) -> None:
    assert await finish_in_time(later("done", pauses), 5) == "done"


async def test_one_that_waits_too_long_is_cancelled() -> None:
    ended = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("cleaned up")

    with pytest.raises(TimeoutError):
        await finish_in_time(wait(), 0.01)
    assert ended == ["cleaned up"]


async def test_one_that_answers_its_cancellation_has_answered() -> None:
    async def wait() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "cancelled"
        return "woken"

    assert await finish_in_time(wait(), 0.01) == "cancelled"


async def test_what_it_spends_before_it_first_waits_counts() -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while loop.time() < begun + 0.05:
            pass
        await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(finish_in_time(work(), 0.04), 5)


async def test_what_it_raises_at_once_or_later_arrives() -> None:
    async def fail(pauses: int) -> None:
        await later("", pauses)
        raise KeyError(pauses)

    for pauses in (0, 2):
        with pytest.raises(KeyError):
            await finish_in_time(fail(pauses), 5)


async def test_one_that_is_left_in_the_middle_is_closed() -> None:
    closed = []

    async def wait() -> None:
        try:
            await asyncio.sleep(0)
        finally:
            closed.append(True)

    abandoned = finish_in_time(wait(), None)
    abandoned.send(None)
    abandoned.close()
    assert closed == [True]
