"""Where an agent meets the world: HTTP clients, tools, MCP, logging. Each is imported by name, and only where its library is installed."""
