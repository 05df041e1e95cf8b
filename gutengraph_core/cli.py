"""`gutengraph`: finds its subcommands by entry points and loads each when it is called."""

from __future__ import annotations

import json
import sys
from importlib.metadata import EntryPoint, entry_points

import click

from gutengraph_core.errors import GutenGraphError

_GROUP = "gutengraph.commands"


class _Commands(click.Group):
    def _found(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=_GROUP)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._found())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        point = self._found().get(cmd_name)
        if point is None:
            return None
        command = point.load()
        if not isinstance(command, click.Command):
            raise TypeError(f"{point.value} is no click command")
        return command


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="gutengraph")
def gutengraph() -> None:
    """Turn Project Gutenberg books into a vector brain and a graph brain, and ask both."""


def main() -> None:
    """Entry point: a failure a user can meet is one line on stderr and exit code 1; `--json` adds a document."""
    try:
        gutengraph(standalone_mode=False)
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.ClickException as error:
        error.show()
        _as_json(error.format_message(), "")
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped.", err=True)
        sys.exit(130)
    except GutenGraphError as error:
        what = error.what if error.book is None else f"Book {error.book}: {error.what}"
        click.echo(f"Error: {error}", err=True)
        _as_json(what, error.remedy)
        sys.exit(1)


def _as_json(what: str, remedy: str) -> None:
    """A failure as the one document on stdout, where JSON was asked for."""
    if "--json" in sys.argv[1:]:
        click.echo(json.dumps({"error": what, "remedy": remedy}, ensure_ascii=False, indent=1))
