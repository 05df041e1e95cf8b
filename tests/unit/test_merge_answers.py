"""From evidence to an answer: by quoting, and by an instruct model whose every word is checked."""

from __future__ import annotations

from typing import Any

from fakes import FakeLLM
from harbour_story import ToyEmbedder

from gutengraph_query.merging.evidence import Draft, Evidence
from gutengraph_query.merging.extract import UNKNOWN, extract, name_list
from gutengraph_query.merging.generate import generate
from gutengraph_query.state import EdgeQuote, GraphHit, PassageHit

TOY = ToyEmbedder()


def passage(n: int, text: str, book: int = 7, *, core: str = "") -> PassageHit:
    return PassageHit(
        chunk_id=f"{book}:{n:06d}", book=book, title="T", chapter=1, start=n * 100, end=n * 100 + len(text), text=text,
        core=core or text, score=1.0,
    )  # fmt: skip


def edge(a: str, said: str, b: str, quote: str, start: int = 0) -> EdgeQuote:
    return EdgeQuote(
        line=f"{a} -[X_OF]-> {b}", book=7, chapter=2, start=start, end=start + len(quote), quote=quote, confidence=1.0,
        sentence=f"{a} {said} {b}.",
    )  # fmt: skip


def hit(answer: str, *edges: EdgeQuote, by: Any = "lookup") -> GraphHit:
    line = edges[0]["line"] if edges else answer
    return GraphHit(by=by, line=line, answer=answer, book=7, score=0.9, edges=list(edges))


CAPTAIN = edge("Tobias Wren", "is captain of", "Kittiwake", "Captain Tobias Wren commanded the Kittiwake", 10)
SISTER = edge("Agnes Pell", "is the sister of", "Tobias Wren", "His sister, Mrs. Agnes Pell", 60)
PARROT = passage(1, "Silas Crane had a parrot that spoke only Danish. He fed it on dried apricots.")
FEVER = passage(2, "Lucy lay ill with the fever. Dr. Marlow sat with her four nights together.")


def quoted(evidence: Evidence, question: str = "What did the parrot eat?", **options: Any) -> Draft:
    told = {" apricots": -0.1, " dried": -0.2, " fed": -0.3, " Silas": -1.0, " x": -9.0}
    model = FakeLLM(logprobs=lambda prompt: {" x": -9.0} if prompt.startswith("Question") else told)
    given = {"llm": model, "embedder": TOY, "total": 1, "counts": False, **options}
    return extract(question, evidence, query=TOY.embed_query, **given)


def test_nothing_found_is_said() -> None:
    assert quoted(Evidence([], [])) == Draft(UNKNOWN, known=False)


def test_names_and_excerpts_each_with_their_passage() -> None:
    evidence = Evidence([], [FEVER, PARROT])
    draft = quoted(evidence)
    assert draft.known
    assert draft.text.startswith("Perhaps Silas Crane [1]")
    assert "“He fed it on dried apricots.” [1]" in draft.text
    assert [(c["n"], c["start"]) for c in evidence.citations()] == [(1, PARROT["start"]), (2, FEVER["start"])]
    assert (draft.calls, draft.completion_tokens, draft.estimated) == (3, 3, True)
    assert draft.model.startswith("embedded:fake")


def test_an_edge_comes_first_and_no_model_is_asked() -> None:
    evidence = Evidence([hit("Tobias Wren", CAPTAIN)], [])
    draft = quoted(evidence)
    assert draft.text == (
        "Tobias Wren is captain of Kittiwake [1]. “Captain Tobias Wren commanded the Kittiwake”"
    )
    assert draft.model == ""
    (citation,) = evidence.citations()
    assert (citation["kind"], citation["chapter"], citation["start"], citation["text"]) == (
        "edge", 2, 10, "Captain Tobias Wren commanded the Kittiwake",
    )  # fmt: skip


def test_with_an_edge_the_passages_only_support() -> None:
    llm = FakeLLM(logprobs={" x": -1.0})
    draft = quoted(Evidence([hit("Silas Crane", SISTER)], [PARROT]), llm=llm)
    assert "Perhaps" not in draft.text
    assert "[2]" in draft.text
    assert llm.logprob_calls == []


def test_what_the_edge_has_quoted_is_not_quoted_again() -> None:
    ship = passage(3, "Captain Tobias Wren commanded the\nKittiwake. She was painted green to the waterline.")
    draft = quoted(
        Evidence([hit("Tobias Wren", CAPTAIN)], [ship]), question="Who is captain of the Kittiwake?"
    )
    assert draft.text.count("commanded") == 1
    assert "“She was painted green to the waterline.” [2]" in draft.text


def test_several_answers_are_a_list_and_long_lists_are_cut() -> None:
    many = [hit(f"Person {n}") for n in range(10)]
    assert quoted(Evidence(many, []), total=52).text == (
        "Person 0, Person 1, Person 2, Person 3, Person 4, Person 5, Person 6, Person 7 +44 more."
    )
    two = [hit("Agnes Pell", SISTER), hit("Lucy", CAPTAIN)]
    assert quoted(Evidence(two, []), total=2).text == "Agnes Pell [1] and Lucy [2]."
    assert quoted(Evidence(two, []), total=2, counts=True).text == "2: Agnes Pell [1] and Lucy [2]."


