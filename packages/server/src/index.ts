// What was recorded, for agents: the Model Context Protocol

export { MCP_CLIENTS, type McpClient } from "./mcp/clients.js"
export { createMcpServer, type McpOptions } from "./mcp/mcp-server.js"
export { serveMcpOverStdio } from "./mcp/stdio.js"

// The HTTP API and the web UI

export { askInProcess, type InProcess } from "./ask-in-process.js"
export { standingKey } from "./guard/key.js"
export { type OtlpReceiver, type RunningServer, type ServeOptions, startServer } from "./serve.js"
export { readServeFile, type ServeFile } from "./serve-file.js"
