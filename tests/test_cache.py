"""The share of prompts that a prefix cache could give."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from misled.cache import attainable


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
