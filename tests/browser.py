"""Chromium for the tests: a real browser, from the system's packages, driven by Playwright.

    def test_...(page: Page) -> None: page.goto(path.as_uri())

The pages have neither network nor permission to ask for any; every console error and every
exception of a page fails the test that opened it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, sync_playwright

__all__ = ["CHROMIUM", "DESKTOP", "PHONE", "chromium", "opened", "serious"]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DESKTOP = (1280, 900)
PHONE = (390, 844)


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
            browser.close()


@contextmanager
def opened(
    browser: Browser,
    size: tuple[int, int] = DESKTOP,
    *,
    scheme: Literal["light", "dark"] = "light",
    allow: Callable[[str], bool] = lambda url: url.startswith(("file:", "data:", "blob:")),
) -> Iterator[Page]:
    """An empty page; at its end, nothing may have failed in it or gone to the network."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme
    )
    page = context.new_page()
    wrong: list[str] = []

    def spoke(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            wrong.append(message.text)

    def asked(request: Request) -> None:
        if not allow(request.url):
            wrong.append(request.url)

    def stopped(dialog: Dialog) -> None:
        wrong.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    page.on("console", spoke)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", stopped)
    page.on("request", asked)
    try:
        yield page
        assert not wrong, wrong
    finally:
        context.close()


def serious(page: Page) -> list[str]:
    """What axe-core finds serious or critical, one line each."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['target']}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
