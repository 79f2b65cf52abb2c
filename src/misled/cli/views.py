"""`view`: every trial of a run in the browser, from a server on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from misled.cli import app
from misled.cli.output import busy, say, write_json

__all__ = ["view"]


@app.command()
def view(
    directory: Annotated[Path, typer.Argument(help="A run directory.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0: any that is free.")] = 0,
    open: Annotated[  # noqa: A002 - the option's name
        bool, typer.Option("--open", help="Open the page in the browser.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="The address as JSON on stdout.")] = False,
) -> None:
    """Show every trial of a run in the browser, until Ctrl-C; nobody else can read it."""
    import webbrowser
    from threading import Thread

    from misled.viewing import Viewed, serve

    with busy("reading the trials"):
        viewed = Viewed(directory)
    if viewed.unfinished:
        left = f"{viewed.unfinished} of {viewed.units} units are not finished"
        say(f"misled: {left}; this shows what stands now")
    with serve(viewed, port) as server:
        if json:
            write_json([{"url": server.url}])
        else:
            print(server.url, flush=True)
            say("misled: Ctrl-C ends it")
        if open:
            # Some browsers return when they are closed, and this has to answer them before.
            Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say("misled: ended")
