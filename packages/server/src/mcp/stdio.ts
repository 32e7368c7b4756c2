import { once } from "node:events"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { createMcpServer, type McpOptions } from "./mcp-server.js"

/** Serves one client over stdin and stdout, until it closes them. */
export async function serveMcpOverStdio(options: McpOptions): Promise<void> {
  const server = createMcpServer(options)
  await server.connect(new StdioServerTransport())
  await once(process.stdin, "close")
  await server.close()
}
