"""Which names are one person's."""
