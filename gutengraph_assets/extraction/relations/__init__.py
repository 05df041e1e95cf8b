"""Relations between people and places by the text's own grammar: each family of patterns with its precision."""
