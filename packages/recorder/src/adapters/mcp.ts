import { mcpSignature } from "@orangebox/dialects"
import type { Capture } from "../capture/capture.js"
import { safeStringify } from "../safe-stringify.js"
import type { Step, ToolCall, ToolStep } from "../step.js"

/** What is used of an MCP client; the official SDK's `Client` is one. */
export interface McpClientLike {
  // biome-ignore lint/suspicious/noExplicitAny: the parameters are the client's own, and pass through as they are.
  callTool?(params: any, ...rest: any[]): Promise<unknown>
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readResource?(params: any, ...rest: any[]): Promise<unknown>
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  getPrompt?(params: any, ...rest: any[]): Promise<unknown>
  getServerVersion?(): { readonly name?: string; readonly version?: string } | undefined
}

export interface McpRecording {
  /** The id of the model's tool call that this answers: `recordMcpClient(client, step, { callId: block.id }).callTool(…)`. */
  readonly callId?: string
}

/**
 * The same client, whose `callTool`, `readResource` and `getPrompt` are recorded as tool steps below the given one, named after the tool,
 * with the server's name and whether it answered with an error.
 */
export function recordMcpClient<C extends McpClientLike>(client: C, step: Step, recording: McpRecording = {}): C {
  const recorded = new Map<PropertyKey, unknown>()
  for (const [key, method] of Object.entries(METHODS)) {
    const original: unknown = Reflect.get(client, key)
    if (typeof original !== "function") continue
    recorded.set(key, (...args: readonly unknown[]) =>
      recordCall(
        client,
        step,
        recording,
        method,
        args,
        () => Reflect.apply(original, client, args) as Promise<unknown>,
      ),
    )
  }
  return new Proxy(client, {
    get(target, key) {
      if (recorded.has(key)) return recorded.get(key)
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== "function") return value
      // Bound, because a client with private state does not work through a proxy.
      const bound: unknown = value.bind(target)
      recorded.set(key, bound)
      return bound
    },
  })
}

const METHODS = { callTool: "tools/call", readResource: "resources/read", getPrompt: "prompts/get" } as const
type Method = (typeof METHODS)[keyof typeof METHODS]

async function recordCall(
  client: McpClientLike,
  step: Step,
  { callId }: McpRecording,
  method: Method,
  args: readonly unknown[],
  run: () => Promise<unknown>,
): Promise<unknown> {
  const params = (args[0] ?? {}) as { name?: unknown; arguments?: unknown }
  const isTool = method === "tools/call"
  const server = serverOf(client)
  const timeoutMs = timeoutOf(args)
  const asked: ToolCall = {
    name: isTool && typeof params.name === "string" ? params.name : method,
    args: isTool ? (params.arguments ?? {}) : params,
    ...(server?.version === undefined ? {} : { version: server.version }),
    ...(callId === undefined ? {} : { callId }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(isTool ? {} : { effect: "read" }),
    signature: mcpSignature(method, comparableIn(step, safeStringify(params))),
    attributes: { mcp_method: method, ...(server?.name === undefined ? {} : { mcp_server: server.name }) },
  }
  if (step.isReplaying) return step.tool(asked, run)
  const call = step.startTool(asked)
  let result: unknown
  try {
    result = await run()
  } catch (err) {
    call.endTool({
      err,
      ...((err as { code?: unknown } | null)?.code === REQUEST_TIMEOUT ? { status: "timeout" } : {}),
    })
    throw err
  }
  endWith(result, call)
  return result
}

/** Where a recorder is at work, its capture mode says what two calls are compared by. */
function comparableIn(step: Step, text: string): string {
  return (step as { readonly capture?: Capture }).capture?.comparable(text) ?? text
}

/** JSON-RPC code of the SDK's own time limit. */
const REQUEST_TIMEOUT = -32001

/** A tool that failed answers all the same, with `isError`: the answer is kept, and the step is an error. */
function endWith(result: unknown, call: ToolStep): void {
  const { isError, content } = (result ?? {}) as { isError?: unknown; content?: unknown }
  if (isError !== true) call.endTool({ result })
  else call.endTool({ result, err: { name: "McpToolError", message: textOf(content) } })
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return "the tool answered with an error"
  const texts = content.flatMap((part: { text?: unknown } | null) =>
    typeof part?.text === "string" ? [part.text] : [],
  )
  return texts.join("\n")
}

function serverOf(client: McpClientLike): { readonly name?: string; readonly version?: string } | undefined {
  try {
    return client.getServerVersion?.()
  } catch {
    return undefined
  }
}

function timeoutOf(args: readonly unknown[]): number | undefined {
  const { timeout } = (args.at(-1) ?? {}) as { timeout?: unknown }
  return typeof timeout === "number" && timeout >= 0 ? timeout : undefined
}
