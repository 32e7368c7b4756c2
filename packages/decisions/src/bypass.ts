import { asRecord, payloadOf, recordsIn, textIn } from "@orangebox/contract"
import { parseJson } from "@orangebox/dialects"
import type { BundleMessage } from "./generated.js"
import { isSamePath } from "./net-changes.js"
import type { RunReading } from "./read-run.js"
import { bodyText } from "./recorded-run.js"
import type { CallPrompt } from "./sent-prompts.js"
import { outputTextOf } from "./tool-output.js"
import { looksIn } from "./workspace-changes.js"

type Message = BundleMessage

/** What reached the model or the workspace without passing the recorder. */
export interface BypassFinding {
  readonly bypass: "assistant_turn" | "tool_result" | "swapped_result" | "workspace_change"
  readonly stepId: string | null
  readonly stepNo: number | null
  readonly detail: string
  /** `possible` for what stands in the first request of a talk: an earlier run may have produced it, or it is an example. */
  readonly certainty: "certain" | "possible"
  /** Of a result: the tool that the model had asked for, where the request says which. */
  readonly tool?: string
}

export function bypassesOf(reading: RunReading, prompts: ReadonlyMap<string, CallPrompt>): BypassFinding[] {
  return [...historyBypasses(reading, prompts), ...workspaceBypasses(reading)]
}

/**
 * Every assistant turn and every tool result in a request must have come from somewhere. Each message is looked at once, in the first
 * request that has it; the answers known by then are those of the calls before.
 */
function historyBypasses({ calls, run }: RunReading, prompts: ReadonlyMap<string, CallPrompt>): BypassFinding[] {
  const found: BypassFinding[] = []
  const results = new RecordedResults(run.actions)
  const answers: Answers = { texts: new Set(), toolIds: new Set(), toolsWithoutId: new Set(), areAllRead: true }
  const seen = new Seen()
  for (const call of calls) {
    const prompt = prompts.get(call.step.id)?.prompt
    if (prompt?.from === "request" && call.sideCall === null) {
      const isFirst = !seen.knowsTalk(prompt.messages)
      const prefill = prefillOf(prompt.messages)
      const strange = seen.newIn(prompt.messages).flatMap((message): Strange[] => {
        if (message === prefill) return []
        if (message.role === "assistant" && answers.areAllRead && !isAnswered(message, answers)) {
          return [{ bypass: "assistant_turn", detail: "no recorded call produced this assistant turn", message }]
        }
        if (message.role === "tool" && results.isOfAnother(message)) {
          return [{ bypass: "swapped_result", detail: "this is the recorded result of another tool call", message }]
        }
        if (message.role === "tool" && !results.explain(message, prompt.messages)) {
          const tool = callOf(message, prompt.messages)?.name
          return [{ bypass: "tool_result", detail: "no recorded tool call produced this result", message, tool }]
        }
        return []
      })
      found.push(...findingsOf(strange, isFirst, call.step))
      if (prefill !== undefined && call.answer.text) answers.texts.add(bare(prefill.content + call.answer.text))
    }
    // An answer that holds nothing, as one that is still being worked on, came in another way than this call.
    if (!call.answer.text && call.answer.toolCalls.length === 0 && call.answer.exists) answers.areAllRead = false
    if (call.answer.text) answers.texts.add(bare(call.answer.text))
    for (const { id, name } of call.answer.toolCalls) {
      if (id === null || id === "") answers.toolsWithoutId.add(name)
      else answers.toolIds.add(id)
    }
  }
  return found
}

/** A request that ends with the assistant asks the model to go on from there: the application's words, and its answer begins with them. */
const prefillOf = (messages: readonly Message[]): Message | undefined =>
  messages.at(-1)?.role === "assistant" ? messages.at(-1) : undefined

/** What the model has said so far. */
interface Answers {
  readonly texts: Set<string>
  readonly toolIds: Set<string>
  /** Tools that it asked for without an id: the client gives the call one of its own, and sends that back. */
  readonly toolsWithoutId: Set<string>
  areAllRead: boolean
}

