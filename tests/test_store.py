"""The run's memory: durable, honest about damage, and one writer at a time."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toys
from misled import places
from misled.cli import runs
from misled.damage import damaged
from misled.draws import Draws
from misled.errors import StoreError
from misled.records import Failure, Message, Request, Response, Usage
from misled.reuse import reuse
from misled.schema import MIGRATIONS, SCHEMA
from misled.sieve import Sieve
from misled.store import Store, lock

DATA = Path(__file__).parent / "data"
NOBODY = 65534


def test_an_answer_comes_back_as_it_was_committed(tmp_path: Path) -> None:
    request = toys.ask("1 + 1?")
    response = Response(
        content="2\x00\u202e", reasoning="", usage=Usage(prompt=3), seconds=0.25, raw="{}"
    )
    with Store(tmp_path / "misled.db") as store:
        store.commit([(request, response)])
    with Store(tmp_path / "misled.db", read_only=True) as store:
        assert store.get(request) == response
        assert store.get(toys.ask("1 + 2?")) is None
        assert damaged(store) == []


def test_the_first_answer_to_a_request_stands(tmp_path: Path) -> None:
    request = toys.ask("1 + 1?")
    with Store(tmp_path / "misled.db") as store:
        store.commit([(request, Response(content="2"))])
        store.commit([(request, Response(content="3"))])
        assert store.get(request) == Response(content="2")


def test_failures_are_forgotten_on_demand_and_answers_never(tmp_path: Path) -> None:
    good, bad, worse = (toys.ask(text) for text in "abc")
    failure = Failure(kind="server", message="500", status=500)
    with Store(tmp_path / "misled.db") as store:
        store.commit([(good, Response(content="2")), (bad, failure), (worse, failure)])
        assert store.counts().failures == {"server": 2}
        assert store.forget_failures([good.key, bad.key]) == 1
        assert store.forget_failures() == 1
        assert store.get(good) is not None
        assert store.get(bad) is store.get(worse) is None


def test_tokens_that_no_server_reported_are_no_tokens(tmp_path: Path) -> None:
    told = Response(content="", usage=Usage(prompt=10, cached=4, completion=5))
    with Store(tmp_path / "misled.db") as store:
        store.commit([(toys.ask("a"), told), (toys.ask("b"), Response(content=""))])
        counts = store.counts()
        assert (counts.responses, counts.prompt_tokens, counts.cached_tokens) == (2, 10, 4)
        assert (counts.counted_tokens, counts.completion_tokens) == (10, 5)
        store.commit([(toys.ask("c"), Response(content="", usage=Usage(prompt=7)))])
        assert (store.counts().prompt_tokens, store.counts().counted_tokens) == (17, 10)
    with Store(tmp_path / "other.db") as store:
        store.commit([(toys.ask("c"), Response(content="", usage=Usage(prompt=7)))])
        assert store.counts().cached_tokens is None  # which is not 0


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("UPDATE answers SET body = replace(body, '2', '3')", "answer b2:"),
        ("UPDATE requests SET body = replace(body, '1', '3')", "request b2:"),
        ("DELETE FROM requests", "its request is missing"),
        ("UPDATE answers SET body = '{'", "answer b2:"),
        ("UPDATE places SET key = x'00'", "cannot be found by its key"),
        ("DELETE FROM places", "cannot be found by its key"),
        ("DELETE FROM answers", "batch 1 does not add up: responses 1, of its answers 0"),
        (
            "UPDATE batches SET prompt = 7",
            "batch 1 does not add up: prompt tokens 7, of its answers 10",
        ),
        ("UPDATE batches SET cached = 7", "does not add up: cached tokens 7, of its answers 4"),
        ("UPDATE batches SET completion = 7", "batch 1 does not add up: completion tokens 7"),
        ("UPDATE batches SET counted = 7", "batch 1 does not add up: counted tokens 7"),
        ("DELETE FROM batches", "batch 1 is missing"),
    ],
)
def test_verify_names_what_was_changed_behind_its_back(
    tmp_path: Path, change: str, named: str
) -> None:
    path, told = tmp_path / "misled.db", Usage(prompt=10, cached=4, completion=5)
    with Store(path) as store:
        store.commit([(toys.ask("1 + 1?"), Response(content="2", usage=told))])
    with sqlite3.connect(path) as db:
        db.execute(change)
    db.close()
    with Store(path, read_only=True) as store:
        found = damaged(store)
    assert len(found) == 1
    assert named in found[0]


def test_an_answer_that_was_changed_is_never_given_out(tmp_path: Path) -> None:
    path, request = tmp_path / "misled.db", toys.ask("1 + 1?")
    with Store(path) as store:
        store.commit([(request, Response(content="2"))])
    with sqlite3.connect(path) as db:
        db.execute("UPDATE answers SET body = replace(body, '2', '3')")
    db.close()
    with Store(path, read_only=True) as store, pytest.raises(StoreError, match="damaged"):
        store.get(request)


def test_a_file_that_is_no_database_is_one_line_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "misled.db"
    path.write_bytes(b"not a database, but long enough to be read as one" * 100)
    with pytest.raises(StoreError, match=r"cannot open .*misled\.db: .*damaged"):
        Store(path)


def test_a_file_with_a_hole_or_another_bit_is_named_and_gives_out_no_other_answer(
    tmp_path: Path,
) -> None:
    path = tmp_path / "misled.db"
    asked = [toys.ask(f"{i}") for i in range(40)]
    with Store(path) as store:
        store.commit([(request, toys.reply(request)) for request in asked])
    whole = path.read_bytes()
    draws = Draws(0, "holes")
    holes = [(at, bytes(512)) for at in range(0, len(whole), 512)]
    bits = [(at, bytes([whole[at] ^ 128])) for at in (draws.below(8192) for _ in range(40))]
    for at, other in holes + bits:
        path.write_bytes(whole[:at] + other + whole[at + len(other) :])
        found, given = ["it cannot be opened"], []
        with suppress(StoreError), Store(path, read_only=True) as store:
            found = damaged(store)
            reuse(store)
            given = [store.get(request, damaged=True) for request in asked]
        told = [toys.reply(request) for request in asked]
        assert all(one in {None, other} for one, other in zip(given, told, strict=bool(given)))
        assert found or given == told


def test_a_cut_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "misled.db"
    with Store(path) as store:
        store.commit([(toys.ask(str(i)), Response(content="x" * 4000)) for i in range(200)])
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(StoreError), Store(path) as store:
        assert damaged(store) == []


@pytest.fixture
def locked() -> Iterator[Path]:
    """A directory that may not be written to, also where the tests run as root."""
    with TemporaryDirectory() as name:
        folder, root = Path(name), os.geteuid() == 0
        Store(folder / "misled.db").close()
        (folder / "misled.db").chmod(0o444)
        folder.chmod(0o555)
        if root:
            os.setresuid(NOBODY, NOBODY, 0)
        try:
            yield folder
        finally:
            if root:
                os.setresuid(0, 0, 0)
            folder.chmod(0o755)


def test_a_file_in_a_directory_that_cannot_be_written_to_is_read(locked: Path) -> None:
    assert not os.access(locked, os.W_OK)
    with Store(locked / "misled.db", read_only=True) as store:
        assert damaged(store) == []


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "misled.db"
    Store(path).close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    db.close()
    for read_only in (False, True):
        with pytest.raises(StoreError, match="newer misled"):
            Store(path, read_only=read_only)


@pytest.mark.parametrize("schema", range(1, SCHEMA))
@pytest.mark.parametrize("read_only", [False, True])
def test_a_store_of_each_older_schema_is_read_as_it_was_written(
    tmp_path: Path, schema: int, *, read_only: bool
) -> None:
    path = tmp_path / "misled.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript((DATA / f"store-{schema}.sql").read_text("utf-8"))
        assert db.execute("PRAGMA user_version").fetchone()[0] == schema
    with Store(path, read_only=read_only) as store:
        assert store.version == SCHEMA
        counts = store.counts()
        assert (counts.responses, counts.failures, counts.batches) == (3, {"server": 1}, 2)
        tokens = (counts.prompt_tokens, counts.cached_tokens, counts.completion_tokens)
        assert (*tokens, counts.counted_tokens) == (17, 4, 5, 10)
        assert store.get(toys.ask("1 + 1?")) == Response(
            content="2", usage=Usage(prompt=10, cached=4, completion=5), raw="{}"
        )
        assert store.meta()["misled"] == "0.1.0"
        assert store.finished() == ({0, 3} if schema > 1 else set())
        assert damaged(store) == []
        more = [
            (toys.ask("1 + 4?"), Response(content="6")),
            (toys.ask("new"), Response(content="")),
        ]
    with Store(path) as store:
        assert store.forget_failures() == 1
        store.commit(more)
        assert store.counts().responses == 4
        assert store.get(toys.ask("1 + 4?")) == Response(content="5")
        assert damaged(store) == []


def test_an_answer_that_came_twice_counts_once(tmp_path: Path) -> None:
    told = Response(content="2", usage=Usage(prompt=10, completion=5))
    with Store(tmp_path / "misled.db") as store:
        store.commit([(toys.ask("a"), told)])
        store.commit([(toys.ask("a"), told), (toys.ask("b"), told)])
        counts = store.counts()
    assert (counts.responses, counts.prompt_tokens, counts.completion_tokens) == (2, 20, 10)


def test_an_answer_that_stands_twice_in_a_batch_counts_once(tmp_path: Path) -> None:
    told = Response(content="2", usage=Usage(prompt=10))
    with Store(tmp_path / "misled.db") as store:
        store.commit([(toys.ask("a"), told), (toys.ask("a"), Response(content="3"))])
        assert (store.counts().responses, store.counts().prompt_tokens) == (1, 10)
        assert store.get(toys.ask("a")) == told
        assert damaged(store) == []


def test_keys_are_found_in_every_level_and_stay_unique(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commits of all sizes, some of what is there already, until the last level has keys."""
    monkeypatch.setattr(places, "LEVELS", (10, 80, 640))
    every = [(toys.ask(str(i)), Response(content=str(i))) for i in range(1000)]
    with Store(tmp_path / "misled.db") as store:
        start = 0
        for size in (1, 2, 3, 11, 60, 40, *[200] * 4, 70, 5):
            store.commit(every[max(0, start - size) : start + size])
            start += size
        held = dict(store.select("SELECT level, count(*) FROM places GROUP BY level"))
        assert held.keys() == {0, 1, 2, 3}, held
        assert all(held[level] <= most for level, most in enumerate(places.LEVELS))
        assert sum(held.values()) == store.counts().responses == start
        for request, response in every[:start:7]:
            assert store.get(request) == response
        assert store.get(toys.ask("no")) is None
        assert damaged(store) == []


