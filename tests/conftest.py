"""Hypothesis draws the same examples in every run; `--hypothesis-profile=explore` draws others."""

from collections.abc import Iterator

import pytest
from hypothesis import settings
from playwright.sync_api import Browser

from browser import chromium

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("same")


@pytest.fixture(scope="module")  # while it lives, no event loop can run beside it
def browser() -> Iterator[Browser]:
    """A real Chromium, where there is one."""
    with chromium() as found:
        yield found
