"""`gutengraph serve`: the HTTP API and the page."""

from __future__ import annotations

import errno
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from gutengraph_core.errors import SettingsError

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

    from gutengraph_core.settings import Settings


@click.command()
@click.option("--host", help="Address to listen on; any other than loopback needs GUTENGRAPH_API_TOKEN.")
@click.option("--port", type=click.IntRange(0, 65535), help="Default 8000; 0 takes a free one.")
def serve(host: str | None, port: int | None) -> None:
    """Serve the page and the HTTP API until Ctrl-C."""
    from gutengraph_core.errors import MissingExtra
    from gutengraph_core.settings import load_settings
    from gutengraph_query.brains import Brains

    try:
        import uvicorn  # noqa: F401 (it is part of the same extra)

        from gutengraph_query.api.app import create_app
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"The server needs {error.name}.", remedy="Run `pip install 'gutengraph[query]'`."
        ) from None
    given = {"host": host, "port": port}
    settings = load_settings().model_copy(update={k: v for k, v in given.items() if v is not None})
    settings.library.check_folder()
    run(create_app(Brains(settings)), settings, at="")


def run(app: FastAPI, settings: Settings, *, at: str) -> None:
    """Serve `app` until Ctrl-C; `at`: what to add to the address that is told."""
    import uvicorn

    _check_free(settings.host, settings.port)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # a client must not choose the address that its rate is counted by
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=LARGEST_HEAD,
    )
    server = _listening(config, at)
    with suppress(KeyboardInterrupt):  # uvicorn ends in good order, then hands the signal on
        server.run()
    if not server.started:
        raise SystemExit(1)


CONNECTIONS = 500
"""More get 503 at once: each costs a socket and some kilobytes."""
LARGEST_HEAD = 16 << 10
"""Bytes of a request's head."""


def _check_free(host: str, port: int) -> None:
    """Uvicorn's own word on a taken port has no remedy. Raises SettingsError."""
    failures: list[OSError] = []
    bound = False
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        addresses, failures = [], [error]
    for family, kind, protocol, _, address in addresses:
        try:
            with socket.socket(family, kind, protocol) as trial:
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    trial.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                trial.bind(address)
            bound = True
        except OSError as error:
            failures.append(error)
    # A name's second address may be of a family that the machine lacks.
    if failures and (not bound or any(f.errno in (errno.EADDRINUSE, errno.EACCES) for f in failures)):
        raise SettingsError(
            f"{host}, port {port}, cannot be listened on ({failures[0].strerror}).",
            remedy="Stop what listens there, or give another --port; 0 takes a free one.",
        )


def _listening(config: uvicorn.Config, at: str) -> uvicorn.Server:
    """A server that says where it listens, once it does."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started and not self.should_exit:
                host, port = self.servers[0].sockets[0].getsockname()[:2]
                shown = f"[{host}]" if ":" in host else host
                click.echo(f"The page is at http://{shown}:{port}/{at} (Ctrl-C stops it).", err=True)

    return Server(config)
