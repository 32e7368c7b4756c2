import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { type Act, type ScriptedRun, scriptRun } from "./script-run.js"

/** Repeated runs of the same tasks, kept beside the repository and never in it. */
const FOLDER = new URL("../../../../../shared/corpora/trajectories/mini-swe-agent/", import.meta.url).pathname

export const hasTrajectories = existsSync(FOLDER)

export interface Attempt {
  readonly arm: string
  readonly run: (id: string) => ScriptedRun
}

/** Task → its attempts, each a run of the smallest kind: what the model said, what it called, what came back. */
export function readTrajectories(): ReadonlyMap<string, readonly Attempt[]> {
  const tasks = new Map<string, Attempt[]>()
  for (const arm of readdirSync(FOLDER).sort()) {
    for (const task of readdirSync(join(FOLDER, arm)).sort()) {
      for (const file of readdirSync(join(FOLDER, arm, task)).filter((name) => name.endsWith(".traj.json.gz"))) {
        const { messages } = JSON.parse(gunzipSync(readFileSync(join(FOLDER, arm, task, file))).toString("utf8")) as {
          messages: Message[]
        }
        const attempts = tasks.get(task) ?? []
        attempts.push({ arm, run: (id) => runOf(messages, id) })
        tasks.set(task, attempts)
      }
    }
  }
  return tasks
}

interface Message {
  readonly role: string
  readonly content: string | null
  readonly tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[]
  readonly tool_call_id?: string
}

function runOf(messages: readonly Message[], id: string): ScriptedRun {
  const asked = new Map<string, { name: string; args: Record<string, unknown> }>()
  const acts: Act[] = []
  for (const message of messages) {
    if (message.role === "assistant") {
      const calls = (message.tool_calls ?? []).map((call) => {
        const made = { name: call.function.name, args: argumentsOf(call.function.arguments) }
        asked.set(call.id, made)
        return made
      })
      acts.push({ does: "model", says: message.content ?? "", calls })
    } else if (message.role === "tool") {
      const call = asked.get(message.tool_call_id ?? "") ?? { name: "unknown", args: {} }
      acts.push({
        does: "tool",
        ...call,
        result: message.content ?? "",
        effect: isWriting(call.args) ? "write" : "read",
      })
    }
  }
  const input = messages.find(({ role }) => role === "user")?.content ?? ""
  const output = messages.findLast(({ role }) => role === "exit")?.content ?? ""
  return scriptRun(acts, { id, input: input.slice(0, 400), output })
}

function argumentsOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return { text }
  }
}

/** A rough reading of shell commands, good enough to tell looking from changing. */
const isWriting = (args: Record<string, unknown>): boolean =>
  /sed -i|git (?:apply|commit|checkout|stash)|\b(?:mv|rm|cp|patch|tee|touch|mkdir)\s|(?<![0-9&<>-])>{1,2}(?![&=])|\.write\(/.test(
    String(args["command"] ?? ""),
  )
