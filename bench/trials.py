"""What the trials cost a report: seconds, memory and size, without them and with them.

    python bench/trials.py [--items 500] [--small]

A planted run of study B, ten judges on the answers of four generators to so many questions,
each asked twice with and without the chain and in two ways: 160,000 verdicts at 500 items.
Each number comes from a process of its own: the rows alone, the report without its trials,
with them, and the page that `misled view` serves with the texts of 200 trials. `--small` is a
run of study A whose texts fit.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

from misled import pages, publishing
from misled.directory import execute, standing
from misled.plans import study
from misled.session import prepare, reopen
from misled.settings import Pace
from misled.viewing import Viewed

PROFILES = ("vigilant", "mixed", "credulous", "oblivious")
JUDGES = 10


def plan(folder: Path, items: int, *, small: bool) -> dict[str, Any]:
    """The plan, with profiles of other names where more judges than profiles are asked."""
    if small:
        cell = {"problems": ["addition:15+13", "multiplication:8x7"], "digits": "1-6"}
        cell |= {"methods": ["baseline", "uncertainty", "contradiction", "prefix"]}
        return {"study": "cpt", "model": ["planted/mixed"], "n": items, "cells": [cell]}
    text = (files("misled") / "data" / "planted" / "mixed.toml").read_text("utf-8")
    names = [f"planted/{name}" for name in PROFILES]
    for number in range(JUDGES - len(PROFILES)):
        path = folder / f"judge-{number}.toml"
        path.write_text(text, "utf-8")
        names.append(f"planted/{path}")
    cell = {
        "problems": ["facts"],
        "conditions": ["answer", "reasoning", "again_answer", "again_reasoning"],
        "shown": ["content", "value"],
    }
    asked = {"judge": names, "generator": names[: len(PROFILES)]}
    return {"study": "judge", "n": items, "cells": [cell], **asked}


def measured(what: str, directory: Path) -> dict[str, Any]:
    """Seconds of processor, megabytes at most, and what came of it."""
    began, spent = time.perf_counter(), time.process_time()
    found: dict[str, Any] = {}
    if what == "view":
        found = _viewed(directory)
    else:
        session = reopen(directory)
        rows = standing(session, directory)
        found["rows"] = rows.rows.height
        if what == "without":
            publishing._trials = lambda *_: None  # noqa: SLF001
        if what != "rows":
            made = publishing.publish(session, directory, rows, ["svg"])
            found["report, MB"] = made.report.stat().st_size / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    took = {"seconds": time.perf_counter() - began, "of a processor": time.process_time() - spent}
    return took | {"MB at most": peak} | found


def _viewed(directory: Path) -> dict[str, Any]:
    viewed = Viewed(directory)
    names = list(viewed._trials.places)  # noqa: SLF001
    began = time.perf_counter()
    sizes = [len(viewed.text(name) or b"") for name in names[:: max(1, len(names) // 200)]]
    each = (time.perf_counter() - began) / len(sizes)
    viewed.close()
    return {
        "trials": len(names),
        "page, MB": len(viewed.page) / 1e6,
        "of it script, MB": len(pages.script()) / 1e6,
        "ms a trial's texts": 1e3 * each,
        "kB a trial's texts": sum(sizes) / len(sizes) / 1e3,
    }


def main() -> None:
    """Make the run, then measure."""
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(measured(sys.argv[2], Path(sys.argv[3]))))
        return
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--items", type=int, default=500)
    options.add_argument("--small", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder, directory = Path(place), Path(place) / "run"
        made = study(plan(folder, given.items, small=given.small))
        began = time.perf_counter()
        execute(prepare(made), directory, Pace(), lambda *_: None)
        print(f"the run took {time.perf_counter() - began:.0f} s")
        for what in ("rows", "without", "with", "view"):
            command = [sys.executable, __file__, "--child", what, str(directory)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            print(f"{what}:")
            for name, value in json.loads(done.stdout.splitlines()[-1]).items():
                print(f"    {name:<20} {value:,.1f}")


if __name__ == "__main__":
    main()
