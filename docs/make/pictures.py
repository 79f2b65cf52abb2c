"""The pictures of the documentation that come from runs: figures, and reports as one sees them.

    misled run plans/smollm2_a.toml --run runs/smollm2_a
    misled run plans/smollm2_b.toml --run runs/smollm2_b
    python docs/make/pictures.py runs/smollm2_a runs/smollm2_b

The two runs are on the real model that runs in the process; the runs on planted models are
made here, in seconds. `study-a.svg` and `study-b.svg` are drawn by hand.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import misled

PICTURES = Path(__file__).parents[1] / "pictures"

# R_CPT of a model that never looks at the chain, and the same net of the untouched chain.
OBLIVIOUS: dict[str, Any] = {
    "model": ["planted/oblivious"],
    "n": 250,
    "cells": [{"problems": ["addition:15+13"], "digits": "1-4"}],
}
# The quick start's two runs.
MIXED: dict[str, Any] = {
    "model": ["planted/mixed"],
    "n": 40,
    "cells": [
        {"problems": ["addition:15+13"], "digits": "1-3", "methods": ["baseline", "contradiction"]}
    ],
}
JUDGES: dict[str, Any] = {
    "study": "judge",
    "judge": ["planted/credulous", "planted/vigilant"],
    "generator": ["planted/oblivious"],
    "n": 150,
    "cells": [
        {
            "problems": ["facts"],
            "conditions": ["answer", "reasoning", "again_answer", "again_reasoning"],
        }
    ],
}
PLANTED = {"oblivious": OBLIVIOUS, "mixed": MIXED, "judges": JUDGES}
FIGURES = {
    "smollm2 a": {
        "figure4-net-small-user": "smollm2-net",
        "figure5-net-user": "smollm2-methods",
    },
    "smollm2 b": {"figure2-answers-of-local-smollm2": "smollm2-flips"},
    "oblivious": {
        "figure4-addition-15+13": "oblivious-r",
        "figure4-net-addition-15+13": "oblivious-net",
    },
    "mixed": {"figure4-net-addition-15+13": "mixed-net"},
    "judges": {"figure2-answers-of-planted-oblivious": "judges-flips"},
}


def copied(directory: Path, name: str) -> None:
    """Copy those of a run's figures that the pages show."""
    for figure, picture in FIGURES[name].items():
        shutil.copy(directory / "figures" / f"{figure}.svg", PICTURES / f"{picture}.svg")


def seen(report: Path, name: str, trial: str = "") -> None:
    """The top of a report as a browser shows it, or the first trial of a choice, opened."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1100, "height": 800})
        page.goto(report.absolute().as_uri() + (f"#{trial}" if trial else ""))
        page.wait_for_timeout(1000)  # the trials are unpacked after the first paint
        if trial:
            page.get_by_label("List of trials").press("Home")
            page.wait_for_timeout(1000)
        page.screenshot(path=PICTURES / f"{name}.png")
        browser.close()


def main() -> None:
    """Make every picture."""
    first, second = map(Path, sys.argv[1:])
    copied(first, "smollm2 a")
    copied(second, "smollm2 b")
    seen(first / "report.html", "report")
    seen(first / "report.html", "trial", "arm=tampered&outcome=adopted&method=baseline")
    for name, plan in PLANTED.items():
        with tempfile.TemporaryDirectory() as scratch:
            copied(misled.run(misled.plan(**plan), scratch), name)


if __name__ == "__main__":
    main()