def test_a_reader_beside_a_writer_finds_what_was_there_and_what_comes(tmp_path: Path) -> None:
    every = [(toys.ask(str(i)), Response(content=str(i))) for i in range(900)]
    with Store(tmp_path / "misled.db") as store:
        store.commit(every[:300])
        with store.reader() as reader:
            store.commit(every[300:600])
            found = [reader.get(request) for request, _ in every]
    assert found == [response for _, response in every[:600]] + [None] * 300


@given(st.sets(st.binary(min_size=16, max_size=16)), st.sets(st.binary(max_size=20)))
def test_a_sieve_denies_nothing_that_it_has_seen(seen: set[bytes], more: set[bytes]) -> None:
    sieve = Sieve()
    sieve.update(seen)
    sieve.update(more)
    assert all(key in sieve for key in seen | more)


def test_a_sieve_with_many_keys_denies_nearly_all_others() -> None:
    sieve = Sieve()
    sieve.update(blake2b(b"%d" % i, digest_size=16).digest() for i in range(100_000))
    others = (blake2b(b"-%d" % i, digest_size=16).digest() for i in range(100_000))
    assert sum(key in sieve for key in others) < 20  # one in 300 after ten times as many


def test_threads_that_write_take_turns(tmp_path: Path) -> None:
    with Store(tmp_path / "misled.db") as store, ThreadPoolExecutor(4) as pool:
        batches = [[(toys.ask(f"{i} {k}"), Response(content="2"))] for i in range(50) for k in "ab"]
        assert len(list(pool.map(store.commit, batches))) == 100
        assert store.counts().responses == store.counts().batches == 100


