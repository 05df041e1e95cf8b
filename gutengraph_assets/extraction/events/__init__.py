"""What happens in a book: events that the text names, or states in so many words of somebody of the cast."""
