import { estimateTokens, safeJson } from "@orangebox/text"
import fc from "fast-check"
import { expect, test } from "vitest"
import { hostileText, ONLY_SAFE } from "../../text/test/hostile-text.js"
import { MIN_OVERVIEW_BUDGET } from "../src/context/context-overview.js"
import { MIN_WHY_BUDGET } from "../src/context/format-why.js"
import {
  contextJson,
  contextText,
  MIN_CONTEXT_BUDGET,
  overviewText,
  readContext,
  recordedContexts,
  summarizeContexts,
  viewContext,
  viewRun,
  whyOf,
  whyText,
} from "../src/index.js"
import { anyRun } from "./any-run.js"
import { ContextRun, judge, messagesRequest } from "./context-run.js"

const RUNS = { numRuns: 40 }
const address = "last"

/** A run with a compiled context and a talk on the wire, both full of text that tries to be something else. */
const hostileRun = fc
  .record({ texts: fc.array(hostileText, { minLength: 1, maxLength: 12 }), name: hostileText, cut: fc.nat({ max: 8 }) })
  .map(({ texts, name, cut }) => {
    const run = new ContextRun({ entrypoint_name: name, input_summary: name })
    const items = texts.map((text, index) => ({
      id: `${name}${index}`,
      type: "tool_output" as const,
      text,
      sourceRef: `${text.toWellFormed()}#${index}`,
      title: text,
    }))
    const step = run.step(name)
    const compiled = judge({ items, objective: name, invariants: texts, query: name, budgets: { tier1Cap: 60 } })
    run.commit(step, compiled)
    run.send(messagesRequest([{ role: "user", content: compiled.prompt }]), { parent: step })
    const talk = texts.map((content, index) => ({ role: index % 2 ? "assistant" : "user", content }))
    const more = { context_management: { edits: [{ type: name }] }, tools: [{ name, input_schema: {} }] }
    const applied_edits = [{ type: name, [`n${name}`]: 3 }]
    run.send(messagesRequest(talk, more), { answer: { type: "message", context_management: { applied_edits } } })
    run.send(messagesRequest(talk.slice(cut), { system: name }))
    return run
  })

const budgets = fc.integer({ min: MIN_CONTEXT_BUDGET, max: 3000 })

test("[M-05] a context is safe to print and keeps to its budget, whatever is in it", () => {
  fc.assert(
    fc.property(hostileRun, budgets, fc.constantFrom("text", "markdown"), (run, budget, format) => {
      const contexts = recordedContexts(run.view())
      for (const context of contexts) {
        const text = contextText(viewContext(contexts, context, run.bodies), { address, budget, format })
        expect(text).toMatch(ONLY_SAFE)
        expect(estimateTokens(text)).toBeLessThanOrEqual(budget)
      }
    }),
    RUNS,
  )
})

test("[M-05] every row of a context is reached by following the cursor, each once, and JSON pages alike", () => {
  fc.assert(
    fc.property(hostileRun, (run) => {
      const contexts = recordedContexts(run.view())
      for (const context of contexts) {
        const view = viewContext(contexts, context, run.bodies)
        let items = 0
        let pages = 0
        for (let cursor: number | null = 0; cursor !== null; pages++) {
          const page = contextJson(view, { address, budget: MIN_CONTEXT_BUDGET, all: true, cursor })
          items += page.items.length
          expect(page.from).toBe(cursor)
          cursor = page.next_cursor
        }
        expect(items).toBe(view.items.length)
        expect(pages).toBeGreaterThan(0)
        expect(() => JSON.parse(safeJson(contextJson(view, { address })))).not.toThrow()
      }
    }),
    RUNS,
  )
})

test("[M-05] added, changed and the same make up the items; removed, changed and the same those of the context before", () => {
  fc.assert(
    fc.property(hostileRun, (run) => {
      const contexts = recordedContexts(run.view())
      for (const context of contexts) {
        const { changes, items } = viewContext(contexts, context, run.bodies)
        if (!changes) continue
        const before = readContext(contexts.find(({ n }) => n === changes.since)!, run.bodies)
        const { added, removed, changed, same } = changes
        expect(added.length + changed.length + same).toBe(items.length)
        expect(removed.length + changed.length + same).toBe(before.items.length)
      }
    }),
    RUNS,
  )
})

test("[M-05] the table of contexts and the way of an item are safe and keep to their budgets", () => {
  fc.assert(
    fc.property(hostileRun, hostileText, budgets, (run, wanted, budget) => {
      const view = run.view()
      const readings = recordedContexts(view).map((context) => readContext(context, run.bodies))
      const overview = overviewText(view, summarizeContexts(readings), { address, budget })
      const why = whyText(whyOf(readings, wanted), { command: "orangebox context last --why x", budget })
      const first = whyText(whyOf(readings, readings[0]!.items[0]!.id), { command: "x", budget: MIN_WHY_BUDGET })
      for (const text of [overview, why, first]) expect(text).toMatch(ONLY_SAFE)
      expect(estimateTokens(overview)).toBeLessThanOrEqual(budget)
      expect(estimateTokens(why)).toBeLessThanOrEqual(budget)
      expect(estimateTokens(first)).toBeLessThanOrEqual(MIN_WHY_BUDGET)
    }),
    RUNS,
  )
})

test("no run is too broken to ask for its contexts", () => {
  fc.assert(
    fc.property(anyRun, (input) => {
      const view = viewRun(input)
      const contexts = recordedContexts(view)
      const readings = contexts.map((context) => readContext(context, new Map()))
      expect(overviewText(view, summarizeContexts(readings), { address, budget: MIN_OVERVIEW_BUDGET })).toMatch(
        ONLY_SAFE,
      )
      for (const context of contexts) {
        expect(contextText(viewContext(contexts, context, new Map()), { address })).toMatch(ONLY_SAFE)
      }
    }),
    RUNS,
  )
})
