import {
  bm25Retriever,
  type CompiledContext,
  type CompileInputs,
  type ContextManifest,
  compile,
  defineStages,
} from "@orangebox/context"
import { type ArtifactRef, bodyHash, type Event, type PayloadOf, type Segment } from "@orangebox/contract"
import { detectDialect, readRequest } from "@orangebox/dialects"
import { type ContextView, contextOf, type RunView, viewRun } from "../src/index.js"
import { RunBuilder } from "./build-run.js"

/** A run whose prompts are on record in one of the two ways: compiled, with a manifest, or as requests on the wire. */
export class ContextRun extends RunBuilder {
  readonly bodies = new Map<string, Uint8Array>()

  keep(text: string, type: string): ArtifactRef {
    const bytes = new TextEncoder().encode(text)
    const hash = bodyHash(bytes)
    this.bodies.set(hash, bytes)
    return {
      artifact_hash: hash,
      artifact_type: type,
      byte_size: bytes.length,
      content_encoding: "identity",
      mime_type: "application/json",
      redaction_profile: "none",
    }
  }

  /** What a recorder writes when a step is given a compiled context. */
  commit(step: string, compiled: CompiledContext, manifest: ContextManifest = compiled.manifest): void {
    for (const [hash, bytes] of compiled.bodies) this.bodies.set(hash, bytes)
    const ref = this.keep(JSON.stringify(manifest), "manifest")
    this.add(
      step,
      "context_manifest",
      {
        manifest_ref: ref.artifact_hash,
        snapshot_id: manifest.snapshot_id,
        revision: manifest.revision,
        included_count: manifest.inclusion_log.length,
        excluded_count: manifest.exclusion_log.length,
        prefix_hash: manifest.prefix_hash,
        prefix_length: manifest.prefix_length,
      },
      { artifact_refs: [ref] },
    )
  }

  /** A call with this request; its segments are on record as they are derived at capture. */
  send(
    request: object,
    options: {
      parent?: string
      answer?: object
      lane?: string
      attributes?: Record<string, string | boolean>
      isUntold?: boolean
      absent?: "hashed"
      follows?: string
    } = {},
  ): string {
    const { parent = this.root, answer = { type: "message", role: "assistant", content: [] }, absent } = options
    const call = this.newStep(parent)
    const text = JSON.stringify(request)
    const ref = this.keep(text, "request")
    const payload = {
      ...{ provider: "anthropic", model_id: "claude-x", model_api_version: null, request_ref: ref.artifact_hash },
      ...{ temperature: null, top_p: null, max_tokens: null, http_method: "POST", url: MESSAGES_URL },
    }
    this.add(call, "model_called", payload, {
      artifact_refs: [absent ? { ...ref, absent } : ref],
      ...(options.lane === undefined ? {} : { lane_id: options.lane }),
      ...(options.attributes === undefined ? {} : { attributes: options.attributes }),
      ...(options.follows === undefined ? {} : { links: [{ kind: "follows", step_id: options.follows }] }),
    })
    if (!options.isUntold) this.add(call, "prompt_assembled", segmentsOf(text), { inferred_by: "dialects" })
    const response = this.keep(JSON.stringify(answer), "response")
    this.add(
      call,
      "model_result",
      {
        ...{ provider: "anthropic", model_id: "claude-x", finish_reason: "end_turn", latency_ms: 0 },
        ...{ token_usage: { prompt: 1000, completion: 10, total: 1010 }, response_ref: response.artifact_hash },
      },
      { artifact_refs: [response] },
    )
    return call
  }

  view(): RunView {
    return viewRun({ events: this.events })
  }

  contextAt(n: number): ContextView {
    return contextOf(this.view(), n, this.bodies)
  }
}

const MESSAGES_URL = "https://api.anthropic.com/v1/messages"

function segmentsOf(request: string): PayloadOf<"prompt_assembled"> {
  const requestBody = Buffer.from(request)
  const { dialect } = detectDialect({ method: "POST", path: "/v1/messages", requestBody })!
  const { segments, totalLength } = readRequest(dialect, requestBody)!
  return { segments: segments.map(({ segment }): Segment => segment), total_length: totalLength }
}

export const user = (content: string): object => ({ role: "user", content })
export const assistant = (content: string): object => ({ role: "assistant", content })

export function messagesRequest(messages: readonly object[], more: object = {}): object {
  return {
    model: "claude-x",
    max_tokens: 100,
    system: "You are careful.",
    tools: [{ name: "read_file", description: "Reads a file", input_schema: { type: "object" } }],
    messages,
    ...more,
  }
}

const stage = defineStages({
  name: "judging",
  version: "1.0.0",
  stages: [
    {
      id: "judge",
      name: "Judge",
      mission: "Judge whether the work may go on.",
      contracts: ["Answer with one word."],
      guardrails: ["Never guess."],
    },
  ],
}).stage("judge")

export const CHUNKS = [
  { id: "notes", text: "Scores near one half separate nothing at all.", sourceRef: "file:notes.md" },
  { id: "copy", text: "Scores near one half separate nothing at all.", sourceRef: "file:copy.md" },
  {
    id: "far",
    text: "Scores were printed in another colour, once, long ago, by somebody else.",
    sourceRef: "file:far.md",
  },
]

export function judge(inputs: Partial<CompileInputs> = {}): CompiledContext {
  return compile(stage, {
    runId: "run_1",
    generatedAt: "2026-01-01T00:00:00Z",
    objective: "May the work go on?",
    items: [{ id: "question", type: "user_input", text: "May we go on?", sourceRef: "event:e1" }],
    query: "scores separate",
    retrievers: [bm25Retriever({ chunks: CHUNKS })],
    minScore: 0.5,
    ...inputs,
  })
}

/** Two steps, each with its own compiled context: the second has less room and another question. */
export function judgedTwice(): { run: ContextRun; first: CompiledContext; second: CompiledContext } {
  const run = new ContextRun()
  const first = judge()
  const second = judge({
    items: [{ id: "question", type: "user_input", text: "And now?", sourceRef: "event:e9" }],
    query: "scores printed another colour",
    budgets: { historyCap: 30 },
    minScore: 0,
  })
  for (const [name, compiled] of Object.entries({ first, second })) {
    const step = run.step(name)
    run.commit(step, compiled)
    run.send(messagesRequest([user(compiled.prompt)]), { parent: step })
    run.end(step)
  }
  run.complete()
  return { run, first, second }
}

/** The only event of a type. */
export function only(events: readonly Event[], type: string): Event {
  const [event, ...more] = events.filter(({ event_type }) => event_type === type)
  if (!event || more.length > 0) throw new Error(`${more.length + (event ? 1 : 0)} events of type ${type}`)
  return event
}
