import { CandidateList, countIn, type Event, payloadOf, textIn } from "@orangebox/contract"
import { parseJson } from "@orangebox/dialects"
import type { Run, Step } from "@orangebox/runs"
import { capturedText } from "./captured-text.js"
import type { PromptBundle } from "./generated.js"
import type { ModelCall } from "./model-calls.js"
import { isSameMessage, PromptReader, type SentPrompt } from "./prompt-bundle.js"
import type { RunReading } from "./read-run.js"
import { type BodyLookup, bodyText } from "./recorded-run.js"
import { transformationsOf } from "./transformations.js"

/** The prompt of one model call, in the form decisions carry it. */
export interface CallPrompt {
  readonly call: ModelCall
  readonly prompt: SentPrompt
  readonly bundle: PromptBundle
  readonly bundleHash: string
  /** A change of the history that nothing on record explains. */
  readonly unrecorded: string | null
}

/** The prompts of all model calls of a run, by step. Requests are read once, in order, however often they are asked for. */
export function sentPrompts(reading: RunReading): ReadonlyMap<string, CallPrompt> {
  const known = read.get(reading) ?? readPrompts(reading)
  read.set(reading, known)
  return known
}

const read = new WeakMap<RunReading, ReadonlyMap<string, CallPrompt>>()

function readPrompts({ index, bodies, calls }: RunReading): ReadonlyMap<string, CallPrompt> {
  const reader = new PromptReader(bodies)
  const surroundings = surroundingsOf(index, calls)
  const histories = new Histories()
  const prompts = new Map<string, CallPrompt>()
  for (const call of calls) {
    const around = surroundings.get(call.step.id) ?? []
    const prompt = reader.read(call, around)
    const before = call.sideCall === null ? histories.take(call, prompt) : undefined
    const { listed, unrecorded } = transformationsOf(call, prompt, { around, before }, bodies)
    const bundle: PromptBundle = {
      messages: prompt.messages as PromptBundle["messages"],
      retrieval: retrievalOf(around, bodies),
      source: prompt.from,
      tools: prompt.tools as PromptBundle["tools"],
      transformations: [...listed],
    }
    prompts.set(call.step.id, { call, prompt, bundle, bundleHash: reader.hash(bundle), unrecorded })
  }
  return prompts
}

/** What decides how a prompt came about, by the call it belongs to. */
function surroundingsOf(index: Run, calls: readonly ModelCall[]): Map<string, Event[]> {
  const callOf = new Map<string, ModelCall>()
  for (const call of calls) {
    callOf.set(call.step.id, call)
    for (const attempt of call.step.attempts) callOf.set(attempt.id, call)
  }
  const found = new Map<string, Event[]>()
  const waiting = new Map<string, Event[]>()
  const lastCallUnder = new Map<string | null, string>()
  const give = (callId: string, event: Event): void => void entry(found, callId).push(event)

  for (const event of index.events) {
    const step = event.step_id === null ? undefined : index.stepOf(event.step_id)
    if (step === undefined || event.sequence_no === null) continue
    const call = callOf.get(step.id)
    if (call !== undefined && event === call.step.opened) {
      lastCallUnder.set(step.parent?.id ?? null, step.id)
      for (const id of nearest(step)) {
        for (const waited of waiting.get(id) ?? []) give(step.id, waited)
        waiting.delete(id)
      }
    }
    if (!TELLING.has(event.event_type)) continue
    if (call !== undefined) give(call.step.id, event)
    else if (event.event_type !== "log") entry(waiting, waitsAt(step)).push(event)
    else if (event.attributes?.["history"] !== undefined) {
      // The reducer speaks about the call that has just been opened.
      const last = lastCallUnder.get(step.id)
      if (last !== undefined) give(last, event)
    }
  }
  return found
}

const TELLING: ReadonlySet<string> = new Set([
  "prompt_rendered",
  "prompt_assembled",
  "context_manifest",
  "repair",
  "retrieval_executed",
  "log",
])

