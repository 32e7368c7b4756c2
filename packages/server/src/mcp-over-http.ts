import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"
import { createMcpServer, type McpOptions } from "./mcp/mcp-server.js"
import type { Reply } from "./reply.js"

/** One request of an MCP client: each is answered by itself, so nothing is kept between two and none can be taken over. */
export async function answerMcp(
  options: McpOptions,
  asked: { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string },
): Promise<Reply> {
  const server = createMcpServer(options)
  // Without a session id every request stands alone.
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  try {
    await server.connect(transport)
    const { url, headers, body } = asked
    const response = await transport.handleRequest(new Request(url, { method: "POST", headers, body }))
    return {
      status: response.status,
      headers: { "content-type": response.headers.get("content-type") ?? "application/json" },
      body: await response.text(),
    }
  } finally {
    await server.close()
  }
}
