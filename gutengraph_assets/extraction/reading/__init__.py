"""What an instruct model makes of a book: portraits of its cast, and of each chapter its events, themes and atmosphere.

A base model is asked none of it: `read_book` then gives nothing, and rules say what they can.
"""
