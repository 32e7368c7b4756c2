import { type Event, textHash } from "@orangebox/contract"
import { MemorySink, Recorder } from "@orangebox/recorder"
import { type DiffOptions, diffRuns, diffStoredRuns, type RunToDiff } from "@orangebox/replay"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type Act, model, type ScriptOptions, scriptRun, tool } from "./script-run.js"

const word = fc.constantFrom("date", "parser", "line 2026-11-16", "line 2026-11-17", "fixture", "leap")
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.tuple(word, word).map(([says, path]) => model(says, { name: "read_file", args: { path } })),
  fc.tuple(word, word).map(([path, result]) => tool("read_file", { path }, result)),
  fc.tuple(word, word).map(([path, text]) => tool("write_file", { path, text }, "ok", { effect: "write" })),
)
/** Two runs that begin alike, as those do that are compared. */
const twoScripts = fc
  .tuple(fc.array(act, { maxLength: 8 }), fc.array(act, { maxLength: 5 }), fc.array(act, { maxLength: 5 }))
  .map(([start, restA, restB]) => ({ a: [...start, ...restA], b: [...start, ...restB] }))
const options = fc.record<DiffOptions>({
  masks: fc.constantFrom([], ["iso_date"]),
  payloads: fc.constantFrom(2, 24),
})

/** While bodies are fetched, other steps stand against each other than in the end, and one of them asks for a body that is lost. */
const ABSENT_ONLY_WHILE_FETCHING = (() => {
  const asks = ["leap", "date"].map((says) => model(says, { name: "read_file", args: { path: "date" } }))
  const writes = (path: string) => tool("write_file", { path, text: "date" }, "ok", { effect: "write" })
  const start = [...asks, writes("parser")]
  return { a: [...start, writes("date")], b: [...start, writes("parser")] }
})()

/** As an application tells its calls: signed by their text, without an address, ids of the provider and all. */
function toldByApplication(acts: readonly Act[], id: string, more: ScriptOptions = {}): RunToDiff {
  const run = scriptRun(acts, { id, answerIds: "own", ...more })
  return { events: run.events.map(signedByText), body: run.body }
}

function signedByText(event: Event): Event {
  if (event.event_type !== "model_called") return event
  const { http_method: _method, url: _url, ...payload } = event.payload
  const call_signature_hash = textHash(`text ${payload.request_ref}`)
  return { ...event, payload: { ...payload, call_signature_hash, canon_version: 0 } }
}

describe("[P-09] runs whose bodies have to be fetched", () => {
  test("[P-09] differ in what they differ in when all is at hand, whatever is missing, and nothing is fetched more than twice", async () => {
    await fc.assert(
      fc.asyncProperty(twoScripts, options, fc.nat({ max: 5 }), async ({ a, b }, options, lost) => {
        const isLost = (ref: string): boolean => lost > 0 && Number.parseInt(ref.slice(-1), 16) % 6 === lost
        const [runA, runB] = [toldByApplication(a, "A"), toldByApplication(b, "B")]
        const without = (run: RunToDiff): RunToDiff => ({
          events: run.events,
          body: (ref) => (isLost(ref) ? { absent: "unknown" } : run.body(ref)),
        })
        const fetched = new Map<string, number>()
        const stored = (run: RunToDiff) => ({
          events: run.events,
          async body(ref: string) {
            const found = without(run).body(ref)
            if (found instanceof Uint8Array) fetched.set(ref, (fetched.get(ref) ?? 0) + 1)
            return found
          },
        })
        const found = await diffStoredRuns(stored(runA), stored(runB), options)
        expect(found).toEqual(diffRuns(without(runA), without(runB), options))
        // A request is not held on to after it was signed, and comes again when its text is to be compared.
        for (const times of fetched.values()) expect(times).toBeLessThanOrEqual(2)
      }),
      { numRuns: 150, examples: [[ABSENT_ONLY_WHILE_FETCHING, { masks: [], payloads: 2 }, 2]] },
    )
  })

  test("[P-09] why a body is not there is said of the run that lacks it", async () => {
    const lacking = (run: RunToDiff, absent: "pruned" | "hashed"): RunToDiff => ({
      events: run.events,
      body: () => ({ absent }),
    })
    const a = lacking(toldByApplication([model("hello"), tool("read_file", { path: "a" }, "one")], "A"), "pruned")
    const b = lacking(toldByApplication([model("hello"), tool("read_file", { path: "a" }, "two")], "B"), "hashed")
    const stored = (run: RunToDiff) => ({ events: run.events, body: async (ref: string) => run.body(ref) })
    const found = await diffStoredRuns(stored(a), stored(b))
    expect(Object.keys(found.a.absent_bodies)).toEqual(["pruned"])
    expect(Object.keys(found.b.absent_bodies)).toEqual(["hashed"])
    expect(found).toEqual(diffRuns(a, b))
  })

  test("[P-09] an application's calls differ where the same calls on the wire do", () => {
    fc.assert(
      fc.property(twoScripts, ({ a, b }) => {
        const onTheWire = diffRuns(scriptRun(a, { id: "A" }), scriptRun(b, { id: "B" }))
        const told = diffRuns(toldByApplication(a, "A"), toldByApplication(b, "B"))
        const isDifferent = ({ change }: { change: string }): boolean => change !== "same" && change !== "noise"
        expect(told.items.map(isDifferent)).toEqual(onTheWire.items.map(isDifferent))
        expect(told.root).toBe(onTheWire.root)
      }),
      { numRuns: 150 },
    )
  })

  test("[P-09] two secrets that mask alike are two requests, also where an application told the call", async () => {
    const asking = async (secret: string): Promise<RunToDiff> => {
      const sink = new MemorySink()
      const recorder = Recorder.open({ app: "fixer", sink, key: new Uint8Array(32), environment: "local" })
      const run = recorder.startRun({ entrypoint: "fix" })
      const messages = [{ role: "user", content: `log in with the key ${secret} and go on` }]
      const request = { model: "claude-x", max_tokens: 9, system: "Be brief.", messages }
      await run.model({ provider: "anthropic", model: "claude-x", request }, () => ({ type: "message", content: [] }))
      run.complete()
      recorder.close()
      return {
        events: sink.events.filter(({ run_id }) => run_id !== null),
        body: (ref) => sink.bodies.get(ref) ?? { absent: "unknown" },
      }
    }
    const secrets = ["K2m", "ZZZ"].map((middle) => `ghp_aB3dE6gH9j${middle}N5pQ8sT1vW4xY7zA0bC3dE6`)
    const [one, other, again] = [await asking(secrets[0]!), await asking(secrets[1]!), await asking(secrets[0]!)]
    const inputs = (run: RunToDiff): unknown[] =>
      run.events.flatMap((event) => (event.event_type === "model_called" ? [event.payload.request_ref] : []))
    expect(inputs(one)).toEqual(inputs(other))
    expect(diffRuns(one, other).items.find(({ kind }) => kind === "model")).toMatchObject({
      change: "changed",
      fields: ["input"],
    })
    expect(diffRuns(one, again).verdict).toBe("same")
  })

  test("[P-09] masks that break the contract are passed over", () => {
    const run = toldByApplication([model("hello")], "A")
    for (const masks of [3, [null], [{ offset: -1, tag: "t" }], [{ offset: 1e9, length: 4, rule: "x", tag: "t" }]]) {
      const broken = run.events.map((event) => ({
        ...event,
        artifact_refs: event.artifact_refs.map((ref) => ({ ...ref, masks })),
      })) as Event[]
      expect(diffRuns({ ...run, events: broken }, run).items.length).toBeGreaterThan(0)
    }
  })
})
