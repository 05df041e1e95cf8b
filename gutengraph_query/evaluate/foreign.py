"""Ten questions whose answer is in no novel of the public domain: the right answer is 'I don't know'.

Half of them name people of other books, half name nobody; written before any of them was asked.
"""

from __future__ import annotations

FOREIGN: tuple[str, ...] = (
    "Who was the first man to walk on the Moon?",
    "How does a jet engine produce thrust?",
    "Which team won the football World Cup in 1998?",
    "How many chromosomes does a human cell have?",
    "What does Hercule Poirot find on the train?",
    "Who teaches Harry Potter to fly a broom?",
    "Where does Bilbo Baggins find the ring?",
    "What is the boiling point of liquid nitrogen?",
    "Which programming language runs in a web browser?",
    "Who directed the film about the sinking of the Titanic?",
)
