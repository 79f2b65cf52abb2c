"""The run's memory: every request asked and what came back, in one SQLite file.

    store.commit([(request, response)])     it is on the disk
    store.get(request)                      -> the response

An answer is durable before anyone hears of it: `commit` returns after the disk
has it (write-ahead log, full synchronisation). `lock` keeps a second process
from the same directory. The store is the only writer, and knows nothing about
studies: a key, a body, an answer.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any, Self, TypeAlias

import filelock
import msgspec

from misled import places
from misled.errors import StoreError
from misled.records import Answer, Failure, Request, Response
from misled.schema import SCHEMA, digest_of, migrate
from misled.sieve import Sieve

__all__ = ["Batch", "Counts", "Marks", "Store", "decoded", "digest", "lock", "spent"]

CACHE_KIB = 32 << 10
WAL_PAGES = 4096  # before they are moved into the file: what changes often is moved once
_DIGEST = "digest of "  # what the key of a value in `meta` begins with that is another's digest

Batch: TypeAlias = Sequence[tuple[Request, Answer]]
Marks: TypeAlias = Sequence[tuple[int, bool]]

_KINDS: dict[str, type[Response | Failure]] = {"response": Response, "failure": Failure}


class Counts(msgspec.Struct, frozen=True):
    """What a store holds: answers by kind, failures by their kind, tokens by use.

    `cached_tokens` are None where no server says how many there were, and else of the
    `counted_tokens`: prompt tokens of which a server says it.
    """

    responses: int
    failures: dict[str, int]
    prompt_tokens: int
    cached_tokens: int | None
    completion_tokens: int
    counted_tokens: int
    batches: int


def digest(body: bytes) -> bytes:
    """What a body is known by: in a key, and beside an answer."""
    return blake2b(body, digest_size=16).digest()


def decoded(kind: str, body: object, kept: bytes) -> Answer | None:
    """The answer that was committed, or None where the row is no longer that."""
    if not isinstance(body, str) or digest(body.encode()) != kept or kind not in _KINDS:
        return None
    try:
        return msgspec.json.decode(body, type=_KINDS[kind])
    except msgspec.MsgspecError:
        return None


def _kind(answer: Answer) -> str:
    return "response" if isinstance(answer, Response) else "failure"


def spent(answers: Iterable[Answer]) -> tuple[int, ...]:
    """Responses, and the tokens that they report, as `batches` has them."""
    used = [answer.usage for answer in answers if isinstance(answer, Response)]
    return (
        len(used),
        sum(usage.prompt or 0 for usage in used),
        sum(usage.cached or 0 for usage in used),
        sum(usage.completion or 0 for usage in used),
        sum(usage.prompt or 0 for usage in used if usage.cached is not None),
    )


@contextmanager
def lock(directory: Path) -> Iterator[None]:
    """Hold `directory` for this process; a second process is told so at once."""
    held = filelock.FileLock(directory / "misled.lock")
    try:
        held.acquire(timeout=0)
    except filelock.Timeout:
        raise StoreError(
            f"{directory} is in use by another misled process; wait for it or choose another --run"
        ) from None
    except OSError as error:
        raise StoreError(f"cannot lock {directory}: {error.strerror}") from None
    try:
        yield
    finally:
        held.release()


def _address(path: Path, mode: str) -> str:
    """The file's; where its log cannot be made, and there is none, it is read as it lies there."""
    log = path.with_name(f"{path.name}-wal")
    still = mode == "ro" and not os.access(path.parent, os.W_OK) and not log.exists()
    return f"{path.absolute().as_uri()}?mode={mode}{'&immutable=1' * still}"


