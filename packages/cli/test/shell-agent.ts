import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { answerMessage, type ModelServer, startModelServer } from "./model-server.js"

/** A model that follows a script: one shell command for each call, and then it is done. */
export interface ScriptedModel extends ModelServer {
  /** What every request so far said in its last message. */
  readonly heard: string[]
}

/** One line for each call, or what makes them of the request. */
export type Script = readonly ScriptLine[] | ((request: string) => readonly ScriptLine[])

/** A command, several at once, or what the model says when there is nothing left to do. */
export type ScriptLine = string | readonly string[] | { readonly says: string }

interface Message {
  readonly role: string
  readonly content: string | readonly { readonly content?: string; readonly text?: string }[]
}

/**
 * It thinks until the recorder has looked at the work tree, as a real model would by being slow: `looks` is the data folder in which every
 * look leaves a line.
 */
export async function startScriptedModel(script: Script, looks?: string): Promise<ScriptedModel> {
  const heard: string[] = []
  const server = await startModelServer(async (body, response) => {
    const looked = countLooks(looks)
    const { model, messages } = JSON.parse(String(body)) as { model: string; messages: Message[] }
    const last = messages.at(-1)!.content
    heard.push(typeof last === "string" ? last : last.map((part) => part.content ?? part.text ?? "").join("\n"))
    const lines = typeof script === "function" ? script(String(body)) : script
    const line = lines[messages.filter(({ role }) => role === "assistant").length] ?? { says: "done" }
    for (let tries = 0; looks !== undefined && tries < 200 && countLooks(looks) === looked; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    const said = typeof line === "object" && "says" in line ? line.says : undefined
    const commands = typeof line === "string" ? [line] : "says" in line ? [] : line
    const id = (at: number): string => `toolu_${messages.length}_${at}`
    const content =
      said === undefined
        ? commands.map((command, at) => ({ type: "tool_use", id: id(at), name: "bash", input: { command } }))
        : [{ type: "text", text: said }]
    const stop_reason = commands.length > 0 ? "tool_use" : "end_turn"
    answerMessage(response, { id: `msg_${heard.length}`, model, content, stop_reason })
  })
  return { ...server, heard }
}

function countLooks(data: string | undefined): number {
  if (data === undefined) return 0
  try {
    const files = readdirSync(join(data, "journal")).filter((name) => name.endsWith(".ndjson"))
    const text = files.map((name) => readFileSync(join(data, "journal", name), "utf8")).join("")
    return text.split('"at_step":').length
  } catch {
    // No journal yet.
    return 0
  }
}

/** An agent with a shell: it does what the model says, and tells it what came out. */
export const SHELL_AGENT = `
import { execSync } from "node:child_process"
const messages = [{ role: "user", content: "work on the files" }]
const tools = [{ name: "bash", description: "runs a command", input_schema: { type: "object" } }]
for (;;) {
  const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model: process.env.AGENT_MODEL ?? "claude-x", max_tokens: 64, tools, messages }),
  })
  if (!response.ok) { console.log("refused with " + response.status); process.exit(9) }
  const { content } = await response.json()
  messages.push({ role: "assistant", content })
  const calls = content.filter(({ type }) => type === "tool_use")
  if (calls.length === 0) { console.log(content[0].text); break }
  const results = calls.map(({ id, input }) => {
    let output
    try {
      output = execSync(input.command, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
    } catch (error) {
      output = "failed: " + error.status
    }
    return { type: "tool_result", tool_use_id: id, content: output }
  })
  messages.push({ role: "user", content: results })
}
`

export const shellAgent: readonly string[] = [process.execPath, "--input-type=module", "-e", SHELL_AGENT]
