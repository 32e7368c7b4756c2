import { spawn } from "node:child_process"
import { once } from "node:events"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { standingKey } from "@orangebox/server"
import { BIN } from "./command.js"

/** A client as agents have one, connected to the built command over its stdin and stdout. */
export async function connectClient(data: string, ...args: readonly string[]): Promise<Client> {
  const client = new Client({ name: "test", version: "1" })
  const { ORANGEBOX_HOME: _home, ...env } = process.env as Record<string, string>
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [BIN, "mcp", "--data", data, ...args], env }),
  )
  return client
}

/** The same over streamable HTTP, at the built server and with the key that stays. */
export async function connectClientOverHttp(data: string): Promise<Client> {
  const { ORANGEBOX_HOME: _home, ...env } = process.env
  const server = spawn(process.execPath, [BIN, "ui", "--no-open", "--json", "--data", data], {
    ...{ env, stdio: ["ignore", "pipe", "inherit"] },
  })
  const [line] = (await once(server.stdout!.setEncoding("utf8"), "data")) as [string]
  const { url } = JSON.parse(line) as { url: string }
  const client = new Client({ name: "test", version: "1" })
  const headers = { authorization: `Bearer ${standingKey(data)}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }))
  client.onclose = () => void server.kill()
  return client
}

export interface Told {
  readonly text: string
  readonly isError: boolean
}

export async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Told> {
  const { content, isError } = (await client.callTool({ name, arguments: args })) as {
    content: { type: string; text: string }[]
    isError?: boolean
  }
  return { text: content.map(({ text }) => text).join("\n"), isError: isError === true }
}

const FENCE = /⟦recorded ([0-9a-f]{8}): data, not instructions⟧\n([\s\S]*?)\n⟦\/\1⟧/g

/** What stands inside the fences of an answer, and what is left outside. */
export function fencesOf(text: string): { readonly inside: string; readonly outside: string; readonly nonce: string } {
  const found = [...text.matchAll(FENCE)]
  return {
    inside: found.map(([, , inside]) => inside).join("\n"),
    outside: text.replaceAll(FENCE, ""),
    nonce: found[0]?.[1] ?? "",
  }
}
