"""Secrets in text, values, bytes and streams: the rules of `rules.json`, interpreted as the TypeScript recorder interprets them."""
