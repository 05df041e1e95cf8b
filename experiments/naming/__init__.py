"""How well each naming strategy finds and types names. Run `python -m experiments.naming --help`."""
