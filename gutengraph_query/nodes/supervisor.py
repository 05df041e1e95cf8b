"""Takes the question in, decides which book it is about and which brain it is for."""

from __future__ import annotations

import re
from dataclasses import replace

from langchain_core.messages import HumanMessage

from gutengraph_core import names
from gutengraph_core.errors import ModelRefused, NotBuilt, SettingsError
from gutengraph_query.brains import EVERYTHING, Brains, brains
from gutengraph_query.nodes.common import Update, message, timed
from gutengraph_query.prompts.route import MAX_TOKENS, SYSTEM, RouteReply, route_prompt, route_schema
from gutengraph_query.scope import Scope, filtered
from gutengraph_query.state import MODES, QueryState, Route, Tokens, fresh
from gutengraph_query.understanding.question import read_question
from gutengraph_query.understanding.routing import route_by_rules

_SHORTEST_TITLE = 4


@timed("supervisor")
def supervisor(state: QueryState) -> Update:
    """Reset what the question before left, find the book, choose the route.

    An explicit mode skips the classification. Where the graph cannot be asked yet, hybrid and auto go to the
    passages and say so (`notice`); graph raises NotBuilt. Raises SettingsError for an unknown mode or no question,
    UnknownBook or NotBuilt for a book that cannot be asked, NoBookFits for an author or a kind that no book here has.
    """
    here = brains()
    question = _question(state)
    mode = state.get("mode") or "auto"
    if mode not in MODES:
        raise SettingsError(f"'{mode}' is no mode.", remedy=f"Use one of {', '.join(MODES)}.")
    given = state.get("book")
    here.check_book(given)
    author, kind = names.squeeze(state.get("author") or ""), state.get("kind") or ""
    scope = filtered(here.library, author=author, kind=kind, book=given) if author or kind else Scope(given)
    book = scope.book if scope.book is not None else book_of_question(here, question, scope)
    scope = replace(scope, book=book, up_to=_up_to(here, state, book))
    update = {
        **fresh(),
        "query": question,
        "mode": mode,
        "book": book,
        "up_to": scope.up_to,
        "authors": list(scope.authors),
        "books": None if scope.books is None else sorted(scope.books),
    }
    if mode == "auto":
        route, why, tokens = choose_route(here, question)
        update["tokens"] = tokens
    else:
        route, why = mode, "as asked"
    if route in ("graph", "hybrid") and (gap := _graph_gap(here, scope)) is not None:
        if mode == "graph":
            raise gap
        route, why = "vector", "the graph brain cannot be asked yet"
        update["notice"] = f"From the passages alone. {gap.what}"
    update |= {"routed_to": route, "why": why}
    said = [] if _asked_by_message(state) else [HumanMessage(content=question)]
    routed = " ".join(filter(None, [f"Routed to {route}{scope.words}: {why}.", update["notice"]]))
    update["messages"] = [*said, message("supervisor", routed)]
    return update


def _graph_gap(here: Brains, scope: Scope) -> NotBuilt | None:
    """Why the graph brain knows none of the books that are asked about; None if it knows one."""
    if scope.book is not None or scope.books is None:
        return here.graph_gap(scope.book)
    gaps = [here.graph_gap(book) for book in sorted(scope.books)]
    return gaps[0] if None not in gaps else None


def _up_to(here: Brains, state: QueryState, book: int | None) -> int | None:
    """The last chapter that has been read. Raises SettingsError if it is none, or of no known book."""
    up_to = state.get("up_to")
    if up_to is None:
        return None
    if book is None:
        raise SettingsError("Up to which chapter of which book?", remedy="Name the book: --book ID.")
    last = max((chapter.index for chapter in here.library.record(book).chapters), default=0)
    if not 0 <= up_to <= last:
        raise SettingsError(
            f"'{here.title(book)}' has no chapter {up_to}.", remedy=f"Its chapters go to {last}."
        )
    return up_to


def _asked_by_message(state: QueryState) -> bool:
    messages = state.get("messages") or []
    return bool(messages) and isinstance(messages[-1], HumanMessage)


def _question(state: QueryState) -> str:
    """`query`, or the last thing a person said (Studio's chat sends messages)."""
    text = str(state["messages"][-1].content) if _asked_by_message(state) else state.get("query") or ""
    text = names.squeeze(text)
    if not text:
        raise SettingsError("There is no question.", remedy="Give one as `query`.")
    return text


def choose_route(here: Brains, question: str) -> tuple[Route, str, Tokens]:
    """By an instruct model where one answers, else, or if its reply is none of the three, by rules."""
    tokens = Tokens(calls=0, prompt=0, completion=0, estimated=False)
    llm = here.instructed()
    if llm is None:
        return *route_by_rules(question), tokens
    try:
        reply = llm.complete(
            route_prompt(question), max_tokens=MAX_TOKENS, system=SYSTEM, schema=route_schema()
        )
    except ModelRefused as refusal:
        route, why = route_by_rules(question)
        return route, f"{why} (by rules: {refusal.what})", tokens
    tokens |= {"calls": 1, "prompt": reply.prompt_tokens, "completion": reply.completion_tokens}
    try:
        return RouteReply.model_validate_json(reply.text).route, f"chosen by {llm.identity.name}", tokens
    except ValueError:
        route, why = route_by_rules(question)
        return route, f"{why} (by rules: the model's reply was no route)", tokens


def book_of_question(here: Brains, question: str, scope: Scope = EVERYTHING) -> int | None:
    """The one book (of `scope`) that the question can be about: named by its title after 'in', or the only one that
    has all the people and places that it names. None if it can be about several."""
    among = (r for r in here.library.records() if scope.books is None or r.id in scope.books)
    titled = [r.id for r in among if _names_title(question, r.title)]
    if len(titled) == 1:
        return titled[0]
    try:
        index = here.graph(scope).index
    except NotBuilt:
        return None  # the passages can still be asked
    read = read_question(question, index.__contains__)
    if not read.names:
        return None
    books = [{node.book for node in index.find(name.text)} for name in read.names]
    common = set.intersection(*books)
    return common.pop() if len(common) == 1 else None


def _names_title(question: str, title: str) -> bool:
    head = re.split(r"[;:]|,? or ", title, maxsplit=1)[0]
    words = names.words(head)
    asked = " ".join(names.words(question))
    bare = " ".join(words[1:] if words[:1] in (["the"], ["a"]) else words)
    return (
        len(bare) >= _SHORTEST_TITLE and re.search(rf"\bin (the |a )?{re.escape(bare)}\b", asked) is not None
    )
