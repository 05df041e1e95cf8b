"""Themes and atmosphere of a book, each from a stated vocabulary and with the passages it rests on."""
