"""How long study B's tables take: 10 judges x 4 generators x 4 sets x n items, all asked again.

    python bench/judgements.py [items] [--profile]

160,000 verdicts without and with the chain at 500 items, as many again, a
controlled part and closed-book answers. Rows are drawn as a frame; judges
have a planted TPR and FPR in each condition.
"""

from __future__ import annotations

import cProfile
import pstats
import resource
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from misled import estimates, judgements
from misled.row import Judged

GENERATORS = (
    *("dashscope/qwen3-8b", "dashscope/qwen3-14b", "dashscope/qwen3-32b"),
    "deepseek/deepseek-v3.1",
)
JUDGES = (
    *GENERATORS,
    *("vllm/llama-3.1-8b", "vllm/llama-3.1-70b", "vllm/glm-4-32b", "vllm/glm-z1-32b"),
    *("openai/gpt-4o", "anthropic/claude-sonnet-4.5"),
)
SETS = {"nq": 0.25, "hotpotqa": 0.27, "gsm8k": 0.94, "math500": 0.8}
CONDITIONS = ("answer", "reasoning", "again_answer", "again_reasoning")
SPOTS = (
    *product(("statements",), ("begin", "end"), range(5)),
    *product(("filler", "true_edit", "placebo", "chain_cut"), ("end",), (None,)),
)


def rows(items: int, seed: int = 0) -> pl.DataFrame:
    """Generations, verdicts and closed-book answers, as `judgements.entries` takes them."""
    rng = np.random.default_rng(seed)
    made = pl.DataFrame(
        list(product(SETS, GENERATORS, range(items))), ["set", "generator", "problem"], orient="row"
    )
    rate = made["set"].replace_strict(SETS, return_dtype=pl.Float64).to_numpy()
    made = made.with_columns(
        label=pl.Series(rng.random(made.height) < rate),
        length=pl.Series(rng.integers(200, 9000, made.height)),
    )
    judges = pl.DataFrame({"judge": JUDGES})
    said = made.join(judges, how="cross").join(pl.DataFrame({"condition": CONDITIONS}), how="cross")
    own = made.with_columns(judge="generator").join(
        pl.DataFrame({"condition": ("self_hidden", "self")}), how="cross"
    )
    spots = pl.DataFrame(
        list(SPOTS), {"variant": pl.String, "place": pl.String, "k": pl.Int64}, orient="row"
    )
    edited = made.filter(generator=GENERATORS[0]).join(judges, how="cross")
    edited = edited.join(spots, how="cross").with_columns(
        condition=pl.lit("controlled"), inserted=pl.lit(0.1)
    )
    verdicts = pl.concat([said, own, edited], how="diagonal").with_columns(
        arm=pl.lit("judge"), shown=pl.lit("content")
    )
    chance = np.where(verdicts["label"], 0.8, 0.4)
    chance += np.where(verdicts["condition"].str.ends_with("answer"), 0, 0.1)
    draw = rng.random(verdicts.height)
    verdicts = verdicts.with_columns(
        verdict=pl.Series(np.where(draw < chance, "accept", "reject")),
        outcome=pl.Series(np.where(rng.random(verdicts.height) < 0.02, "unreadable", "read")),
    )
    closed = made.filter(generator=GENERATORS[0]).join(judges, how="cross")
    closed = closed.with_columns(
        arm=pl.lit("closed_book"), generator=pl.lit(""), outcome=pl.lit("read")
    )
    whole = pl.concat(
        [
            made.with_columns(arm=pl.lit("generate"), outcome=pl.lit("read")),
            verdicts,
            closed,
        ],
        how="diagonal",
    ).with_columns(
        pl.col("problem").cast(pl.String),
        cluster=pl.concat_str("set", "problem"),
        sample=pl.col("condition").fill_null("").str.starts_with("again").cast(pl.Int64),
        labelled_by=pl.lit("deterministic"),
    )
    empty = [name for name in Judged.__struct_fields__ if name not in whole.columns]
    return whole.with_columns(pl.lit(None).alias(name) for name in empty)


def main() -> None:
    """Time the tables, and the files of them."""
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    found = rows(numbers[0] if numbers else 500)
    print(f"{found.height:,} rows")
    profile = cProfile.Profile()
    began, spent = time.perf_counter(), time.process_time()
    if "--profile" in sys.argv:
        profile.enable()
    entries = judgements.entries(found)
    profile.disable()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    took = (
        f"{time.perf_counter() - began:.1f} s ({time.process_time() - spent:.1f} s of processors)"
    )
    print(f"{len(entries):,} entries in {took}, {peak:.0f} MB at most")
    if "--profile" in sys.argv:
        pstats.Stats(profile).sort_stats("cumulative").print_stats(40)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        estimates.write(entries, Path(directory))
        size = sum(path.stat().st_size for path in Path(directory).iterdir())
    print(f"{size / 1e6:.1f} MB of tables in {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