interface Strange {
  readonly bypass: "assistant_turn" | "tool_result" | "swapped_result"
  readonly detail: string
  readonly message: Message
  readonly tool?: string | undefined
}

const callOf = ({ tool_call_id: id }: Message, messages: readonly Message[]) =>
  messages.flatMap(({ tool_calls }) => tool_calls ?? []).find((candidate) => candidate.id === id)

function findingsOf(
  strange: readonly Strange[],
  isFirst: boolean,
  { id, no }: { readonly id: string; readonly no: number },
): BypassFinding[] {
  const at = { stepId: id, stepNo: no }
  if (!isFirst) {
    return strange.map(({ bypass, detail, message, tool }) => ({
      bypass,
      ...at,
      detail: `${detail}: ${JSON.stringify(message.content.slice(0, 80))}`,
      certainty: "certain" as const,
      ...(tool === undefined ? {} : { tool }),
    }))
  }
  return (["assistant_turn", "tool_result"] as const).flatMap((bypass): BypassFinding[] => {
    const count = strange.filter((one) => one.bypass === bypass).length
    if (count === 0) return []
    const words = bypass === "assistant_turn" ? "assistant turns" : "tool results"
    return [
      {
        bypass,
        ...at,
        detail: `the talk begins with ${count} ${words} of unknown origin`,
        certainty: "possible" as const,
      },
    ]
  })
}

/** Clients trim and rejoin what a model said before they send it back; only the letters must agree. */
const bare = (text: string): string => text.replace(/\s+/g, "")

function isAnswered(message: Message, answers: Answers): boolean {
  const calls = message.tool_calls?.filter(({ id }) => id !== null && id !== undefined) ?? []
  if (calls.length > 0)
    return calls.every(({ id, name }) => answers.toolIds.has(id!) || answers.toolsWithoutId.has(name))
  const text = bare(message.content)
  return text === "" || answers.texts.has(text)
}

class Seen {
  readonly #messages = new Set<Message>()
  readonly #keys = new Set<string>()
  readonly #talks = new Set<string>()

  knowsTalk(messages: readonly Message[]): boolean {
    const first = messages.find(({ role }) => role !== "system" && role !== "developer")
    if (first === undefined) return false
    const key = keyOf(first)
    const isKnown = this.#talks.has(key)
    this.#talks.add(key)
    return isKnown
  }

