"""Questions without a right answer, asked to see what each brain brings: two a gold novel."""

from __future__ import annotations

ATMOSPHERE: dict[int, tuple[str, ...]] = {
    84: (
        "What is the atmosphere of Frankenstein, and how do its characters contribute to it?",
        "How do the mountains and the ice weigh on the people of Frankenstein?",
    ),
    120: (
        "What is the atmosphere of Treasure Island, and how do its characters contribute to it?",
        "Who makes the inn at the beginning of Treasure Island a place of fear, and how?",
    ),
    1342: (
        "What is the atmosphere of Pride and Prejudice, and how do its characters contribute to it?",
        "Which people of Pride and Prejudice make its balls and visits uneasy, and how?",
    ),
    1661: (
        "What is the atmosphere of The Adventures of Sherlock Holmes, and how do its characters contribute to it?",
        "Who makes Baker Street what it is in The Adventures of Sherlock Holmes?",
    ),
    2701: (
        "What is the atmosphere of Moby Dick, and how do its characters contribute to it?",
        "How do the mates and harpooneers colour life aboard the ship in Moby Dick?",
    ),
}
