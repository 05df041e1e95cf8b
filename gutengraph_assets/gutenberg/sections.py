"""What the sections before and after the text proper call themselves."""

from __future__ import annotations

import re

from gutengraph_assets.gutenberg.paragraphs import Para

_OF_OTHERS = r"(?:translators?|editors?|publishers?|transcribers?|proofreaders?|printers?|producers?)"
_APOSTROPHE = r"[’'´`]?"
_EDITORIAL = re.compile(
    rf"""\W*(?:
        (?:original\ |project\ gutenberg\ |the\ |etext\ )*{_OF_OTHERS}(?:{_APOSTROPHE}s?{_APOSTROPHE})?\ (?:
            preface|introduction|foreword|note|notes|remarks?|afterword|advertisement|postscript)\b.{{0,60}}
      | note\ (?:by|from|of)\ the\ {_OF_OTHERS}\b.{{0,40}}
      | (?:preface|introduction)\ (?:by|of)\ the\ {_OF_OTHERS}\b.{{0,40}}
      | (?:a\ )?note\ on\ the\ (?:text|e-?text|edition|transcription)\b.{{0,30}}
      | (?:typographical|typographic|printer{_APOSTROPHE}s)\ errors\ corrected\b.{{0,60}}
      | transcription\ notes?\b.{{0,30}}
    )\W*""",
    re.IGNORECASE | re.VERBOSE,
)
_APPARATUS = re.compile(
    r"\W*(?:the )?(?:abbreviations|bibliography|glossary|vocabulary|errata|corrigenda|addenda|index"
    r"|general index|list of (?:words|names|abbreviations|illustrations|plates|maps|works|books|subscribers))"
    r"\b[^.!?]{0,60}\W*",
    re.IGNORECASE,
)
_NOTES = re.compile(r"\W*(?:the )?(?:footnotes?|endnotes?|notes|fußnoten|anmerkungen)\W*", re.IGNORECASE)
_KEPT = re.compile(
    r"\W*(?:the )?(?:author[’']s |a )?(?:preface|foreword|introduction|introductory|prologue|prolog|prelude"
    r"|proem|advertisement|explanatory|notice|dedication|argument|epigraph|to the reader|induction"
    r"|avant-propos|préface|vorwort|einleitung|dramatis person\w*|characters"
    r"|persons (?:of|in) the (?:play|drama))\b.{0,80}|.{0,60}\bto the (?:\w+ )?reader\W*",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\W*(?:the end|finis|end|fin|ende|the end of the (?:book|story|novel))\W*", re.IGNORECASE)


def is_editorial(para: Para) -> bool:
    """A section that somebody else wrote about the text: translator's preface, transcriber's note."""
    return para.is_short and _EDITORIAL.fullmatch(para.text) is not None


def is_apparatus(para: Para) -> bool:
    """GLOSSARY, BIBLIOGRAPHY, INDEX: to look things up in, not to read."""
    return para.is_short and len(para.text) <= 80 and _APPARATUS.fullmatch(para.text) is not None


def is_notes(para: Para) -> bool:
    """FOOTNOTES collected in one place."""
    return para.is_short and _NOTES.fullmatch(para.text) is not None


def is_kept(para: Para) -> bool:
    """PREFACE, PROLOGUE, DRAMATIS PERSONÆ: before the first chapter, and the author's."""
    return para.is_short and _KEPT.fullmatch(para.text) is not None


def is_end(para: Para) -> bool:
    """THE END, FINIS."""
    return len(para.lines) == 1 and _ENDS.fullmatch(para.text) is not None