  newIn(messages: readonly Message[]): Message[] {
    const fresh: Message[] = []
    for (let at = messages.length - 1; at >= 0; at--) {
      const message = messages[at]!
      // Requests share the messages they begin with; behind the first known one there is nothing new.
      if (this.#messages.has(message)) break
      this.#messages.add(message)
      const key = keyOf(message)
      if (this.#keys.has(key)) continue
      this.#keys.add(key)
      fresh.push(message)
    }
    return fresh.reverse()
  }
}

const keyOf = ({ role, content, tool_call_id, tool_calls }: Message): string =>
  `${role}\0${tool_call_id ?? ""}\0${tool_calls?.map(({ id, name }) => id ?? name).join() ?? ""}\0${content}`

/** The results of recorded tool calls. Where the call or the message lacks the model's id for it, a result is known by its words, else by its name. */
class RecordedResults {
  readonly #ids = new Set<string>()
  readonly #ofId = new Map<string, string>()
  readonly #named = new Set<string>()
  readonly #texts = new Set<string>()
  readonly #unnamed = new Map<string, number>()
  #hasUnread = false

  constructor(actions: RunReading["run"]["actions"]) {
    for (const { tool } of actions) {
      if (tool === null) continue
      if (tool.callId !== null) {
        this.#ids.add(tool.callId)
        if (tool.resultText === null) continue
        const text = bare(outputTextOf(tool.resultText))
        this.#named.add(text)
        this.#ofId.set(tool.callId, text)
        continue
      }
      if (tool.resultText !== null) this.#texts.add(bare(outputTextOf(tool.resultText)))
      else if (tool.resultRef !== null) this.#hasUnread = true
      this.#unnamed.set(tool.name, (this.#unnamed.get(tool.name) ?? 0) + 1)
    }
  }

  /** What one call came to stands under the id of another, which came to something else. Applications put results into words of their own; these are none. */
  isOfAnother({ tool_call_id: id, content }: Message): boolean {
    const own = id === undefined ? undefined : this.#ofId.get(id)
    const sent = bare(content)
    return own !== undefined && own !== "" && sent !== "" && !sent.includes(own) && this.#named.has(sent)
  }

  explain(message: Message, messages: readonly Message[]): boolean {
    const id = message.tool_call_id
    if (this.#hasUnread || (id !== undefined && this.#ids.has(id))) return true
    if (id === undefined && this.#named.has(bare(message.content))) return true
    if (this.#unnamed.size === 0) return false
    if (this.#texts.has(bare(message.content))) return true
    const call = callOf(message, messages)
    const left = call ? (this.#unnamed.get(call.name) ?? 0) : 0
    if (call && left > 0) this.#unnamed.set(call.name, left - 1)
    return left > 0
  }
}

/**
 * Files that differ between two snapshots with no action in between that could have changed them. A snapshot is an artifact whose content
 * is JSON, `{ "files": { "<path>": "<hash>" } }`; a command may have changed anything, so it explains everything, and so does an answer that the
 * agent carries out by itself.
 */
function workspaceBypasses({ index, bodies, run }: RunReading): BypassFinding[] {
  const snapshots = index.events.flatMap((event, place) => {
    if (event.event_type !== "artifact_recorded") return []
    const payload = payloadOf(event)
    if (payload["artifact_type"] !== "workspace_snapshot") return []
    const files = filesIn(bodyText(bodies, textIn(payload, "content_ref")))
    return files ? [{ place, files, stepId: event.step_id }] : []
  })
  if (snapshots.length < 2) return []
  const placeOf = new Map(index.events.map((event, at) => [event.event_id, at]))
  const looks = new Map(looksIn(index, run.actions).map((look) => [look.step.id, look]))
  const firstAnswer = run.actions.find(({ boundary }) => boundary === "completion")
  const found: BypassFinding[] = []
  for (let at = 1; at < snapshots.length; at++) {
    const [before, after] = [snapshots[at - 1]!, snapshots[at]!]
    const look = looks.get(after.stepId ?? "")
    const between =
      look?.tools ??
      run.actions.filter(({ eventId }) => {
        const place = placeOf.get(eventId) ?? -1
        return place > before.place && place < after.place
      })
    if (look?.answer !== undefined) continue
    if (between.some(({ commands, unread }) => commands.length > 0 || unread.includes("args"))) continue
    const written = between.flatMap(({ paths }) =>
      paths.filter(({ access }) => access !== "read").map(({ path }) => path),
    )
    // What a command does before it asks a model for the first time, such as writing its settings, needed no decision.
    const isStart = look !== undefined && firstAnswer !== undefined && placeOf.get(firstAnswer.eventId)! > after.place
    for (const path of changedPaths(before.files, after.files)) {
      if (written.some((candidate) => isSamePath(candidate, path))) continue
      found.push({
        bypass: "workspace_change",
        stepId: after.stepId,
        stepNo: after.stepId === null ? null : (index.stepOf(after.stepId)?.no ?? null),
        detail: `${path} changed and no action changed it`,
        certainty: isStart ? "possible" : "certain",
      })
    }
  }
  return found
}

function filesIn(text: string | null): ReadonlyMap<string, string> | undefined {
  const record = text === null ? undefined : asRecord(parseJson(text))
  if (!record) return undefined
  const named = asRecord(record["files"])
  if (named) return new Map(Object.entries(named).map(([path, hash]) => [path, String(hash)]))
  const listed = recordsIn(record, "files")
  return new Map(listed.flatMap((file) => [[textIn(file, "path") ?? "", textIn(file, "hash") ?? ""] as const]))
}

function changedPaths(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path))
}
