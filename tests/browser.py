"""Chromium for the tests: a real browser, from the system's packages, driven by Playwright.

    def test_...(page: Page) -> None: page.goto(path.as_uri())

The pages have neither network nor permission to ask for any; every console error and every
exception of a page fails the test that opened it.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Dialog,
    Error,
    Page,
    Request,
    ViewportSize,
    sync_playwright,
)

__all__ = ["CHROMIUM", "DESKTOP", "PHONE", "chromium", "opened", "serious"]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DESKTOP = (1280, 900)
PHONE = (390, 844)
_idle: dict[Any, list[Page]] = defaultdict(list)  # by browser, size and scheme


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser; a test that needs one is skipped where the machine has none."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"],
        )
        try:
            yield browser
        finally:
            _idle.clear()
            browser.close()


@contextmanager
def opened(
    browser: Browser,
    size: tuple[int, int] = DESKTOP,
    *,
    scheme: Literal["light", "dark"] = "light",
    allow: Callable[[str], bool] = lambda url: url.startswith(("file:", "data:", "blob:")),
    script: str | None = None,
) -> Iterator[Page]:
    """An empty page; at its end, nothing may have failed in it or gone to the network.

    A page that failed nothing is emptied and used again: half of what a small page takes is the
    start of a process for it. One that begins with a `script` of its own is not.
    """
    kind = (browser, size, scheme)
    page = _idle[kind].pop() if _idle[kind] and script is None else _fresh(*kind)
    if script is not None:
        page.add_init_script(script)
    again = False
    try:
        with _heard(page, allow) as wrong:
            yield page
        assert not wrong, wrong
        again = script is None
    finally:
        if again:
            _empty(page)
            _idle[kind].append(page)
        else:
            page.context.close()


@contextmanager
def _heard(page: Page, allow: Callable[[str], bool]) -> Iterator[list[str]]:
    """What goes wrong in a page meanwhile."""
    wrong: list[str] = []

    def spoke(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            wrong.append(message.text)

    def failed(error: Error) -> None:
        wrong.append(str(error))

    def asked(request: Request) -> None:
        if not allow(request.url):
            wrong.append(request.url)

    def stopped(dialog: Dialog) -> None:
        wrong.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    heard = {"console": spoke, "pageerror": failed, "dialog": stopped, "request": asked}
    hears: list[tuple[Any, Any]] = list(heard.items())
    for event, hear in hears:
        page.on(event, hear)
    yield wrong
    for event, hear in hears:
        page.remove_listener(event, hear)


def _fresh(browser: Browser, size: tuple[int, int], scheme: Literal["light", "dark"]) -> Page:
    viewport: ViewportSize = {"width": size[0], "height": size[1]}
    return browser.new_context(viewport=viewport, color_scheme=scheme).new_page()


def _empty(page: Page) -> None:
    """Nothing that a test did to a page is left."""
    page.mouse.move(0, 0)
    page.goto("about:blank")
    page.emulate_media(media="null")
    page.context.clear_permissions()


def serious(page: Page) -> list[str]:
    """What axe-core finds serious or critical, one line each."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['target']}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
