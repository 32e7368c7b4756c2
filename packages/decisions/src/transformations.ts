import { countIn, type Event, payloadOf, readJson, textIn } from "@orangebox/contract"
import { jsonDifference } from "@orangebox/text"
import type { BundleMessage, Transformation } from "./generated.js"
import type { ModelCall } from "./model-calls.js"
import { isSameMessage, type SentPrompt } from "./prompt-bundle.js"
import { type BodyLookup, bodyText } from "./recorded-run.js"

type Message = BundleMessage

/** What happened to a prompt on its way: what the application recorded, what its two forms show, what the history shows. */
export interface Transformations {
  readonly listed: readonly Transformation[]
  /** A change of the history that nothing on record explains. */
  readonly unrecorded: string | null
}

export interface CallSurroundings {
  /** Events of the call's parent since the call before it, and those inside the call. */
  readonly around: readonly Event[]
  /** The history this call went on from and does not simply continue. */
  readonly before: readonly Message[] | undefined
}

export function transformationsOf(
  call: ModelCall,
  prompt: SentPrompt,
  { around, before }: CallSurroundings,
  bodies: BodyLookup,
): Transformations {
  const recorded = around.flatMap((event) => recordedTransformation(event))
  const rewrite = rewriteOf(call, prompt, around, bodies)
  const known = [...recorded, ...rewrite, ...heldContext(prompt)]
  const seen = around.flatMap((event) => historyLog(event))
  if (seen.length > 0) return { listed: [...known, ...seen], unrecorded: null }
  const change = before && historyChange(before, prompt.messages)
  if (change === undefined) return { listed: known, unrecorded: null }
  const listed = [...known, { ...change, is_inferred: true }]
  return { listed, unrecorded: known.length > 0 ? null : change.summary }
}

/** Such a bundle is what was sent, and still not all the model saw. */
function heldContext({ heldByProvider }: SentPrompt): Transformation[] {
  if (heldByProvider.length === 0) return []
  return [{ type: "other", summary: `the provider adds what it keeps itself: ${heldByProvider.join(", ")}` }]
}

function recordedTransformation(event: Event): Transformation[] {
  const payload = payloadOf(event)
  switch (event.event_type) {
    case "prompt_rendered": {
      const template = textIn(payload, "prompt_template_id")
      if (template === undefined) return []
      const version = textIn(payload, "prompt_template_version")
      return [{ type: "template", summary: version === undefined ? template : `${template} ${version}` }]
    }
    case "repair":
      if (payload["kind"] !== "history") return []
      return [{ type: "rewrite", summary: `history ${textIn(payload, "outcome") ?? "repaired"}` }]
    case "context_manifest": {
      const [included, excluded] = ["included_count", "excluded_count"].map((name) => countIn(payload, name) ?? "?")
      const isRead = event.inferred_by !== undefined
      const summary = `context ${isRead ? "read off the request" : "committed"}: ${included} items in, ${excluded} left out`
      return [{ type: "template", summary, ...(isRead ? { is_inferred: true } : {}) }]
    }
    case "prompt_assembled": {
      const excluded = countIn(payload, "excluded_count") ?? 0
      return excluded === 0 ? [] : [{ type: "other", summary: `${excluded} items left out` }]
    }
    default:
      return []
  }
}

/** The reducer of wire traffic says what became of a lane's history in a log with the attribute `history`. */
function historyLog(event: Event): Transformation[] {
  if (event.event_type !== "log" || event.inferred_by === undefined) return []
  switch (event.attributes?.["history"]) {
    case "compaction":
      return [{ type: "summarize", summary: "the history was replaced by a summary", is_inferred: true }]
    case "truncation":
      return [{ type: "other", summary: "the beginning of the history is gone", is_inferred: true }]
    case "rewritten":
      return [{ type: "rewrite", summary: "earlier messages were rewritten", is_inferred: true }]
    default:
      return []
  }
}

const SHOWN_POINTERS = 5

/** BEFORE and AFTER: the prompt as the application built it, and the request as it went out. */
function rewriteOf(
  call: ModelCall,
  prompt: SentPrompt,
  around: readonly Event[],
  bodies: BodyLookup,
): Transformation[] {
  const rendered = payloadOf(around.findLast((event) => event.event_type === "prompt_rendered"))
  const builtRef =
    textIn(rendered, "rendered_prompt_ref") ??
    (call.sent === call.step ? undefined : textIn(payloadOf(call.step.opened), "request_ref"))
  if (builtRef === undefined || builtRef === call.requestRef) return []
  const built = bodyText(bodies, builtRef)
  const sent = bodyText(bodies, call.requestRef)
  if (built === null || sent === null) {
    return [{ type: "rewrite", summary: "what was sent is not what was built, byte for byte; the texts are not kept" }]
  }
  const before = readJson(built)
  const after = readJson(sent)
  if (!before.ok || !after.ok || before.node.kind !== "object" || after.node.kind !== "object") {
    const text = before.ok && before.node.kind === "string" ? before.node.value : built
    const isSent = prompt.messages.some((message) => message.content.includes(text.trim()))
    return isSent ? [] : [{ type: "rewrite", summary: "the rendered prompt is not in the request as it was rendered" }]
  }
  const pointers = Array.from(jsonDifference(before.node, after.node), ({ pointer }) => pointer)
  const count = pointers.length
  if (count === 0) return []
  const rest = count > SHOWN_POINTERS ? ` and ${count - SHOWN_POINTERS} more` : ""
  const places = `${count} ${count === 1 ? "change" : "changes"} between what was built and what was sent: ${pointers.slice(0, SHOWN_POINTERS).join(", ")}${rest}`
  return [{ type: "rewrite", summary: places }]
}

/** What became of the history since the call before, where it did not simply grow. A history with nothing in common is another talk. */
function historyChange(old: readonly Message[], after: readonly Message[]): Transformation | undefined {
  const made = after.filter(({ role }) => role !== "system" && role !== "developer")
  let shared = 0
  while (shared < old.length && shared < made.length && isSameMessage(old[shared]!, made[shared]!)) shared++
  if (shared === old.length) return undefined
  if (shared > 0) {
    const lost = old.length - shared
    return {
      type: "rewrite",
      summary: `${lost} earlier ${lost === 1 ? "message was" : "messages were"} rewritten or taken out`,
    }
  }
  const first = made[0]
  const cut = first === undefined ? -1 : old.findIndex((message) => isSameMessage(message, first))
  return cut > 0 ? { type: "other", summary: `the first ${cut} messages of the history are gone` } : undefined
}
