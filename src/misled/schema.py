"""The tables of a store, as scripts that lead from each version to the next.

    migrate(connection)      a file of any version, an empty one too, is then of the last

    requests  id -> key and canonical JSON of the request
    answers   id -> a response or a failure, its digest, and the batch it came in
    places    key -> id, in levels (`places`)
    batches   one row a commit: when, how many responses, the tokens that they report
    finished  units that needed no more: a run that goes on looks at the others first
    meta      the plan, its hash, digests of the input files

Knows what the tables hold and not what it means.
"""

from __future__ import annotations

import sqlite3

__all__ = ["MIGRATIONS", "SCHEMA", "digest_of", "migrate"]

SCHEMA = 4

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
    # An answer whose request is gone (a damaged file) keeps a number of its own.
    """
    ALTER TABLE requests RENAME TO requests_by_key;
    ALTER TABLE answers RENAME TO answers_by_key;
    DROP INDEX failures;
    CREATE TABLE requests (id INTEGER PRIMARY KEY, key TEXT NOT NULL, body TEXT NOT NULL) STRICT;
    CREATE TABLE answers (
        id INTEGER PRIMARY KEY REFERENCES requests (id),
        kind TEXT NOT NULL CHECK (kind IN ('response', 'failure')),
        body TEXT NOT NULL,
        digest BLOB NOT NULL,
        batch INTEGER NOT NULL REFERENCES batches (id)
    ) STRICT;
    CREATE TABLE places (
        level INTEGER NOT NULL, key BLOB NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (level, key)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO requests SELECT rowid, key, body FROM requests_by_key ORDER BY rowid;
    INSERT INTO answers
        SELECT
            coalesce(r.rowid, a.rowid + (SELECT coalesce(max(rowid), 0) FROM requests_by_key)),
            a.kind, a.body, a.digest, a.batch
        FROM answers_by_key AS a LEFT JOIN requests_by_key AS r ON r.key = a.key ORDER BY 1;
    INSERT INTO places
        SELECT 2, digest_of(key), id FROM (
            SELECT key, rowid AS id FROM requests_by_key
            UNION ALL
            SELECT key, rowid + (SELECT coalesce(max(rowid), 0) FROM requests_by_key)
            FROM answers_by_key WHERE key NOT IN (SELECT key FROM requests_by_key)
        ) ORDER BY 2;
    DROP TABLE answers_by_key;
    DROP TABLE requests_by_key;
    CREATE INDEX failures ON answers (id) WHERE kind = 'failure';
    """,
    # Prompt tokens of which the server says how many came from its cache.
    """
    ALTER TABLE batches ADD COLUMN counted INTEGER NOT NULL DEFAULT 0;
    UPDATE batches SET counted = found.counted
    FROM (
        SELECT batch, CAST(total(body ->> '$.usage.prompt') AS INTEGER) AS counted
        FROM answers
        WHERE kind = 'response' AND json_valid(body) AND body ->> '$.usage.cached' IS NOT NULL
        GROUP BY batch
    ) AS found WHERE found.batch = batches.id;
    """,
)


def digest_of(key: str) -> bytes:
    """The bytes that a key spells; those of its text, where it is no key."""
    try:
        return bytes.fromhex(key.removeprefix("b2:"))
    except ValueError:
        return key.encode()


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Bring a file of this version to the last, script by script."""
    db.create_function("digest_of", 1, digest_of, deterministic=True)
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        db.executescript(f"BEGIN; {script} PRAGMA user_version = {number}; COMMIT;")
