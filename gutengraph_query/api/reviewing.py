"""`/books/{book}/review`: the claims that a person judges, and their verdicts. Only `gutengraph review` serves it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field

from gutengraph_query.api.problems import responses
from gutengraph_query.api.reading import BookId
from gutengraph_query.evaluate.gold import Importance
from gutengraph_query.review.desk import ReviewDesk
from gutengraph_query.review.marks import Missed, Name, Verdict
from gutengraph_query.review.precision import Tally
from gutengraph_query.review.sample import Item

router = APIRouter(tags=["review"])


class Asked(Item):
    """A claim with the verdict on it."""

    verdict: Verdict | None


class Precision(BaseModel):
    """What the marks come to."""

    tallies: list[Tally]
    missed: list[Missed]


class Review(Precision):
    """A book's review."""

    book: int
    title: str
    said: str = Field(description="How the sample was drawn.")
    gold: str = Field(description="Where the gold is written.")
    items: list[Asked]


class Judged(BaseModel):
    """A verdict; null takes it back."""

    key: str = Field(min_length=1, max_length=1000)
    verdict: Verdict | None
    importance: Importance = "minor"


def _desk(book: BookId, request: Request) -> ReviewDesk:
    reviews: dict[int, ReviewDesk] = request.app.state.reviews
    with request.app.state.reviews_lock:
        if book not in reviews:
            reviews[book] = ReviewDesk(request.app.state.brains, book)
        return reviews[book]


Desk = Annotated[ReviewDesk, Depends(_desk)]


@router.get("/books/{book}/review", summary="The claims to be judged", responses=responses(404, 409))
def claims(desk: Desk) -> Review:
    """In the order in which they are asked, each with the verdict it has."""
    marks = desk.marks()
    items = []
    for item in desk.sample().items:
        mark = marks.marks.get(item.key)
        shown = item if mark is None else item.model_copy(update={"importance": mark.importance})
        items.append(Asked(**shown.model_dump(), verdict=mark.verdict if mark else None))
    return Review(
        book=desk.book,
        title=desk.title,
        said=desk.said(),
        gold=desk.gold,
        items=items,
        tallies=desk.tallies(),
        missed=marks.missed,
    )


@router.put("/books/{book}/review/marks", summary="Judge one claim", responses=responses(404, 409))
def judge(desk: Desk, judged: Judged) -> Precision:
    """It is on disk, and the gold rewritten, when this answers."""
    desk.mark(judged.key, judged.verdict, judged.importance)
    return Precision(tallies=desk.tallies(), missed=desk.marks().missed)


@router.put("/books/{book}/review/missed", summary="Say whom the build lacks", responses=responses(404, 409))
def lacking(desk: Desk, missed: Missed) -> Precision:
    """Adds one, in place of whoever was added by that name. A name that the text does not have is refused."""
    desk.miss(missed)
    return Precision(tallies=desk.tallies(), missed=desk.marks().missed)


@router.delete(
    "/books/{book}/review/missed", summary="Take out somebody who was added", responses=responses(404, 409)
)
def not_lacking(desk: Desk, name: Annotated[Name, Query()]) -> Precision:
    """By name; whoever is not there is out already."""
    desk.unmiss(name)
    return Precision(tallies=desk.tallies(), missed=desk.marks().missed)
