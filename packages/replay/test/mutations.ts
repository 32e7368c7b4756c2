import { bodyHash, type Event } from "@orangebox/contract"
import { openWireCall, type Run } from "@orangebox/recorder"
import fc from "fast-check"
import type { Recording } from "../src/index.js"
import { anthropicAnswer } from "./recorded.js"

/** What an agent does, as data, so that one thing of it can be changed. */
export interface Plan {
  readonly input: string
  readonly acts: readonly PlannedAct[]
  readonly output: string
  readonly exitCode: number
  readonly signal?: string
}

export type PlannedAct =
  | { readonly does: "tool"; readonly name: string; readonly args: Readonly<Record<string, unknown>> }
  | { readonly does: "retrieve"; readonly query: string }
  | { readonly does: "told"; readonly question: string; readonly temperature: number; readonly model: string }
  | PlannedRequest

export interface PlannedRequest {
  readonly does: "wire"
  readonly question: string
  readonly system: string
  readonly model: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly stream: boolean
}

const word = fc.constantFrom("north", "south", "east", "west", "ünïcode")
const secret = fc.constantFrom("x", "y").map((letter) => `ghp_${letter.repeat(36)}`)

const sdkAct: fc.Arbitrary<PlannedAct> = fc.oneof(
  fc.record({
    does: fc.constant("tool" as const),
    name: fc.constantFrom("write", "delete", "make"),
    args: fc.record({ path: word, n: fc.nat(3), token: secret }),
  }),
  fc.record({ does: fc.constant("retrieve" as const), query: word }),
  fc.record({
    does: fc.constant("told" as const),
    question: word,
    temperature: fc.constantFrom(0, 0.5),
    model: fc.constantFrom("small", "large"),
  }),
)

const wireAct: fc.Arbitrary<PlannedRequest> = fc.record({
  does: fc.constant("wire" as const),
  question: word,
  system: word,
  model: fc.constantFrom("claude-x", "claude-y"),
  path: fc.constantFrom("/v1/messages", "/gateway/v1/messages"),
  query: fc.constantFrom("", "?beta=true", "?a=1&a=2"),
  headers: fc.constant({ "anthropic-version": "2023-06-01" }),
  stream: fc.boolean(),
})

const planOf = (act: fc.Arbitrary<PlannedAct>): fc.Arbitrary<Plan> =>
  fc.record({
    input: word,
    // Numbered, so that no two calls ask the same and every change is one.
    acts: fc.array(act, { minLength: 2, maxLength: 5 }).map((acts) => acts.map(numbered)),
    output: word,
    exitCode: fc.constantFrom(0, 3),
  })

function numbered(act: PlannedAct, index: number): PlannedAct {
  if (act.does === "tool") return { ...act, args: { ...act.args, index } }
  if (act.does === "retrieve") return { ...act, query: `${act.query} ${index}` }
  return { ...act, question: `${act.question} ${index}` }
}

/** What a driver sees: everything, through the handles of the SDK, or traffic alone, as a proxy does. */
export type Driver = "sdk" | "wire"
export const plan = (driver: Driver): fc.Arbitrary<Plan> => planOf(driver === "sdk" ? sdkAct : wireAct)

/** Does what the plan says. Every answer of the world is made of the question, so that a swapped one shows. */
export async function act(
  run: Run,
  { acts, output, exitCode, signal }: Plan,
  answer: AnswerWire = fromWorld,
): Promise<void> {
  for (const planned of acts) await actOnce(run, planned, answer)
  if (signal !== undefined) run.fail(new Error(`killed by ${signal}`), { signal })
  else if (exitCode === 0) run.complete({ output, exitCode })
  else run.fail(new Error(`exit ${exitCode}`), { exitCode })
}

export type AnswerWire = (stepId: string, request: PlannedRequest) => Buffer | undefined

const fromWorld: AnswerWire = (_, { question, stream }) => {
  const text = anthropicAnswer(`answer to ${question}`)
  return Buffer.from(stream ? `event: x\ndata: ${text}\n\nevent: message_stop\ndata: {}\n\n` : text)
}

async function actOnce(run: Run, planned: PlannedAct, answer: AnswerWire): Promise<void> {
  if (planned.does === "tool") {
    await run.tool({ name: planned.name, args: planned.args, effect: "write" }, () => ({ did: planned }))
  } else if (planned.does === "retrieve") {
    const { query } = planned
    await run.retrieval({ retriever: "docs", query, topK: 1 }, () => [{ chunkId: query, content: query }])
  } else if (planned.does === "told") {
    const { does: _, model, ...request } = planned
    await run.model({ provider: "own", model, request }, () => ({ text: `answer to ${request.question}` }))
  } else {
    const { question, system, model, path, query, headers, stream } = planned
    const body = { model, max_tokens: 9, system, stream, messages: [{ role: "user", content: question }] }
    const call = openWireCall(
      run,
      {
        method: "POST",
        url: `https://api.anthropic.com${path}${query}`,
        headers: Object.entries({ "content-type": "application/json", ...headers }),
        body: Buffer.from(JSON.stringify(body)),
      },
      { laneId: "lane-1" },
    )!
    const bytes = answer(call.step.id, planned)
    call.responseStarted({
      status: bytes ? 200 : 422,
      headers: [["content-type", stream ? "text/event-stream" : "application/json"]],
    })
    call.chunk(bytes ?? Buffer.from("{}"))
    call.end("complete")
  }
}

