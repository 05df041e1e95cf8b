"""Every knob, its default, and where the default comes from.

What the studies found to serve a model stands in place of a default, never of what is set (`llm/profile.py`).
All are environment variables with the prefix `GUTENGRAPH_`, or lines of a `.env` file in the working folder.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from gutengraph_core.errors import SettingsError
from gutengraph_core.library import Library
from gutengraph_core.llm.profile import Layout, Style

LIVE_SITE = "https://www.gutenberg.org"


class Settings(BaseSettings):
    """The whole configuration. Construct with keyword arguments in tests, `load_settings()` elsewhere."""

    model_config = SettingsConfigDict(
        env_prefix="GUTENGRAPH_",
        env_file=".env",
        # `GUTENGRAPH_MIRROR=` is how a shell or a .env says that it is not set.
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        ignored_types=(cached_property,),
    )

    # --- where things are ---
    home: Path = Path("data")
    """Data folder: all that is built lies here."""
    mirror: str = LIVE_SITE
    """Where books come from: `https://`, `http://`, `file://` or a folder, in gutenberg.org's layout."""
    catalogue: Path | None = None
    """A folder or archive of RDF files, for 'top N'."""
    allow_copyrighted: bool = False
    """Build books that the catalogue marks as copyrighted; a licence is then the reader's own affair."""

    # --- models ---
    llm: str = "embedded"
    """`embedded` | `ollama:<model>` | `openai:<model>@<base_url>`. What builds the graph."""
    query_llm: str | None = None
    """What routes and merges answers; default: `llm`."""
    compiled_prompts: Path | None = None
    """Folder of prompts that `experiments/dspy` compiled for the model in use; one for another model is refused. With
    one for names, `naming` auto means the list, which alone can use it."""
    ollama_host: str = "http://127.0.0.1:11434"
    """Ollama's own default address."""
    openai_api_key: str = Field(default="", repr=False)
    """Bearer token of an OpenAI-compatible server, if it wants one."""
    embedding: str = "embedded"
    """`embedded` (MiniLM, 384) | `nomic-ai/nomic-embed-text-v1.5` | `tei:<url>` | `ollama:<model>`."""
    threads: int = Field(default=0, ge=0)
    """Threads of the embedded models; 0: as many as there are cores for this process."""
    llm_timeout_s: float = Field(default=300.0, gt=0)
    """Longest wait for one reply. A 4B model on a CPU writes about 5 tokens a second; caps end at 1,024."""

    # --- text ---
    chunk_tokens: int = Field(default=300, ge=64)
    """Target size of a chunk; lowered to what the embedder takes (254 for the embedded MiniLM)."""
    chunk_overlap: int = Field(default=30, ge=0)
    """Tokens that two neighbouring chunks share: a tenth, so that a border sentence is whole in one."""
    chunk_strategy: Literal["recursive", "paragraph", "sentence", "semantic"] = "recursive"
    """Where a chunk that is full is cut (`text/chunking.py`). Over five novels, 75 questions, `experiments.chunking` finds
    no strategy or overlap better by more than chance; 250 tokens lead 150 and 100 in the mean of all four figures."""
    window_words: int = Field(default=500, ge=20)
    """Words in an extraction window. The context cliff of small models lies between 500 and 1,000 words."""

    # --- extraction ---
    naming: Literal["auto", "cloze", "label", "list"] = "auto"
    """How names are typed; `auto`: cloze wherever the backend gives log-probabilities, else list."""
    naming_max_calls: int = 500
    """Most calls of the cloze for one book, frequent names first: about 60 s on two cores. Most novels take 100
    to 450; one with a thousand names leaves out single words that it says once."""
    list_reply_tokens: int = Field(default=256, ge=16)
    """Reply cap of a names list. Of 42 free lists 18 reached 64 tokens, 7 reached 128, 2 reached 256."""
    list_layout: Layout = "flat"
    """How a window stands in the prompt of a names list (`experiments/sweeps` compares the three)."""
    list_prompt: Style = "terse"
    """How a names list is asked for (`experiments/sweeps` compares both)."""
    min_windows: int = Field(default=3, ge=1)
    """A person named in fewer windows of the text is minor at most. 84 of 86 main gold characters reach 3."""
    pilot_windows: int = Field(default=5, ge=0, le=50)
    """Windows extracted before the rest, spread over the book; 0: none. One in a hundred of a novel."""
    pilot_calls: int = Field(default=15, ge=1)
    """Most calls of the cloze in the pilot, three times the names that five windows must give: 2 s on two cores."""
    pilot_min_names: float = Field(default=1.0, ge=0)
    """Fewer names a window than this park the book: four books that are worth it gave 8 (a drama) to 50
    (experiments/pilot)."""
    pilot_max_fail_rate: float = Field(default=0.8, ge=0, le=1)
    """More unreadable replies than this park the book: four windows of five would be lost, and be asked again
    at every run."""
    structural_repair: bool = True
    """Mend replies where nothing is lost or invented (fences, envelopes, cut lists)."""

    # --- index ---
    index_min_rows: int = 100_000
    """Below this a flat scan is used: 20,000 rows scan in 10 ms, so an index pays from about 100,000."""

    # --- answers ---
    store: Literal["local", "s3"] = "local"
    top_k: int = Field(default=5, ge=1, le=100)
    """Passages given to the merge."""
    passage_search: Literal["hybrid", "vector"] = "hybrid"
    """How passages are found: by vectors and full text together, or by vectors alone."""
    passage_neighbours: int = Field(default=1, ge=0, le=5)
    """Chunks shown on either side of each that was found: a chunk is cut to what the embedder takes, an answer
    often stands just before or after it. `python -m experiments.retrieval` measures 0, 1 and 2."""
    max_hops: int = Field(default=2, ge=1, le=4)
    """Longest walk, in edges. With the embedded model one to four hops give the same right answers but for chance
    (experiments/walk); two hold the answer oftener than one, and cost half of what three do."""
    hub_degree: int = Field(default=100, ge=1)
    """Nodes with more distinct neighbours are not walked through (never the entry node)."""
    path_threshold: float | None = None
    """Cosine a path must reach. Not set: what is known of the embedder, for MiniLM .43
    (`embedding/thresholds.py`; experiments/walk measures it)."""
    passage_threshold: float = 0.40
    """Cosine the nearest passage must reach, for MiniLM: it is .415 or more for each of 75 questions about five
    novels, and under .40 for 12 of 15 foreign ones (the others name people whom no passage names)."""
    max_paths: int = Field(default=10, ge=1)

    # --- the server ---
    host: str = "127.0.0.1"
    """Address that `gutengraph serve` listens on; any other than loopback needs `api_token`."""
    port: int = Field(default=8000, ge=0, le=65535)
    """0: a free one."""
    api_token: str = Field(default="", repr=False)
    """Bearer token that every request for data must carry, wherever the server listens."""
    allowed_hosts: str = ""
    """Names, comma-separated, under which a loopback server may be called besides localhost: those of a proxy.
    Any other Host header is refused, so that no site can reach the server by a name of its own."""
    requests_per_minute: int = Field(default=600, ge=1)
    """For each client address, in bursts of a tenth of it at most. A reader's page makes about ten a screen."""
    answers_at_once: int = Field(default=4, ge=1)
    """Questions under way; the model takes one call at a time, but looking up does not wait for it."""
    answers_waiting: int = Field(default=100, ge=0)
    """Questions that may wait their turn; one more is told to come back."""
    answer_timeout_s: float = Field(default=600.0, gt=0)
    """Longest wait for an answer, its turn included: twice `llm_timeout_s`."""

    # --- S3 ---
    s3_uri: str | None = None
    """`s3://bucket/prefix`."""
    s3_endpoint: str | None = None
    """Another S3 than Amazon's."""
    s3_cache_mb: int = Field(default=2_048, ge=0)
    """With `store` s3: a table up to this size is kept on the local disk (about 500 novels); a larger one is read
    in the bucket, its indices kept in as much memory."""

    # --- runs ---
    step_retries: int = Field(default=2, ge=0)
    """Times a step is tried again by Dagster after an error that may pass by itself."""
    step_retry_delay_s: float = 10.0
    """Seconds before the first of them; doubled each time. The source has retried for 7 s by then."""

    model_retries: int = Field(default=4, ge=0)
    """The same after an error of a model's server: 10, 20, 40 and 80 s, in which one restarts and loads a model."""
    inbox_settle_s: float = Field(default=5.0, ge=0)
    """A file in the inbox is read once it has not changed for so long: it may still be being copied."""
    watch_list: Path | None = None
    """A file of Gutenberg ids; those that appear in it are added and built."""
    webhook: str = Field(default="", repr=False)
    """Address that gets a summary of every run that ends, as JSON by POST; '': none."""
    one_gpu: bool = False
    """Language model and embedder share one card (6 GB): their steps then take turns in one pool, `gpu`."""
    book_wait_s: float = Field(default=3600.0, ge=0)
    """Longest wait for a book that another run is building: a novel takes minutes with the embedded model, an
    hour with a large one. What that run has made is then not made again."""

    # --- checks ---
    max_parse_fail_rate: float = 0.10
    """Above this a book's names rest on too few windows; free lists of a 270M model fail far more."""
    max_truncation_rate: float = 0.10
    min_grounding_rate: float = 0.5
    """Below this a model makes up more names than it reads."""
    min_cast: int = 1
    """Fewer cast than this in a work of fiction: the filter or the model has failed."""
    max_drop_rate: float = 0.95
    """More persons dropped than this: the threshold does not suit the book."""
    min_persons: int = 20
    """Of fewer persons than this no share is judged: at .95 a single one would decide."""
    max_drift: float = Field(default=0.3, gt=0)
    """A book's names or relations that change by more than this share, or untyped relations by this much of all,
    are worth a look: more than the change of a rule should do, less than another model does."""
    norm_tolerance: float = 0.0001
    """How far a vector's length may be from 1: a thousand times float32's rounding."""
    min_recall: float = 0.8
    """recall@10 of an index against brute force; refined PQ reached .87 on 20,000 rows."""

    @field_validator("home")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @property
    def library(self) -> Library:
        """The files under `home`."""
        return Library(self.home)

    @property
    def answering_llm(self) -> str:
        """The LLM specification that answers questions."""
        return self.query_llm or self.llm


def load_settings() -> Settings:
    """Read the environment. Raises SettingsError naming the variable that is wrong."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = "GUTENGRAPH_" + "_".join(str(part) for part in first["loc"]).upper()
        raise SettingsError(
            f"{name} is not usable: {first['msg']}.", remedy=f"Correct or unset {name}."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f".env cannot be read ({error}).",
            remedy="Save it as UTF-8 text that you may read, or move it away.",
        ) from None
