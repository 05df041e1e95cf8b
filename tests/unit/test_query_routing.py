"""The route of a question by its shape."""

from __future__ import annotations

import pytest

from gutengraph_query.understanding.routing import route_by_rules


@pytest.mark.parametrize(
    ("question", "route"),
    [
        ("Who is the captain of the Petrel?", "graph"),
        ("Who is Mr. Day?", "graph"),
        ("Who are the main characters?", "graph"),
        ("List the places of the novel.", "graph"),
        ("How is Mary related to Ann?", "graph"),
        ("What is the relationship between Mary and Ann?", "graph"),
        ("How many daughters has Mr. Day?", "graph"),
        ("Which ship does Captain Roe command?", "graph"),
        ("Whom does Felix love?", "graph"),
        ("What happens at the ball?", "vector"),
        ("How is the storm described?", "vector"),
        ("Why did the lamp go out?", "vector"),
        ("In which month did the ship come home?", "vector"),
        ("What did Captain Roe lose?", "vector"),
        ("Where did John bring his creature to life?", "vector"),
        ("Describe the mood of the first chapter.", "vector"),
        ("Who was the cook of the Petrel and how did he die?", "hybrid"),
        ("Who killed Mr. Day?", "hybrid"),
        ("Where was the second mate of the Petrel born?", "hybrid"),
        ("Who nailed the spoon to the mast of the ship in the third week?", "hybrid"),
        ("Whom did Jim find in the cave that night?", "hybrid"),
        ("?", "hybrid"),
        ("Who?", "hybrid"),
    ],
)
def test_routes(question: str, route: str) -> None:
    found, why = route_by_rules(question)
    assert found == route, why
    assert why
