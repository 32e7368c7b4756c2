VERSION = "0.1.0"
"""Of this package, and of the recorder that its journals name."""
