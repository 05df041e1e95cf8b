"""Who the cast really is: a hand check, and the precision that it gives. Run `python -m experiments.cast --help`."""
