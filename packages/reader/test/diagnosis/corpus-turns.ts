import { filesBelow, readGz } from "../../../dialects/test/corpus/cassette.js"

/** One thing of a conversation: what a person said, what the model said and asked for, or what a tool gave back. */
export type Turn =
  | { readonly by: "person"; readonly text: string }
  | { readonly by: "model"; readonly text: string; readonly calls: readonly Call[] }
  | { readonly by: "tool"; readonly id: string; readonly text: string; readonly isError: boolean }

export interface Call {
  readonly id: string
  readonly name: string
  readonly args: unknown
}

/** A request of a person and everything that was done about it. */
export interface Session {
  readonly name: string
  readonly turns: readonly Turn[]
}

type Json = Record<string, unknown>
const record = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {})
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.map(record) : [])
const text = (value: unknown): string => (typeof value === "string" ? value : "")

/** Conversations that others published, none of them labelled as failed: transcripts of coding agents, trajectories, evaluation logs. */
export function corpusSessions(): readonly Session[] {
  return [
    ...filesBelow("transcripts", ".jsonl.gz").map((file) => named(file, lineTurns(linesOf(file)))),
    ...filesBelow("trajectories/mini-swe-agent", ".traj.json.gz").map((file) =>
      named(file, chatTurns(list(record(JSON.parse(readGz(file)))["messages"]))),
    ),
    ...filesBelow("trajectories/swe-agent", ".traj.gz").map((file) =>
      named(file, actionTurns(list(record(JSON.parse(readGz(file)))["trajectory"]))),
    ),
    ...filesBelow("inspect-logs", ".json.gz").flatMap((file) =>
      list(record(JSON.parse(readGz(file)))["samples"]).map((sample) =>
        named(file, chatTurns(list(sample["messages"]))),
      ),
    ),
  ].flatMap(({ name, turns }) => requestsIn(turns).map((one, at) => ({ name: `${name} ${at + 1}`, turns: one })))
}

const named = (file: string, turns: readonly Turn[]): Session => ({ name: file.split("/").slice(-2).join("/"), turns })

function linesOf(file: string): Json[] {
  return readGz(file)
    .split("\n")
    .flatMap((line) => {
      try {
        return [record(JSON.parse(line))]
      } catch {
        return []
      }
    })
}

/** What a person asked for and what came of it; a request that no model answered is none. */
function requestsIn(turns: readonly Turn[]): readonly (readonly Turn[])[] {
  const requests: Turn[][] = []
  let isAnswered = true
  for (const turn of turns) {
    if (turn.by === "person" && isAnswered) {
      requests.push([])
      isAnswered = false
    }
    if (turn.by === "model") isAnswered = turn.calls.length === 0
    requests.at(-1)?.push(turn)
  }
  return requests.filter((request) => request.some(({ by }) => by === "model"))
}

/** Transcripts of Claude Code, Codex and pi, line by line. */
const lineTurns = (lines: readonly Json[]): readonly Turn[] =>
  lines.flatMap((line) => {
    if (line["isSidechain"] === true) return []
    const message = record(line["payload"] ?? line["message"])
    if (message["type"] === "function_call")
      return [modelTurn("", [callOf(message["call_id"], message["name"], parsed(message["arguments"]))])]
    if (message["type"] === "function_call_output")
      return [toolTurn(message["call_id"], text(message["output"]) || JSON.stringify(message["output"] ?? ""), false)]
    if (message["role"] === "toolResult")
      return [toolTurn(message["toolCallId"], wordsOf(message["content"]), message["isError"] === true)]
    if (message["role"] === "assistant") {
      if (message["stopReason"] === "aborted") return []
      const calls = list(message["content"])
        .filter(({ type }) => type === "tool_use" || type === "toolCall")
        .map(({ id, name, input, arguments: args }) => callOf(id, name, input ?? args))
      return [modelTurn(wordsOf(message["content"]), calls)]
    }
    if (message["role"] !== "user") return []
    const results = list(message["content"]).filter(({ type }) => type === "tool_result")
    return results.length > 0
      ? results.map((one) => toolTurn(one["tool_use_id"], wordsOf(one["content"]), one["is_error"] === true))
      : [{ by: "person" as const, text: wordsOf(message["content"]) }]
  })

/** Messages of a chat, as mini-swe-agent and Inspect write them. */
const chatTurns = (messages: readonly Json[]): readonly Turn[] =>
  messages.flatMap((message): Turn[] => {
    if (message["role"] === "user") return [{ by: "person", text: wordsOf(message["content"]) }]
    if (message["role"] === "tool")
      return [toolTurn(message["tool_call_id"], wordsOf(message["content"]), message["error"] != null)]
    if (message["role"] !== "assistant") return []
    const calls = list(message["tool_calls"]).map((call) => {
      const made = record(call["function"])
      return callOf(call["id"], made["name"] ?? call["function"], parsed(made["arguments"] ?? call["arguments"]))
    })
    return [modelTurn(wordsOf(message["content"]), calls)]
  })

/** Actions and observations of SWE-agent. */
const actionTurns = (steps: readonly Json[]): readonly Turn[] => [
  { by: "person", text: "solve it" },
  ...steps.flatMap(({ action, observation, thought }, at) => [
    modelTurn(text(thought), [callOf(`a-${at}`, "bash", { command: text(action) })]),
    toolTurn(`a-${at}`, text(observation), false),
  ]),
]

const callOf = (id: unknown, name: unknown, args: unknown): Call => ({ id: text(id), name: text(name) || "tool", args })
const modelTurn = (said: string, calls: readonly Call[]): Turn => ({ by: "model", text: said, calls })
const toolTurn = (id: unknown, said: string, isError: boolean): Turn => ({
  by: "tool",
  id: text(id),
  text: said,
  isError,
})

const wordsOf = (content: unknown): string =>
  text(content) ||
  list(content)
    .map((part) => text(part["text"]))
    .filter((part) => part !== "")
    .join("\n")

function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value ?? {}
  try {
    return JSON.parse(value)
  } catch {
    return { text: value }
  }
}