@contextmanager
def _told(path: Path, doing: str) -> Iterator[None]:
    """Turn SQLite's errors into one line that names the file and the fix."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        # SQLite quotes the damaged schema that it cannot read.
        word = str(error) if isinstance(error, sqlite3.Error) else "malformed database schema"
        if "full" in word or "disk I/O" in word:
            fix = "free space on the disk and run the same command again: it goes on from here"
        elif "not a database" in word or "malformed" in word or "no such table" in word:
            fix = f"the file is damaged: use a new --run, with --reuse {path.parent} for the rest"
        else:
            fix = "check the file's permissions, then run the same command again"
        raise StoreError(f"cannot {doing} {path}: {word}; {fix}") from None


class Store:
    """The answers of one run directory; open one per thread that reads, one that writes."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._writing = Lock()  # the run's writer commits, and so does what copies other runs
        self._seen: Sieve | None = None
        if read_only and not path.is_file():
            raise StoreError(f"{path} does not exist; is {path.parent} a run directory?")
        mode = "ro" if read_only else "rwc"
        with _told(path, "open"):
            if read_only:
                self._renew(path)
            self._db = sqlite3.connect(
                _address(path, mode),
                uri=True,
                isolation_level=None,
                check_same_thread=False,
            )
            # A damaged text has another digest; it is no error of its own.
            self._db.text_factory = partial(str, encoding="utf-8", errors="replace")
            self._db.execute("PRAGMA busy_timeout = 10000")
            self._db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            if not read_only:
                self._db.execute("PRAGMA page_size = 8192")  # of a new file: a row fits on one
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = FULL")
                self._db.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
            version = self.version
            if version > SCHEMA:
                raise StoreError(
                    f"{path} was written by a newer misled (schema {version}, known {SCHEMA}); "
                    "upgrade: pip install -U misled"
                )
            if not read_only:
                migrate(self._db, version)

    @classmethod
    def _renew(cls, path: Path) -> None:
        """Bring a file of an older schema up to date before it is only read."""
        with closing(sqlite3.connect(_address(path, "ro"), uri=True)) as db:
            version = int(db.execute("PRAGMA user_version").fetchone()[0])
        if 0 < version < SCHEMA:
            with lock(path.parent):  # not under an older misled that is writing to it
                cls(path).close()

    @property
    def version(self) -> int:
        """The version of the schema in the file; 0 where it is empty."""
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def reader(self) -> Store:
        """Another view of this file, for another thread, which knows what this one commits."""
        seen, found = Sieve(), Store(self.path, read_only=True)
        seen.update(row[0] for row in found.scan("SELECT key FROM places"))
        self._seen = found._seen = seen
        return found

    def close(self) -> None:
        """Close the file; a later call of anything else raises."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def select(self, query: str, *values: object) -> list[Any]:
        """The rows that a query finds."""
        with _told(self.path, "read"):
            return self._db.execute(query, values).fetchall()

    def scan(self, query: str) -> Iterator[Any]:
        """The same one by one, for tables that do not fit into memory."""
        with _told(self.path, "read"):
            yield from self._db.execute(query)

    def get(self, request: Request, *, damaged: bool = False) -> Answer | None:
        """The committed answer to `request`, or None; None for a damaged one where `damaged`."""
        return self.reply(request.key, damaged=damaged)

    def reply(self, key: str, *, damaged: bool = False) -> Answer | None:
        """The committed answer to the request with this key, likewise."""
        place = digest_of(key)
        if self._seen is not None and place not in self._seen:
            return None
        rows = self.select(
            "SELECT kind, body, digest FROM places NATURAL JOIN answers "  # noqa: S608 - our own words
            f"WHERE {places.HAS_KEY} = ?",
            place,
        )
        if not rows:
            return None
        answer = decoded(*rows[0])
        if answer is None and not damaged:
            raise StoreError(
                f"{self.path} holds an answer that is damaged: run `misled verify "
                f"{self.path.parent}`"
            )
        return answer

    def commit(self, batch: Batch, finished: Marks = ()) -> None:
        """Make `batch` durable: all of it or, when this raises, none of it.

        `finished` are units that need no more, and whether one of their requests failed.
        """
        first: dict[bytes, tuple[Request, Answer]] = {}
        for pair in batch:
            first.setdefault(digest_of(pair[0].key), pair)
        batch = [*first.values()]
        bodies = [msgspec.json.encode(answer) for _, answer in batch]
        # The connection commits when its block ends, and rolls back when that raises.
        with _told(self.path, "write"), self._writing, self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR REPLACE INTO finished VALUES (?, ?)", finished)
            if not batch:
                return
            if self._seen is not None:
                self._seen.update(first)  # before they can be found
            at = datetime.now(UTC).isoformat(timespec="seconds")
            made = self._db.execute("INSERT INTO batches (at, n) VALUES (?, ?)", (at, len(batch)))
            number, ids = made.lastrowid, self._numbered(first)
            rows = [
                (id_, _kind(answer), body.decode(), digest(body), number)
                for id_, (_, answer), body in zip(ids, batch, bodies, strict=True)
            ]
            if places.insert(self._db, "answers", rows) < len(rows):
                came = [self._came_in(id_, number) for id_ in ids]
                batch = [pair for pair, new in zip(batch, came, strict=True) if new]
            self._db.execute(
                "UPDATE batches SET responses = ?, prompt = ?, cached = ?, completion = ?, "
                "counted = ? WHERE id = ?",
                (*spent(answer for _, answer in batch), number),
            )

    def _numbered(self, asked: Mapping[bytes, tuple[Request, Answer]]) -> list[int]:
        """The number of each request; those that are new are kept."""
        ids = places.find(self._db, list(asked))
        [(last,)] = self._db.execute(
            "SELECT max(coalesce((SELECT max(id) FROM requests), 0), "
            "coalesce((SELECT max(id) FROM answers), 0))"
        )
        new = [(key, request) for key, (request, _) in asked.items() if key not in ids]
        given = {key: id_ for id_, (key, _) in enumerate(new, last + 1)}
        rows = [(given[key], request.key, request.body.decode()) for key, request in new]
        places.insert(self._db, "requests", rows)
        places.put(self._db, given)
        ids |= given
        return [ids[key] for key in asked]

    def _came_in(self, id_: int, batch: int | None) -> bool:
        """Whether the answer that stands is the one of this batch."""
        [(stands,)] = self._db.execute("SELECT batch FROM answers WHERE id = ?", (id_,))
        return bool(stands == batch)

    def finished(self) -> set[int]:
        """The units that needed no more when they were last looked at."""
        return {row[0] for row in self.select("SELECT unit FROM finished")}

    def forget_failures(self, keys: Sequence[str] | None = None) -> int:
        """Drop failures (all, or those of `keys`), so that they are asked again."""
        with _told(self.path, "write"):
            self._db.execute("DELETE FROM finished WHERE failed")
            if keys is None:
                return self._db.execute("DELETE FROM answers WHERE kind = 'failure'").rowcount
            ids = places.find(self._db, [digest_of(key) for key in keys]).values()
            return self._db.executemany(
                "DELETE FROM answers WHERE kind = 'failure' AND id = ?", [(id_,) for id_ in ids]
            ).rowcount

    def meta(self) -> dict[str, str]:
        """All of `meta`; StoreError where a value is no longer what was written."""
        if wrong := self.torn():
            raise StoreError(
                f"{self.path} is damaged: its {' and '.join(wrong)}; use a new --run, with "
                f"--reuse {self.path.parent} for the answers"
            )
        kept = self.select("SELECT key, value FROM meta ORDER BY key")
        return {key: value for key, value in kept if not key.startswith(_DIGEST)}

    def torn(self) -> list[str]:
        """The keys of `meta` whose value is another than the one that was written."""
        kept = dict(self.select("SELECT key, value FROM meta ORDER BY key"))
        sums = {k.removeprefix(_DIGEST): v for k, v in kept.items() if k.startswith(_DIGEST)}
        return [k for k, v in sums.items() if digest(kept.get(k, "").encode()).hex() != v]

    def set_meta(self, values: dict[str, str]) -> None:
        """Write `values` into `meta`, replacing what was there."""
        sums = {_DIGEST + key: digest(value.encode()).hex() for key, value in values.items()}
        with _told(self.path, "write"), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            rows = [*values.items(), *sums.items()]
            self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)

    def counts(self) -> Counts:
        """How many answers of each kind, and the tokens that they report."""
        with _told(self.path, "read"):
            failures = dict(
                self._db.execute(
                    "SELECT body ->> 'kind', count(*) FROM answers "
                    "WHERE kind = 'failure' AND json_valid(body) GROUP BY 1 ORDER BY 1"
                )
            )
            found = self._db.execute(
                "SELECT total(responses), total(prompt), total(cached), total(completion), "
                "total(counted), count(*) FROM batches"
            ).fetchone()
        responses, prompt, cached, completion, counted, batches = map(int, found)
        known = cached if counted else None
        return Counts(responses, failures, prompt, known, completion, counted, batches)

    def span(self) -> tuple[str | None, str | None]:
        """When the first and the last batch were committed, in UTC."""
        [(first, last)] = self.select("SELECT min(at), max(at) FROM batches")
        return first, last
