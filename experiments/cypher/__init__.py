"""How the prompt for Cypher is best laid out for a model that can write it."""