def test_another_programs_file_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "misled.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE notes (text)")
        db.commit()
    before = path.read_bytes()
    with Store(path, read_only=True) as store, pytest.raises(StoreError, match="damaged"):
        store.counts()
    assert path.read_bytes() == before


def test_a_damaged_file_of_an_older_schema_keeps_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "misled.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript((DATA / "store-2.sql").read_text("utf-8"))
        db.execute("DELETE FROM requests WHERE body LIKE '%1 + 1?%'")
        db.execute("UPDATE requests SET key = 'no key' WHERE body LIKE '%1 + 4?%'")
        db.commit()
    with Store(path, read_only=True) as store:
        assert store.get(toys.ask("1 + 1?")) is not None
        assert store.get(toys.ask("1 + 3?")) is not None
        assert sorted(damaged(store)) == [
            "answer number 5: its request is missing",
            "answer number 8: its request is missing",
            "request no key: its text has another hash",
        ]


def test_the_schema_is_as_many_scripts_as_its_version() -> None:
    assert len(MIGRATIONS) == SCHEMA


def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path: Path) -> None:
    code = """
        import resource, sys, signal
        from pathlib import Path
        import toys
        from misled.errors import StoreError
        from misled.records import Response
        from misled.store import Store
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_600_000, 1_600_000))
        done = 0
        try:
            with Store(Path(sys.argv[1])) as store:
                while True:
                    store.commit([(toys.ask(str(done)), Response(content="x" * 20_000))])
                    done += 1
        except StoreError as error:
            print(done, error)
    """
    path = tmp_path / "misled.db"
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent,
    )
    number, _, line = done.stdout.strip().partition(" ")
    assert "free space on the disk" in line
    assert "\n" not in line
    with Store(path, read_only=True) as store:
        assert store.counts().responses == int(number) > 3
        assert damaged(store) == []


