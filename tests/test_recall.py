"""Requests and answers by key: all that are there, whatever became of some."""

from __future__ import annotations

from pathlib import Path

import toys
from misled.recall import recall
from misled.records import Failure
from misled.store import Store


def test_requests_come_with_their_answers_or_without(tmp_path: Path) -> None:
    asked = [toys.ask(str(i)) for i in range(300)]
    failure = Failure("timeout", "late")
    with Store(tmp_path / "misled.db") as store:
        pairs = [(request, toys.reply(request)) for request in asked[:298]]
        store.commit([*pairs, (asked[298], failure)])
        store.commit([(asked[299], failure)])
        store.forget_failures([asked[299].key])
        keys = [request.key for request in asked]
        found = recall(store, [*keys, *keys, "None", "b2:zz", "b2:" + "0" * 32])
        assert found == {
            **{request.key: (request, reply) for request, reply in pairs},
            asked[298].key: (asked[298], failure),
            asked[299].key: (asked[299], None),
        }
        assert recall(store, []) == {}


def test_what_is_damaged_is_left_out(tmp_path: Path) -> None:
    first, second = toys.ask("a"), toys.ask("b")
    with Store(tmp_path / "misled.db") as store:
        store.commit([(each, toys.reply(each)) for each in (first, second)])
        store._db.execute("UPDATE answers SET body = 'x' WHERE id = 1")
        store._db.execute("UPDATE requests SET body = '{}' WHERE id = 2")
        assert recall(store, [first.key, second.key]) == {first.key: (first, None)}
