"""Trials of real runs as a person opens them: from a report on disk, and from `misled view`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, expect

from browser import opened, serious
from misled import report
from misled.dossiers import Dossier
from misled.embedding import embedded
from misled.viewing import Viewed, serve
from trial_runs import carried, texts

PLANS: dict[str, dict[str, Any]] = {
    "cpt": {
        "study": "cpt",
        "model": ["planted/credulous"],
        "n": 1,
        "cells": [{"problems": ["addition:15+13"], "digits": [2], "methods": ["baseline"]}],
    },
    "judge": {
        "study": "judge",
        "judge": ["planted/mixed"],
        "generator": ["planted/credulous"],
        "n": 2,
        "cells": [{"problems": ["facts"], "conditions": ["answer", "reasoning"]}],
    },
}


class Shown(NamedTuple):
    """A run, the trial that is opened, and the report on disk."""

    directory: Path
    dossier: Dossier
    page: Path


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Shown]:
    """Made before the browser starts, since a run needs an event loop."""
    return {name: made(name, tmp_path_factory.mktemp(name)) for name in PLANS}


def made(name: str, directory: Path) -> Shown:
    run = carried(PLANS[name], directory)
    with run.store() as store:
        listed = embedded(run.trials, store)
    sheet = report.ReportInput(entries=(), study=name, plan_toml="", trials=listed)
    column, value = {"cpt": ("arm", "tampered"), "judge": ("condition", "reasoning")}[name]
    place = run.rows[column].to_list().index(value)
    return Shown(directory, run.dossiers()[place], report.write(sheet, directory))


@pytest.fixture(params=PLANS)
def shown(request: pytest.FixtureRequest, runs: dict[str, Shown]) -> Shown:
    return runs[request.param]


@pytest.fixture
def address(shown: Shown) -> Iterator[str]:
    """Where the run is served."""
    with serve(Viewed(shown.directory)) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield server.url
        server.shutdown()
        thread.join()


def looked_at(page: Any, dossier: Dossier) -> None:
    """What the dossier says stands in the opened trial."""
    trial = page.locator(".trial")
    expect(trial.locator("h3")).to_have_text(dossier.title)
    expect(trial).to_contain_text(dossier.why)
    for section in dossier.sections:
        if section.pieces:
            longest = max((piece[0].strip() for piece in section.pieces), key=len)
            expect(trial).to_contain_text(longest[:200], use_inner_text=False)
    chain = texts(dossier).get("The chain as sent")
    if chain is not None:
        above = trial.locator("[data-title='The chain as sent'] rt").all_inner_texts()
        before = [piece[2] for piece in chain.pieces if "tampered" in piece[1]]
        assert before
        assert all(was in said for was, said in zip(before, above, strict=True))
    for side in dossier.sides:
        expect(trial).to_contain_text(side.title)
    assert not serious(page)


def test_a_link_into_a_report_opens_the_trial_from_disk(shown: Shown, browser: Browser) -> None:
    with opened(browser) as page:
        page.goto(f"{shown.page.as_uri()}#trial={shown.dossier.id}")
        looked_at(page, shown.dossier)


def test_a_served_trial_is_the_same(shown: Shown, address: str, browser: Browser) -> None:
    with opened(browser, allow=lambda url: url.startswith(address)) as page:
        page.goto(f"{address}#trial={shown.dossier.id}")
        looked_at(page, shown.dossier)
