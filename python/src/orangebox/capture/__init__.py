"""What may be stored of what a caller says: everything, or everything but secrets."""