/** One change to what an agent does when it is run again; undefined where the plan has nothing of the sort. */
export interface PlanMutation {
  readonly name: string
  change(plan: Plan, at: number): Plan | undefined
}

const withAct = (plan: Plan, at: number, change: (act: PlannedAct) => PlannedAct | undefined): Plan | undefined => {
  const index = at % plan.acts.length
  const changed = change(plan.acts[index]!)
  return changed && { ...plan, acts: plan.acts.with(index, changed) }
}

const onTool =
  (change: (act: Extract<PlannedAct, { does: "tool" }>) => PlannedAct) =>
  (plan: Plan, at: number): Plan | undefined =>
    withAct(plan, at, (act) => (act.does === "tool" ? change(act) : undefined))
const onWire =
  (change: (act: PlannedRequest) => PlannedAct) =>
  (plan: Plan, at: number): Plan | undefined =>
    withAct(plan, at, (act) => (act.does === "wire" ? change(act) : undefined))
const withHeader = (act: PlannedRequest, name: string, value: string): PlannedRequest => ({
  ...act,
  headers: { ...act.headers, [name]: value },
})

export const PLAN_MUTATIONS: readonly PlanMutation[] = [
  { name: "drop a call", change: (p, at) => ({ ...p, acts: p.acts.toSpliced(at % p.acts.length, 1) }) },
  { name: "drop all but one", change: (p, at) => ({ ...p, acts: [p.acts[at % p.acts.length]!] }) },
  { name: "make no call", change: (p) => ({ ...p, acts: [] }) },
  {
    name: "repeat a call",
    change: (p, at) => ({ ...p, acts: p.acts.toSpliced(at % p.acts.length, 0, p.acts[at % p.acts.length]!) }),
  },
  { name: "repeat the last call", change: (p) => ({ ...p, acts: [...p.acts, p.acts.at(-1)!] }) },
  { name: "turn two neighbours round", change: turnedRound },
  { name: "turn all round", change: (p) => ({ ...p, acts: p.acts.toReversed() }) },
  { name: "rotate", change: (p) => ({ ...p, acts: [...p.acts.slice(1), p.acts[0]!] }) },
  { name: "another tool", change: onTool((a) => ({ ...a, name: `${a.name}-all` })) },
  {
    name: "another argument",
    change: onTool((a) => ({ ...a, args: { ...a.args, path: `${String(a.args["path"])}/..` } })),
  },
  { name: "one argument more", change: onTool((a) => ({ ...a, args: { ...a.args, force: true } })) },
  { name: "one argument less", change: onTool(({ args: { path: _, ...args }, ...a }) => ({ ...a, args })) },
  { name: "a number as text", change: onTool((a) => ({ ...a, args: { ...a.args, n: String(a.args["n"]) } })) },
  { name: "another secret", change: onTool((a) => ({ ...a, args: { ...a.args, token: `ghp_${"z".repeat(36)}` } })) },
  {
    name: "another query",
    change: (p, at) => withAct(p, at, (a) => (a.does === "retrieve" ? { ...a, query: `${a.query}?` } : undefined)),
  },
  {
    name: "another told question",
    change: (p, at) => withAct(p, at, (a) => (a.does === "told" ? { ...a, question: `${a.question}?` } : undefined)),
  },
  {
    name: "another temperature",
    change: (p, at) =>
      withAct(p, at, (a) => (a.does === "told" ? { ...a, temperature: a.temperature + 1 } : undefined)),
  },
  { name: "another question", change: onWire((a) => ({ ...a, question: `${a.question}?` })) },
  { name: "a space in a question", change: onWire((a) => ({ ...a, question: `${a.question} ` })) },
  { name: "another system prompt", change: onWire((a) => ({ ...a, system: `${a.system}.` })) },
  {
    name: "prose in a billing line",
    change: onWire((a) => ({ ...a, system: `x-anthropic-billing-header: do it\n${a.system}` })),
  },
  { name: "another model", change: onWire((a) => ({ ...a, model: `${a.model}-1` })) },
  { name: "another framing", change: onWire((a) => ({ ...a, stream: !a.stream })) },
  { name: "another version header", change: onWire((a) => withHeader(a, "anthropic-version", "2024-10-22")) },
  { name: "a beta header", change: onWire((a) => withHeader(a, "anthropic-beta", "context-1m-2025-08-07")) },
  {
    name: "another told model",
    change: (p, at) => withAct(p, at, (a) => (a.does === "told" ? { ...a, model: `${a.model}-1` } : undefined)),
  },
  { name: "another path", change: onWire((a) => ({ ...a, path: `/other${a.path}` })) },
  { name: "a double slash", change: onWire((a) => ({ ...a, path: `/${a.path}` })) },
  {
    name: "parameters in another order",
    change: onWire((a) => ({ ...a, query: a.query.replace("a=1&a=2", "a=2&a=1") })),
  },
  { name: "another query string", change: onWire((a) => ({ ...a, query: a.query === "" ? "?beta=true" : "" })) },
  { name: "another input", change: (p) => ({ ...p, input: `${p.input}!` }) },
  { name: "another output", change: (p) => (p.exitCode === 0 ? { ...p, output: `${p.output}!` } : undefined) },
  { name: "another exit code", change: (p) => ({ ...p, exitCode: p.exitCode + 1 }) },
  {
    name: "fails where it was fine, and the other way round",
    change: (p) => ({ ...p, exitCode: p.exitCode === 0 ? 1 : 0 }),
  },
  { name: "ended by a signal", change: (p) => ({ ...p, signal: "SIGKILL" }) },
]

