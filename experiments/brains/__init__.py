"""What each brain contributes to one question: vector, graph and hybrid answers to the same questions."""