/** A retrieval is a step of its own; what it found is for the step above, which asked. */
const waitsAt = (step: Step): string =>
  payloadOf(step.opened)["kind"] === "retrieval" ? (step.parent ?? step).id : step.id

const nearest = ({ parent }: Step): string[] => [parent?.parent, parent].flatMap((step) => step?.id ?? [])

function entry(lists: Map<string, Event[]>, key: string): Event[] {
  const list = lists.get(key) ?? []
  lists.set(key, list)
  return list
}

/** The prompts before, so that a call can be held against the one it goes on from. */
class Histories {
  readonly #recent: { readonly lane: string | undefined; readonly history: SentPrompt["messages"] }[] = []

  /**
   * The history this call goes on from: among the last few the one it shares most with, the latest of equals. Undefined when it simply goes
   * on, when it asks again from an earlier point, or when there is nothing to compare.
   */
  take(call: ModelCall, prompt: SentPrompt): SentPrompt["messages"] | undefined {
    const lane = call.step.laneId
    const history = prompt.messages.filter(({ role }) => role !== "system" && role !== "developer")
    let best: { readonly history: SentPrompt["messages"]; readonly shared: number } | undefined
    for (const earlier of this.#recent) {
      if (earlier.lane !== lane) continue
      const shared = sharedLength(earlier.history, history)
      if (best === undefined || shared > best.shared) best = { history: earlier.history, shared }
      if (best.shared === best.history.length && best.shared > 0) break
    }
    this.#recent.unshift({ lane, history })
    if (this.#recent.length > REMEMBERED) this.#recent.pop()
    if (best === undefined || prompt.from !== "request") return undefined
    return best.shared === best.history.length || best.shared === history.length ? undefined : best.history
  }
}

const REMEMBERED = 8

function sharedLength(known: SentPrompt["messages"], messages: SentPrompt["messages"]): number {
  let shared = 0
  while (shared < known.length && shared < messages.length && isSameMessage(known[shared]!, messages[shared]!)) shared++
  return shared
}

function retrievalOf(around: readonly Event[], bodies: BodyLookup): PromptBundle["retrieval"] {
  const retrievals = around.filter((event) => event.event_type === "retrieval_executed")
  if (retrievals.length === 0) return { enabled: false, sources: [], snippets: null }
  const found = retrievals.map((event) => candidatesOf(event, bodies))
  const texts = found.flatMap(({ texts }) => texts)
  const digest = found.map(({ ref }) => ref).find((ref) => ref !== null) ?? null
  const snippets = capturedText(texts.length > 0 ? texts.join("\n\n") : null, digest)
  return {
    enabled: true,
    sources: retrievals.map((event, at) => {
      const payload = payloadOf(event)
      return {
        retriever_id: textIn(payload, "retriever_id") ?? "?",
        top_k: countIn(payload, "top_k") ?? null,
        candidate_count: countIn(payload, "candidate_count") ?? null,
        candidate_list_ref: found[at]!.ref,
        source_uris: [...found[at]!.uris],
      }
    }),
    snippets: snippets?.text ?? null,
    ...(snippets?.form ? { snippets_form: snippets.form } : {}),
  }
}

function candidatesOf(event: Event, bodies: BodyLookup): { ref: string | null; texts: string[]; uris: string[] } {
  const ref = textIn(payloadOf(event), "candidate_list_ref") ?? null
  const listed = bodyText(bodies, ref)
  const candidates = CandidateList.safeParse(listed === null ? undefined : parseJson(listed))
  if (!candidates.success) return { ref, texts: listed === null ? [] : [listed], uris: [] }
  return {
    ref,
    texts: candidates.data.flatMap(({ content_ref }) => bodyText(bodies, content_ref) ?? []),
    uris: candidates.data.flatMap(({ source_uri }) => source_uri ?? []),
  }
}