def test_a_second_process_is_told_that_the_directory_is_in_use(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from misled.store import lock\n"
    code += "with lock(Path(sys.argv[1])): pass"
    with lock(tmp_path):
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
        )
    assert "is in use by another misled process" in done.stderr
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)


@given(st.text(), st.text(), st.integers(0, 5))
def test_a_key_depends_on_what_is_asked_and_not_on_the_lane(
    text: str, lane: str, sample: int
) -> None:
    def made(lane: str, sample: int) -> Request:
        message = Message(role="user", content=text)
        return Request(provider="p", model="m", messages=(message,), lane=lane, sample=sample)

    assert made(lane, sample).key == made("", sample).key
    assert made(lane, sample).key != made(lane, sample + 1).key


def test_a_key_never_changes_between_versions() -> None:
    assert toys.ask("hi").key == "b2:6248415d4636518c0fa82832afb56a6f"


def test_meta_that_was_changed_behind_its_back_is_named_and_never_given_out(
    tmp_path: Path,
) -> None:
    path = tmp_path / "misled.db"
    with Store(path) as store:
        store.set_meta({"plan": "a", "inputs": "gold 43066"})
        assert store.meta() == {"plan": "a", "inputs": "gold 43066"}
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE meta SET value = 'gold 43067' WHERE key = 'inputs'")
    with Store(path, read_only=True) as store:
        assert damaged(store) == ["inputs: its text has another hash"]
        with pytest.raises(StoreError, match="damaged: its inputs"):
            store.meta()


def test_a_text_that_is_no_longer_utf_8_is_named_and_the_rest_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "misled.db"
    with Store(path) as store:
        store.commit([(toys.ask(text), Response(content=text)) for text in "ab"])
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE answers SET body = CAST(x'7bff7d' AS TEXT)")
    with Store(path, read_only=True) as store:
        assert len(damaged(store)) == 2


def test_an_older_file_that_is_being_written_to_is_not_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "misled.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript((DATA / "store-1.sql").read_text(encoding="utf-8"))
    with lock(tmp_path), pytest.raises(StoreError, match="in use"):
        Store(path, read_only=True)
    with Store(path, read_only=True) as store:
        assert store.version == SCHEMA


def test_a_status_counts_what_a_store_without_a_plan_holds(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with Store(tmp_path / "misled.db") as store:
        store.commit([(toys.ask("a"), Response("b")), (toys.ask("c"), Failure("server", "no"))])
    with pytest.raises(StoreError, match="no plan"):
        runs.status(tmp_path)
    said = capfd.readouterr().out.splitlines()
    assert {"responses: 1", "failures: server 1"} <= set(said)
