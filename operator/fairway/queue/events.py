"""Reads a pool's event stream and notices when something in it was missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairway.api.phases import EventVerb
from fairway.queue.connection import pool_key
from fairway.queue.errors import QueueError
from fairway.queue.model import Cursor, Event, EventBatch

if TYPE_CHECKING:
    from fairway.queue.connection import Connection

_PAGE = 500


async def read_events(
    connection: Connection,
    pool: str,
    after: Cursor,
    block_ms: int,
) -> EventBatch:
    """Read the events after a cursor, waiting up to `block_ms` for the first one.

    An event's id is its number, one more than the one before: so a trimmed stream shows in the first number
    read. A pool that was lost and made again shows in its epoch, one that came back older in its last number;
    both are looked up after the read, so that what was read is judged by what is true now or was until now.
    """
    if after.sequence < 0:
        epoch, last = await _whereabouts(connection, pool)
        return EventBatch([], Cursor(epoch, last), gap=False)
    events = await _read(connection, pool_key(pool, "events"), after.sequence, block_ms)
    epoch, last = await _whereabouts(connection, pool)
    if after.epoch not in {"", epoch}:
        return EventBatch([], Cursor(epoch, 0), gap=True)
    if not events:
        # What came in between is read by the next call; only a number that fell back tells of a loss.
        fell_back = last < after.sequence
        return EventBatch([], Cursor(epoch, last if fell_back else after.sequence), gap=fell_back)
    gap = events[0].sequence != after.sequence + 1
    return EventBatch(events, Cursor(epoch, events[-1].sequence), gap=gap)


async def _whereabouts(connection: Connection, pool: str) -> tuple[str, int]:
    epoch, last = await connection.command("HMGET", pool_key(pool, "meta"), "epoch", "event")
    if epoch is None:
        raise QueueError("UNKNOWN_POOL", f"pool {pool} is not known to the queue")
    return epoch.decode(), int(last or 0)


async def _read(connection: Connection, stream: str, after: int, block_ms: int) -> list[Event]:
    read = ("XREAD", "COUNT", _PAGE)
    if block_ms > 0:
        blocking = (*read, "BLOCK", block_ms, "STREAMS", stream, f"{after}-0")
        answer = await connection.block(*blocking, timeout_s=block_ms / 1000)
    else:
        answer = await connection.command(*read, "STREAMS", stream, f"{after}-0")
    if not answer:
        return []
    entries = answer[0][1] if isinstance(answer, list) else next(iter(answer.values()))
    return [_event(number, fields) for number, fields in entries]


def _event(number: bytes, fields: list[bytes] | dict[bytes, bytes]) -> Event:
    flat = fields if isinstance(fields, list) else [part for pair in fields.items() for part in pair]
    texts = [part.decode(errors="replace") for part in flat]
    data = dict(zip(texts[::2], texts[1::2], strict=True))
    return Event(
        sequence=int(number.split(b"-")[0]),
        verb=EventVerb(data.pop("verb")),
        job_id=data.pop("job"),
        at_ms=int(data.pop("at")),
        tenant=data.pop("tenant"),
        data=data,
    )
