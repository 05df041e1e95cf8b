#!/usr/bin/env bash
# Build one book end to end and ask it one question three ways. Called by `make demo`.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${BOOK:=0}"
if [ "$BOOK" = 0 ]; then
  # The sample book is its own little mirror, so that the demo needs no network.
  export GUTENGRAPH_MIRROR="$PWD/data/sample"
  : "${QUESTION:=Who was the second mate of the Fair Penitent?}"
else
  : "${QUESTION:=Who are the main characters, and how are they related?}"
fi
gutengraph add "$BOOK"
gutengraph build "$BOOK"
printf '\n== The cast ==\n';            gutengraph characters "$BOOK" --limit 12
printf '\n== Five relations ==\n';      gutengraph relations "$BOOK" --limit 5
printf '\n== One question, three ways ==\n'
gutengraph compare "$QUESTION" --book "$BOOK"
cat <<TXT

Where to look next
  gutengraph ask "…" --book $BOOK        one answer, with its evidence
  gutengraph characters $BOOK            the whole cast
  gutengraph relations $BOOK             every relation with its sentence
  make dev                          the lineage, the checks and the run itself, in Dagster's UI on http://127.0.0.1:3000
  gutengraph doctor                 what this machine has, and what a larger model would need
TXT
