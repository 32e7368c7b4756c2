import { type Event, textHash } from "@orangebox/contract"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type DiffOptions, diffRuns, diffStoredRuns, type RunToDiff } from "../../src/diff/index.js"
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
      { numRuns: 150 },
    )
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
})
