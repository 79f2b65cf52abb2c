"""The share of prompts that a prefix cache could give, and what of it was given."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from misled.cache import attainable
from misled.records import Failure, Message, Prefill, Request, Response, Usage
from misled.reuse import Reuse, reuse
from misled.store import Store


def nodes(prompts: list[str]) -> int:
    """The nodes of the trie, one by one."""
    return len({prompt[:end] for prompt in prompts for end in range(1, len(prompt) + 1)})


@given(st.lists(st.text("ab", max_size=6), max_size=12))
def test_what_is_attainable_is_all_but_the_nodes_of_the_trie(prompts: list[str]) -> None:
    total = sum(map(len, prompts))
    assert attainable(prompts) == total - nodes(prompts)
    assert attainable(tuple(map(ord, p)) for p in prompts) == total - nodes(prompts)


def test_the_example_and_nothing() -> None:
    assert attainable(["chain A 1", "chain A 2", "chain B"]) == 8 + 6
    assert attainable([]) == attainable(["alone"]) == 0


def asked(text: str, model: str = "m", prefill: str | None = None) -> Request:
    opened = None if prefill is None else Prefill("content", prefill)
    return Request("toy", model, (Message("user", text),), prefill=opened)


def test_what_a_run_could_have_had_from_a_cache_is_counted_for_each_model(tmp_path: Path) -> None:
    """By characters of what was answered: of the second model's prompts nothing is shared."""
    told = Response(content="", usage=Usage(prompt=100, cached=20))
    silent = Response(content="", usage=Usage(prompt=100))
    failed = Failure("server", "500")
    with Store(tmp_path / "misled.db") as store:
        assert reuse(store) == Reuse(None, None)
        store.commit([(asked("abcd"), told), (asked('ab"d\n'), silent), (asked("xx", "n"), told)])
        store.commit([(asked("abcd", "n"), silent), (asked("abcde"), failed)])
        found = reuse(store)
        # "user\n" is shared once by the two prompts of each model, and "ab".
        assert found.attainable == (5 + 2 + 5) / (9 + 10 + 7 + 9)
        assert found.given == 40 / 200
        assert found.reached == found.given / found.attainable
    with Store(tmp_path / "other.db") as store:
        store.commit([(asked("abcd", prefill="12"), silent), (asked("abcd", prefill="13"), silent)])
        assert reuse(store) == Reuse((5 + 4 + 1 + 1) / 24, None)
        assert reuse(store).reached is None


@settings(max_examples=15)  # each writes a file
@given(st.lists(st.text('a"\n\\', max_size=6), max_size=12, unique=True))
def test_the_order_of_a_file_shows_all_that_prompts_share(texts: list[str]) -> None:
    with TemporaryDirectory() as place, Store(Path(place) / "misled.db") as store:
        store.commit([(asked(text), Response(content="")) for text in texts])
        found = reuse(store)
    whole = [f"user\n{text}" for text in texts]
    total = sum(map(len, whole))
    assert found.attainable == (attainable(whole) / total if texts else None)