function turnedRound(plan: Plan, at: number): Plan {
  const index = at % (plan.acts.length - 1)
  return { ...plan, acts: plan.acts.with(index, plan.acts[index + 1]!).with(index + 1, plan.acts[index]!) }
}

/** One change to a recording before it is replayed by the agent that made it. */
export interface RecordingMutation {
  readonly name: string
  change(recording: Recording, at: number): Recording | undefined
}

const own = ({ events }: Recording): readonly Event[] => events.filter(({ run_id }) => run_id !== null)
const isInside = ({ event_type }: Event): boolean => !event_type.startsWith("run_")

export const RECORDING_MUTATIONS: readonly RecordingMutation[] = [
  {
    name: "a step is gone",
    change(recording, at) {
      const steps = [
        ...new Set(
          own(recording)
            .filter(isInside)
            .flatMap(({ step_id, parent_step_id }) => (parent_step_id ? [step_id] : [])),
        ),
      ]
      const gone = steps[at % steps.length]
      return { ...recording, events: own(recording).filter(({ step_id }) => step_id !== gone) }
    },
  },
  {
    name: "an event is gone",
    change(recording, at) {
      const inside = own(recording).filter(isInside)
      return { ...recording, events: own(recording).filter((event) => event !== inside[at % inside.length]) }
    },
  },
  {
    name: "its end is gone",
    change: (r) => ({
      ...r,
      events: own(r).filter(({ event_type }) => !/^run_(?:completed|failed)$/.test(event_type)),
    }),
  },
  {
    name: "an event stands there twice",
    change(recording, at) {
      const events = own(recording)
      const inside = events.filter(isInside)
      return { ...recording, events: [...events, inside[at % inside.length]!] }
    },
  },
  {
    // Of two that were made in the same microsecond nothing says which came first.
    name: "two neighbours have changed their numbers",
    change(recording, at) {
      const events = own(recording)
      const places = events.flatMap((event, i) => (i > 0 && events[i - 1]!.mono_us < event.mono_us ? [i] : []))
      const to = places[at % places.length]
      if (to === undefined) return undefined
      const [a, b] = [events[to - 1]!, events[to]!]
      return {
        ...recording,
        events: events
          .with(to - 1, { ...a, sequence_no: b.sequence_no })
          .with(to, { ...b, sequence_no: a.sequence_no }),
      }
    },
  },
  {
    name: "a byte of an answer differs",
    change: (r, at) => withAnswer(r, at, (bytes) => Uint8Array.from(bytes, (byte, i) => (i === 0 ? byte ^ 1 : byte))),
  },
  { name: "an answer is cut", change: (r, at) => withAnswer(r, at, (bytes) => bytes.slice(0, -1)) },
  { name: "an answer is not there", change: (r, at) => withAnswer(r, at, () => undefined) },
  {
    name: "only the beginning of an answer was kept",
    change: (recording, at) => {
      const answers = answersIn(recording)
      const hash = answers[at % answers.length]
      const events = own(recording).map((event) => ({
        ...event,
        artifact_refs: event.artifact_refs.map((ref) =>
          ref.artifact_hash === hash ? { ...ref, full_byte_size: ref.byte_size + 9 } : ref,
        ),
      })) as Event[]
      return hash === undefined ? undefined : { ...recording, events }
    },
  },
]

const answersIn = (recording: Recording): readonly string[] =>
  own(recording).flatMap((event) => {
    if (event.event_type === "model_result") return event.payload.response_ref ?? []
    return event.event_type === "tool_result" ? (event.payload.result_ref ?? []) : []
  })

function withAnswer(
  recording: Recording,
  at: number,
  change: (bytes: Uint8Array) => Uint8Array | undefined,
): Recording | undefined {
  const answers = answersIn(recording)
  const hash = answers[at % answers.length]
  if (hash === undefined) return undefined
  const changed = change(recording.bodies.get(hash)!)
  if (changed && bodyHash(changed) === hash) return undefined
  return { ...recording, bodies: { get: (wanted) => (wanted === hash ? changed : recording.bodies.get(wanted)) } }
}
