"""`gutengraph review ID`: judge a book's names, joins and relations by hand, on a page."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

if TYPE_CHECKING:
    from gutengraph_query.review.desk import ReviewDesk


@click.command()
@click.argument("book", type=click.IntRange(min=0), metavar="ID")
@click.option(
    "--sample",
    "per_kind",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Ask for N of each kind (people, places, joins, relations) from now on; at first 30.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: a free one.")
@click.option("--report", is_flag=True, help="Print the precision of what is marked so far, and end.")
@click.option("--json", "as_json", is_flag=True, help="The report as one JSON document on stdout.")
def review(book: int, per_kind: int | None, port: int, report: bool, as_json: bool) -> None:
    """Mark a sample of a book's names, joins and relations right or wrong, on a page.

    What you mark is kept at once, so you can stop and go on. It becomes a gold standard of the book in the data
    folder, for `gutengraph evaluate`.
    """
    from gutengraph_core.settings import load_settings
    from gutengraph_query.brains import Brains
    from gutengraph_query.review.desk import ReviewDesk

    # on this machine only, and behind a token: unlike the rest of the server, a review writes
    settings = load_settings()
    token = secrets.token_urlsafe(24)  # of its own: it is printed, and one that is set is a secret
    settings = settings.model_copy(update={"host": "127.0.0.1", "port": port, "api_token": token})
    here = Brains(settings)
    desk = ReviewDesk(here, book)
    if per_kind is not None:
        desk.resize(per_kind)
    if report or as_json:
        show(desk, as_json=as_json)
        return
    from gutengraph_core.errors import MissingExtra
    from gutengraph_query.server import run

    try:
        from gutengraph_query.api.app import create_app
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"The page needs {error.name}.", remedy="Run `pip install 'gutengraph[query]'`."
        ) from None
    click.echo(f"{desk.title}: {desk.said()}\nThe gold goes to {desk.gold}.", err=True)
    # behind the '#', the token never leaves the browser with an address
    run(
        create_app(here, warm=False, review=True), settings, at=f"review/{book}#token={quote(token, safe='')}"
    )


def show(desk: ReviewDesk, *, as_json: bool) -> None:
    """The precision of what is marked, for people or programs."""
    found = desk.tallies()
    if as_json:
        document = {
            "book": desk.book,
            "title": desk.title,
            "sample": desk.said(),
            "precision": [tally.model_dump() for tally in found],
            "gold": desk.gold,
        }
        click.echo(json.dumps(document, ensure_ascii=False, indent=1))
        return
    click.echo(f"{desk.title}: {desk.said()}")
    for tally in found:
        counts = f"{tally.right} right, {tally.wrong} wrong"
        if tally.right + tally.wrong == 0:
            shown = "nothing judged yet"
        elif tally.interval is None:
            shown = counts
        else:
            low, high = tally.interval
            shown = f"{tally.precision:.2f} ({low:.2f} to {high:.2f}), {counts}"
        more = "".join(f", {n} {what}" for n, what in ((tally.unsure, "unsure"), (tally.left, "left")) if n)
        click.echo(f"{tally.kind:9} {shown}{more}")
    click.echo(f"95 % intervals by Wilson. Gold: {desk.gold}")
