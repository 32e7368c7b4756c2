"""Shapes that cross a process or a disk: JSON as the readers compare it, hashes, ids, attributes, errors."""
