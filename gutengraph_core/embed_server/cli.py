"""`gutengraph-embed`: start the embedding server."""

from __future__ import annotations

import sys

import click

DEFAULT_PORT = 8081
KEEP_ALIVE_S = 75
"""Seconds that an idle connection stays open: a client that embeds a book after a book keeps its own."""
GRACE_S = 30
"""Seconds that requests under way may still take when the server is told to stop."""


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=DEFAULT_PORT, show_default=True, type=click.IntRange(0, 65_535), help="0: any."
)
@click.option(
    "--model", metavar="MODEL", help="embedded, a hub's name or a folder [default: GUTENGRAPH_EMBEDDING]"
)
@click.option(
    "--max-client-batch-size",
    default=32,
    show_default=True,
    type=click.IntRange(1),
    help="Texts of a request.",
)
@click.option(
    "--max-batch-tokens", default=16_384, show_default=True, type=click.IntRange(1), help="Tokens of a batch."
)
@click.option(
    "--max-concurrent-requests",
    default=512,
    show_default=True,
    type=click.IntRange(1),
    help="Texts in the queue.",
)
@click.option(
    "--payload-limit",
    default=2_000_000,
    show_default=True,
    type=click.IntRange(1),
    help="Bytes of a request.",
)
@click.option(
    "--auto-truncate", is_flag=True, help="Cut texts that are too long, unless a request says otherwise."
)
def main(
    host: str,
    port: int,
    model: str | None,
    max_client_batch_size: int,
    max_batch_tokens: int,
    max_concurrent_requests: int,
    payload_limit: int,
    auto_truncate: bool,
) -> None:
    """Serve an embedding model with the routes of Text Embeddings Inference.

    A GutenGraph elsewhere uses it with GUTENGRAPH_EMBEDDING=tei:http://<host>:<port>. It has no password:
    put it behind something that has before you let others reach it.
    """
    from gutengraph_core.errors import GutenGraphError

    try:
        if max_client_batch_size > max_concurrent_requests:
            raise click.UsageError("--max-concurrent-requests must hold a whole --max-client-batch-size.")
        _serve(
            host,
            port,
            model,
            {
                "client_batch": max_client_batch_size,
                "batch_tokens": max_batch_tokens,
                "queue": max_concurrent_requests,
                "payload": payload_limit,
                "auto_truncate": auto_truncate,
            },
        )
    except GutenGraphError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)


def _serve(host: str, port: int, model: str | None, limits: dict[str, int | bool]) -> None:
    from gutengraph_core.embedding.folders import find_folder
    from gutengraph_core.errors import MissingExtra, SettingsError
    from gutengraph_core.settings import load_settings

    try:
        import uvicorn

        from gutengraph_core.embed_server.app import Limits, make_app
        from gutengraph_core.embed_server.served import ServedModel
    except ImportError as error:
        raise MissingExtra(
            f"The embedding server needs {error.name}.", remedy="Run `pip install 'gutengraph[embedded]'`."
        ) from None
    settings = load_settings()
    spec = model or settings.embedding
    if spec.startswith(("tei:", "ollama:")):
        raise SettingsError(
            f"{spec} is a server already.",
            remedy="Name a model to serve: --model embedded, a hub's name, a folder.",
        )
    served = ServedModel(find_folder(spec), threads=settings.threads)
    click.echo(f"Serving {served.folder.identity} …", err=True)
    uvicorn.run(
        make_app(served, Limits.model_validate(limits)),
        host=host,
        port=port,
        access_log=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
    )
