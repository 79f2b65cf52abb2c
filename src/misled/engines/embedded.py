"""The child process in which llama.cpp serves one model on loopback.

    standard input   {"path": "model.gguf", "key": "..."}, then open until the end; a
                     bench also says "slots" and "cache" (MiB)
    standard output  {"address": "http://127.0.0.1:40401"} or {"error": "..."}

A process of its own, since llama.cpp writes to standard output as it likes,
aborts where it disagrees, and never returns from being destroyed while it
generates. It ends when its standard input does, so it never outlives its parent.

The settings make a reply a function of its request, in any order. Flash attention
is off: with it, 12 of 30 replies depended on what the prompt cache held. There is
one slot: two changed 5 of 48 replies, and took longer. Threads change nothing.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

__all__ = ["CONTEXT", "REPLY", "main"]

CONTEXT = 8192  # tokens of prompt and reply together
REPLY = 1024  # tokens of a reply where the request sets no limit
CACHE_MIB = 1024  # kept prompts


def main() -> None:
    """Serve until standard input ends."""
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    void = os.open(os.devnull, os.O_WRONLY)
    os.dup2(void, 1)
    os.dup2(void, 2)
    settings = json.loads(sys.stdin.readline())
    try:
        server = _server(**settings)
    except (ImportError, RuntimeError) as error:
        told = {"error": str(error)}
    else:
        told = {"address": server.listening_address}
    print(json.dumps(told), file=answer, flush=True)
    sys.stdin.read()
    os._exit(0)  # destroying the server would wait for what it generates


def _server(path: str, key: str, slots: int = 1, cache: int = CACHE_MIB) -> Any:
    import xllamacpp  # noqa: PLC0415 - only here, with standard output out of its reach

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.model_alias = {Path(path).name}  # replies are kept: no directory of ours
    params.api_keys = [key]
    params.ui = params.endpoint_slots = False
    params.n_ctx, params.n_predict, params.n_parallel = CONTEXT, REPLY, slots
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cache_ram_mib = cache
    params.fit_params = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _threads()
    return xllamacpp.Server(params)


def _threads() -> int:
    """One core is left to others: ggml's threads wait for each other spinning."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min(cores - 1, 8))


if __name__ == "__main__":
    main()
