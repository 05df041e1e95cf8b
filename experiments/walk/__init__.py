"""How far to walk the graph from a question, how near a path must be, and how to tell it to a model."""
