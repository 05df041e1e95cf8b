"""The cloze: a sentence in which the next word says what sort of thing a name names."""

from __future__ import annotations

from gutengraph_assets.extraction.evidence import Kind

# Original sentences, in the diction of the period; their names are no candidates anywhere else. The order
# alternates kinds, so
# that no kind is the one just said.
_EXAMPLES: tuple[tuple[str, str, str], ...] = (
    (
        "The old rector looked up as Thessaly Crane came in, and bade her sit by the fire.",
        "Thessaly Crane",
        "woman",
    ),
    (
        "We reached Ostermouth at dusk, and lay that night in a poor room above the market.",
        "Ostermouth",
        "town",
    ),
    ('"You are late," said Mr. Pellinger, and he shut the book with a snap.', "Mr. Pellinger", "man"),
    ("She had learned every page of the Almagest by heart before she was twelve.", "Almagest", "book"),
    ("Young Barnaby ran down the stairs and threw his arms about his brother's neck.", "Barnaby", "boy"),
    ("He had served nine years in Quenland, and spoke its language like a native.", "Quenland", "country"),
    ("Nothing could persuade Dorcas that the letter had been written in earnest.", "Dorcas", "person"),
    ("There was talk of Reform in every tavern, and little else was heard that winter.", "Reform", "thing"),
)

CLASSES: dict[Kind, tuple[str, ...]] = {
    "person": tuple(
        "person man woman character girl boy lady gentleman child friend king young old female male doctor horse dog".split()
    ),
    "place": tuple(
        "place town city country village house river street island farm county region road building port mountain sea land "
        "state province district castle hill".split()
    ),
    "thing": tuple(
        "thing book word company people ship story court game name kind group tribe family bank nation race language letter "
        "song poem plant animal title department section tribunal journal newspaper".split()
    ),
}
"""The words a model may go on with. With the three words {thing, book, word} alone for things, the constant
that evens out the kinds
was -3 and the figures hung on it; with these it is -0.5, and .5 either way costs nothing."""

CONSTANTS: dict[Kind, float] = {"person": 0.0, "place": 1.0, "thing": -0.5}
"""Subtracted from the normalised log-probabilities: the model's own liking for each kind. Fitted once, in
steps of .25, on 780 hand-labelled
names of eight novels (F1 of persons and places); the plateau is wide."""


def _block(text: str, name: str) -> str:
    return f'Text: {text}\nIn this text, "{name}" is the name of a'


def cloze_prompt(text: str, name: str) -> str:
    """The prompt whose next word types `name`, which stands in `text`. The examples end with its last blank
    line."""
    examples = "".join(f"{_block(t, n)} {word}.\n\n" for t, n, word in _EXAMPLES)
    return examples + _block(text, name)
