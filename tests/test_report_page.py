"""The report as a person opens it: in a browser, from disk."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

import synthetic
from browser import DESKTOP, PHONE, opened, serious
from misled import report
from misled.estimates import entries


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_opens_without_a_complaint_of_browser_or_axe(
    browser: Browser, tmp_path: Path, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> None:
    found = entries(synthetic.rows(synthetic.Run(problems=14, degrees=(1, 2))))
    run = report.ReportInput(entries=tuple(found), plan_toml='study = "cpt"\n')
    path = report.write(run, tmp_path)
    with opened(browser, size, scheme=scheme) as page:
        page.goto(path.as_uri())
        assert page.get_by_role("heading", level=1).count() == 1
        assert not serious(page)