def test_what_is_stated_comes_apart_from_what_is_likely() -> None:
    sure, unsure = hit("Agnes Pell", SISTER), hit("Lucy", CAPTAIN)
    unsure["score"] = 0.6
    assert quoted(Evidence([sure, unsure], []), total=2).text == "Agnes Pell [1]. Less surely Lucy [2]."
    assert quoted(Evidence([unsure, unsure], []), total=2).text == "Probably Lucy [1] and Lucy [1]."


def test_name_list() -> None:
    assert name_list([], total=0) == ""
    assert name_list(["A"], total=1) == "A"
    assert name_list(["A", "B", "C"], total=3) == "A, B and C"
    assert name_list(list("ABCDEFGH"), total=8).endswith("G and H")


def test_walks_are_told_edge_by_edge_once() -> None:
    walks = [hit("", SISTER, CAPTAIN, by="walk"), hit("", CAPTAIN, by="walk")]
    draft = quoted(Evidence(walks, []))
    assert (
        draft.text == "Agnes Pell is the sister of Tobias Wren [1]. Tobias Wren is captain of Kittiwake [2]."
    )


def test_a_model_without_log_probabilities_still_quotes() -> None:
    draft = quoted(Evidence([], [PARROT]), llm=FakeLLM())
    assert "Perhaps" not in draft.text
    assert "apricots" in draft.text


# --- by an instruct model ---
def written(reply: Any, evidence: Evidence | None = None) -> Draft | None:
    llm = FakeLLM([reply], instruct=True)
    return generate("Who is captain?", evidence or Evidence([hit("Tobias Wren", CAPTAIN)], [PARROT]), llm=llm)


def test_the_model_sees_numbered_evidence_with_lines_and_quotes() -> None:
    llm = FakeLLM(["Tobias Wren [1]."], instruct=True)
    generate("Who is captain?", Evidence([hit("Tobias Wren", CAPTAIN)], [PARROT]), llm=llm)
    prompt = llm.calls[0]["prompt"]
    assert "[1] Tobias Wren -[X_OF]-> Kittiwake: “Captain Tobias Wren commanded the Kittiwake”" in prompt
    assert "[2] Silas Crane had a parrot" in prompt
    assert "NOT IN EVIDENCE" in llm.calls[0]["system"]


def test_a_model_that_cannot_read_the_neighbours_sees_the_chunks_alone() -> None:
    around = "Gulls cried over the mole. " * 300
    wide = passage(1, f"{around}Tobias Wren was captain.", core="Tobias Wren was captain.")
    for context, neighbours in ((8192, True), (2048, False)):
        llm = FakeLLM(["Tobias Wren [1]."], instruct=True, context_tokens=context)
        draft = generate("Who is captain?", Evidence([], [wide]), llm=llm)
        prompt = llm.calls[0]["prompt"]
        assert ("Gulls cried" in prompt) == neighbours
        assert "[1] " in prompt
        assert "Tobias Wren was captain." in prompt
        assert draft is not None
        assert draft.text == "Tobias Wren [1]."


def test_an_answer_that_stands_in_the_evidence_is_kept() -> None:
    draft = written("Captain Wren commands the Kittiwake [1]. Silas fed a parrot [2].")
    assert draft is not None
    assert draft.text == "Captain Wren commands the Kittiwake [1]. Silas fed a parrot [2]."
    assert (draft.known, draft.calls, draft.estimated) == (True, 1, False)


def test_a_name_that_is_not_in_the_evidence_is_caught() -> None:
    draft = written("Tobias Wren is captain [1]. He was helped by Captain Nemo [2].")
    assert draft is not None
    assert draft.text == "Tobias Wren is captain [1]."
    assert "Captain Nemo" in draft.notes[0]
    assert written("It is Captain Nemo [1].") is None


def test_numbers_that_point_nowhere_go_and_missing_ones_come() -> None:
    draft = written("Tobias Wren commanded the Kittiwake [9]. The parrot spoke only Danish.")
    assert draft is not None
    assert draft.text == "Tobias Wren commanded the Kittiwake. [1] The parrot spoke only Danish. [2]"


def test_not_in_evidence_is_i_do_not_know() -> None:
    draft = written("NOT IN EVIDENCE.")
    assert draft is not None
    assert (draft.text, draft.known, draft.calls) == (UNKNOWN, False, 1)
    empty = generate("Who?", Evidence([], []), llm=FakeLLM(instruct=True))
    assert empty == Draft(UNKNOWN, known=False)


def test_a_cut_reply_ends_with_its_last_whole_sentence() -> None:
    draft = written(("Tobias Wren is captain [1]. And the parrot of Mr. Crane is very", "length"))
    assert draft is not None
    assert draft.text == "Tobias Wren is captain [1]."
