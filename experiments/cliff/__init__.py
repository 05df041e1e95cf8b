"""How long a window a model can bear, by how much it is asked to say of each name."""
