"""How many of the events that rules find are true."""
