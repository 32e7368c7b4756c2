"""One line format, appended to: byte for byte what the TypeScript journal writes."""
