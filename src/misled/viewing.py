"""The trials of a run as a page that this machine shows to itself.

    with serve(Viewed(directory), port=0) as server:
        print(server.url)           http://127.0.0.1:40123/kX3v.../
        server.serve_forever()

Who does not know the token in the path gets nothing, nor does a page of another name that
resolves to this machine. It answers GET alone, from memory and, for one trial's texts, from
the store, which it only reads: a run may still be going on.
"""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from misled import directory as runs
from misled import pages
from misled.errors import StoreError, UserError
from misled.explorer import Trials
from misled.pages import Listed
from misled.session import reopen
from misled.store import Store

__all__ = ["Server", "Viewed", "serve"]

ADDRESS = "127.0.0.1"
IDLE = 60.0  # seconds after which a connection that says nothing is closed

_HTML, _JSON = "text/html; charset=utf-8", "application/json"
# A token, the slash behind it or not, and one trial; what a query asks is not heard.
_PATH = re.compile(r"/([\w-]{1,64})(/(?:trial/([0-9a-f]{16})\.json)?)?(?:\?.*)?", re.ASCII)
_HEADERS = {
    "Allow": "GET, HEAD",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Viewed:
    """The trials that stand in a run directory now: their page, and the texts of each.

    Raises `UserError` where the directory is no run, or holds no trial yet.
    """

    def __init__(self, directory: Path) -> None:
        session = reopen(directory)
        found = runs.standing(session, directory)
        rows = found.rows
        if rows.is_empty():
            raise UserError(f"{directory} holds no graded trial yet; look again when it has some")
        self.unfinished, self.units = found.unfinished, session.size
        self._trials = Trials(session, rows)
        self._store = Store(directory / "misled.db", read_only=True)
        self._reading = Lock()  # a dossier is made of what other dossiers left in memory, too
        index = pages.shown(self._trials.index({"mode": "served"}))
        title = f"Trials of {directory.resolve().name}"
        listed = Listed(len(self._trials), index)
        self.page = pages.standalone(title, listed, self._snapshot()).encode()

    def _snapshot(self) -> str:
        """That the page does not follow a run that goes on; "" where the run is done."""
        if not self.unfinished:
            return ""
        now = datetime.now(UTC)
        return (
            f"A snapshot of {now:%Y-%m-%d %H:%M} UTC: {self.unfinished} of {self.units} units were "
            "not finished. What came since is not in it; start misled view again to see it."
        )

    def text(self, name: str) -> bytes | None:
        """The dossier of the trial with this id as JSON; None where there is none."""
        place = self._trials.places.get(name)
        if place is None:
            return None
        with self._reading:
            [dossier] = self._trials.dossiers(self._store, [place])
        return msgspec.json.encode(dossier)

    def close(self) -> None:
        """Close the store."""
        with self._reading:
            self._store.close()


class Server(ThreadingHTTPServer):
    """Shows what is viewed under a token of its own; closes it when it is closed itself."""

    daemon_threads = True

    def __init__(self, viewed: Viewed, port: int) -> None:
        self.viewed, self.token = viewed, secrets.token_urlsafe(24)
        super().__init__((ADDRESS, port), partial(_Handler))

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{ADDRESS}:{self.server_port}/{self.token}/"

    @property
    def names(self) -> tuple[str, ...]:
        """What a browser may call this machine."""
        return f"{ADDRESS}:{self.server_port}", f"localhost:{self.server_port}"

    def server_close(self) -> None:
        """Give the port and the store back."""
        super().server_close()
        self.viewed.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke off concerns nobody."""


def serve(viewed: Viewed, port: int = 0) -> Server:
    """A server on this port, or on any that is free; it answers once it is told to."""
    try:
        return Server(viewed, port)
    except OSError as error:
        viewed.close()
        fix = f"{error.strerror}; choose another --port, or leave it out"
        raise UserError(f"cannot listen on port {port}: {fix}") from None


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "misled"
    sys_version = ""
    timeout = IDLE

    def do_GET(self) -> None:
        """The page, or the texts of one trial."""
        found = _PATH.fullmatch(self.path)
        known = found is not None and secrets.compare_digest(found[1], self.server.token)
        if self.headers.get("Host") not in self.server.names:
            self._say(HTTPStatus.FORBIDDEN, "this machine is not called so")
        elif found is None or not known:
            self._say(
                HTTPStatus.NOT_FOUND,
                "there is nothing here; open the address that misled view printed",
            )
        elif found[2] is None:  # without the slash, the page would ask for trials beside it
            self._send(HTTPStatus.PERMANENT_REDIRECT, _JSON, b"", Location=f"/{found[1]}/")
        elif found[3] is None:
            self._send(HTTPStatus.OK, _HTML, self.server.viewed.page)
        else:
            self._text(found[3])

    do_HEAD = do_GET  # noqa: N815 - the library looks for this name

    def _text(self, name: str) -> None:
        try:
            text = self.server.viewed.text(name)
        except StoreError as error:
            self._say(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
            return
        if text is None:
            self._say(HTTPStatus.NOT_FOUND, "there is no such trial in this run")
        else:
            self._send(HTTPStatus.OK, _JSON, text)

    def _say(self, status: int, message: str) -> None:
        self._send(status, _JSON, msgspec.json.encode({"error": message}))

    def _send(self, status: int, kind: str, body: bytes, **more: str) -> None:
        self.send_response(status)
        may = pages.policy(scripted=True, served=True) if kind == _HTML else "default-src 'none'"
        headers = {"Content-Type": kind, "Content-Length": str(len(body))}
        headers |= {"Content-Security-Policy": f"{may}; frame-ancestors 'none'", **_HEADERS, **more}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_error(self, code: int, *_: object) -> None:
        """Turn away what the library does: another method, a line that is no request."""
        self.close_connection = True
        refused = code == HTTPStatus.NOT_IMPLEMENTED  # a method that there is no `do_` for
        self._say(HTTPStatus.METHOD_NOT_ALLOWED if refused else code, "this is not answered")

    def log_message(self, *_: object) -> None:
        """Say nothing: the terminal is the user's."""
