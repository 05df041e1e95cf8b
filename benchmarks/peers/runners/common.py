"""The job, the output and the clocks of a runner; standard library only."""

import json
import os
import resource
import sys
import time
from importlib.metadata import version
from urllib.request import Request, urlopen


def load_job():
    """The job that the command line names."""
    with open(sys.argv[1], encoding="utf-8") as file:
        return json.load(file)


class Output:
    """What was found so far, written whole at each `save`."""

    def __init__(self, job, peer, package):
        self._path = job["out"]
        self.found = {"peer": peer, "version": version(package), "stage": "started", "answer_seconds": []}
        self.save()

    def save(self, **more):
        usage = [
            resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        ]
        self.found.update(more, peak_mb=round(max(usage) / 1024, 1))
        with open(self._path + ".part", "w", encoding="utf-8") as file:
            json.dump(self.found, file, ensure_ascii=False, indent=1)
        os.replace(self._path + ".part", self._path)

    def answer(self, key, began, text):
        self.found["answer_seconds"].append(round(time.perf_counter() - began, 2))
        self.save(answers={**self.found.get("answers", {}), key: str(text)})


def post(url, document, key=""):
    """The JSON that a server answers to a JSON document."""
    headers = {"Content-Type": "application/json"}
    if key:
        headers["Authorization"] = "Bearer " + key
    request = Request(url, json.dumps(document).encode(), headers)
    with urlopen(request, timeout=600) as response:
        return json.load(response)


def chat(job, prompt, system=None, history=()):
    """One reply of the served model."""
    messages = [{"role": "system", "content": system}] if system else []
    messages += [*history, {"role": "user", "content": prompt}]
    body = {
        "model": job["llm_model"],
        "messages": messages,
        "max_tokens": job["reply_tokens"],
        "temperature": 0,
    }
    return post(job["llm_url"] + "/chat/completions", body, job["llm_key"])["choices"][0]["message"][
        "content"
    ]


def embed(job, texts):
    """Vectors of texts, cut to what the embedder takes."""
    vectors = []
    for at in range(0, len(texts), 16):
        vectors += post(job["embed_url"] + "/embed", {"inputs": texts[at : at + 16], "truncate": True})
    return vectors
