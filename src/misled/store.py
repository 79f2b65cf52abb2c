"""The run's memory: every request asked and what came back, in one SQLite file.

    requests  key -> canonical JSON of the request
    answers   key -> a response or a failure, its digest, and the batch it came in
    batches   one row a commit: when, how many responses, the tokens that they report
    finished  units that needed no more: a run that goes on looks at the others first
    meta      the schema's version, the plan's hash, digests of the input files

An answer is durable before anyone hears of it: `commit` returns after the disk
has it (write-ahead log, full synchronisation). `lock` keeps a second process
from the same directory. The store is the only writer, and knows nothing about
studies: a key, a body, an answer.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any, Self, TypeAlias

import filelock
import msgspec

from misled.errors import StoreError
from misled.records import Answer, Failure, Request, Response

__all__ = ["SCHEMA", "Batch", "Counts", "Marks", "Store", "decoded", "lock"]

SCHEMA = 2
ROWS = 150  # of a statement: 999 values at most in old builds of SQLite
CACHE_KIB = 32 << 10  # keys come in no order: without room for their index, commits slow down

# Append only: version k of the schema is what the first k scripts make.
MIGRATIONS = (
    """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    CREATE TABLE batches (
        id INTEGER PRIMARY KEY, at TEXT NOT NULL, n INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE requests (key TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
    CREATE TABLE answers (
        key TEXT PRIMARY KEY REFERENCES requests (key),
        kind TEXT NOT NULL CHECK (kind IN ('response', 'failure')),
        body TEXT NOT NULL,
        digest BLOB NOT NULL,
        batch INTEGER NOT NULL REFERENCES batches (id)
    ) STRICT;
    """,
    """
    ALTER TABLE batches ADD COLUMN responses INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE batches ADD COLUMN prompt INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE batches ADD COLUMN cached INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE batches ADD COLUMN completion INTEGER NOT NULL DEFAULT 0;
    UPDATE batches SET responses = found.n, prompt = found.prompt,
        cached = found.cached, completion = found.completion
    FROM (
        SELECT batch, count(*) AS n,
            CAST(total(body ->> '$.usage.prompt') AS INTEGER) AS prompt,
            CAST(total(body ->> '$.usage.cached') AS INTEGER) AS cached,
            CAST(total(body ->> '$.usage.completion') AS INTEGER) AS completion
        FROM answers WHERE kind = 'response' AND json_valid(body) GROUP BY batch
    ) AS found WHERE found.batch = batches.id;
    CREATE INDEX failures ON answers (key) WHERE kind = 'failure';
    CREATE TABLE finished (unit INTEGER PRIMARY KEY, failed INTEGER NOT NULL) STRICT;
    """,
)

Batch: TypeAlias = Sequence[tuple[Request, Answer]]
Marks: TypeAlias = Sequence[tuple[int, bool]]

_KINDS: dict[str, type[Response | Failure]] = {"response": Response, "failure": Failure}


class Counts(msgspec.Struct, frozen=True):
    """What a store holds: answers by kind, failures by their kind, tokens by use."""

    responses: int
    failures: dict[str, int]
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    batches: int


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=16).digest()


def decoded(kind: str, body: str, digest: bytes) -> Answer | None:
    """The answer that was committed, or None where the row is no longer that."""
    if _digest(body.encode()) != digest or kind not in _KINDS:
        return None
    try:
        return msgspec.json.decode(body, type=_KINDS[kind])
    except msgspec.MsgspecError:
        return None


def _spent(batch: Batch) -> tuple[int, int, int, int]:
    """Responses, and the prompt, cached and completion tokens that they report."""
    used = [answer.usage for _, answer in batch if isinstance(answer, Response)]
    return (
        len(used),
        sum(usage.prompt or 0 for usage in used),
        sum(usage.cached or 0 for usage in used),
        sum(usage.completion or 0 for usage in used),
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


@contextmanager
def _told(path: Path, doing: str) -> Iterator[None]:
    """Turn SQLite's errors into one line that names the file and the fix."""
    try:
        yield
    except sqlite3.Error as error:
        word = str(error)
        if "full" in word or "disk I/O" in word:
            fix = "free space on the disk and run the same command again; all answers are kept"
        elif "not a database" in word or "malformed" in word or "no such table" in word:
            fix = f"the file is damaged: run `misled verify {path.parent}`, or use a new --run"
        else:
            fix = "check the file's permissions, then run the same command again"
        raise StoreError(f"cannot {doing} {path}: {word}; {fix}") from None


class Store:
    """The answers of one run directory; open one per thread that reads, one that writes."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._writing = Lock()  # the run's writer commits, and so does what copies other runs
        if read_only and not path.is_file():
            raise StoreError(f"{path} does not exist; is {path.parent} a run directory?")
        mode = "ro" if read_only else "rwc"
        with _told(path, "open"):
            if read_only:
                self._renew(path)
            self._db = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={mode}",
                uri=True,
                isolation_level=None,
                check_same_thread=False,
            )
            self._db.execute("PRAGMA busy_timeout = 10000")
            self._db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            if not read_only:
                self._db.execute("PRAGMA page_size = 8192")  # of a new file: a row fits on one
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = FULL")
                self._migrate()
            elif self.version > SCHEMA:
                self._too_new()

    @classmethod
    def _renew(cls, path: Path) -> None:
        """Bring a file of an older schema up to date before it is only read."""
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            version = int(db.execute("PRAGMA user_version").fetchone()[0])
        if 0 < version < SCHEMA:
            cls(path).close()

    @property
    def version(self) -> int:
        """The version of the schema in the file; 0 where it is empty."""
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def _too_new(self) -> None:
        raise StoreError(
            f"{self.path} was written by a newer misled (schema {self.version}, known {SCHEMA}); "
            "upgrade: pip install -U misled"
        )

    def _migrate(self) -> None:
        version = self.version
        if version > SCHEMA:
            self._too_new()
        for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
            self._db.executescript(f"BEGIN; {script} PRAGMA user_version = {number}; COMMIT;")

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

    def get(self, request: Request, *, damaged: bool = False) -> Answer | None:
        """The committed answer to `request`, or None; None for a damaged one where `damaged`."""
        return self.reply(request.key, damaged=damaged)

    def reply(self, key: str, *, damaged: bool = False) -> Answer | None:
        """The committed answer to the request with this key, likewise."""
        rows = self.select("SELECT kind, body, digest FROM answers WHERE key = ?", key)
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
        rows = []
        for request, answer in batch:
            body = msgspec.json.encode(answer)
            kind = "response" if isinstance(answer, Response) else "failure"
            rows.append((request.key, kind, body.decode(), _digest(body)))
        # The connection commits when its block ends, and rolls back when that raises.
        with _told(self.path, "write"), self._writing, self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR REPLACE INTO finished VALUES (?, ?)", finished)
            if not rows:
                return
            at = datetime.now(UTC).isoformat(timespec="seconds")
            made = self._db.execute("INSERT INTO batches (at, n) VALUES (?, ?)", (at, len(rows)))
            number = made.lastrowid
            self._insert("requests", [(request.key, request.body.decode()) for request, _ in batch])
            if self._insert("answers", [(*row, number) for row in rows]) < len(rows):
                batch = [pair for pair in batch if self._came_in(pair[0].key, number)]
            self._db.execute(
                "UPDATE batches SET responses = ?, prompt = ?, cached = ?, completion = ? "
                "WHERE id = ?",
                (*_spent(batch), number),
            )

    def _insert(self, table: str, rows: Sequence[tuple[object, ...]]) -> int:
        """How many of `rows` were new."""
        # One statement for many rows: SQLite lets go of the interpreter once for each.
        new = 0
        for start in range(0, len(rows), ROWS):
            part = rows[start : start + ROWS]
            marks = ", ".join([f"({', '.join('?' * len(part[0]))})"] * len(part))
            found = self._db.execute(
                f"INSERT OR IGNORE INTO {table} VALUES {marks}",  # noqa: S608 - our own names
                [value for row in part for value in row],
            )
            new += found.rowcount
        return new

    def _came_in(self, key: str, batch: int | None) -> bool:
        """Whether the answer that stands is the one of this batch."""
        row = self._db.execute("SELECT batch FROM answers WHERE key = ?", (key,)).fetchone()
        return bool(row[0] == batch)

    def finished(self) -> set[int]:
        """The units that needed no more when they were last looked at."""
        return {row[0] for row in self.select("SELECT unit FROM finished")}

    def forget_failures(self, keys: Sequence[str] | None = None) -> int:
        """Drop failures (all, or those of `keys`), so that they are asked again."""
        with _told(self.path, "write"):
            self._db.execute("DELETE FROM finished WHERE failed")
            if keys is None:
                return self._db.execute("DELETE FROM answers WHERE kind = 'failure'").rowcount
            return self._db.executemany(
                "DELETE FROM answers WHERE kind = 'failure' AND key = ?", [(key,) for key in keys]
            ).rowcount

    def meta(self) -> dict[str, str]:
        """All of `meta`."""
        return dict(self.select("SELECT key, value FROM meta ORDER BY key"))

    def set_meta(self, values: dict[str, str]) -> None:
        """Write `values` into `meta`, replacing what was there."""
        with _told(self.path, "write"), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items()))

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
                "count(*) FROM batches"
            ).fetchone()
        responses, prompt, cached, completion, batches = map(int, found)
        return Counts(responses, failures, prompt, cached, completion, batches)

    def span(self) -> tuple[str | None, str | None]:
        """When the first and the last batch were committed, in UTC."""
        [(first, last)] = self.select("SELECT min(at), max(at) FROM batches")
        return first, last

    def verify(self) -> list[str]:
        """One line for each thing that is damaged; every row is hashed again."""
        with _told(self.path, "read"):
            damaged = [
                f"database: {row[0]}"
                for row in self._db.execute("PRAGMA integrity_check")
                if row[0] != "ok"
            ]
            for key, body in self._db.execute("SELECT key, body FROM requests"):
                if key != "b2:" + _digest(body.encode()).hex():
                    damaged.append(f"request {key}: its text has another hash")
            for key, kind, body, digest in self._db.execute(
                "SELECT a.key, a.kind, a.body, a.digest FROM answers a"
            ):
                if decoded(kind, body, digest) is None:
                    damaged.append(f"answer {key}: its text has another hash")
            damaged += [
                f"answer {row[0]}: its request is missing"
                for row in self._db.execute(
                    "SELECT key FROM answers EXCEPT SELECT key FROM requests"
                )
            ]
        return damaged
