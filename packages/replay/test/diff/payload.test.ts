import { readJson } from "@orangebox/contract"
import { diffRuns, type PayloadOp } from "@orangebox/replay"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { jsonOps, newOps } from "../../src/diff/json-ops.js"
import { diffTexts } from "../../src/diff/text-diff.js"
import { type Act, model, scriptRun, tool } from "./script-run.js"

function opsBetween(a: unknown, b: unknown): { ops: string[]; more: number } {
  const [nodeA, nodeB] = [a, b].map((value) => {
    const reading = readJson(JSON.stringify(value))
    if (!reading.ok) throw new Error("not JSON")
    return reading.node
  })
  const found = newOps()
  jsonOps(nodeA, nodeB, "", found)
  return { ops: found.ops.map(brief), more: found.more }
}

const brief = ({ op, ptr, a, b }: PayloadOp): string => `${op} ${ptr} ${a ?? ""} -> ${b ?? ""}`

describe("[P-09] payload diffs", () => {
  test("[P-09] tools are told apart by name, documents by id, content blocks by type; their order is no difference", () => {
    const tools = [
      { name: "read", description: "reads" },
      { name: "write", description: "writes" },
    ]
    expect(opsBetween({ tools }, { tools: [tools[1], { ...tools[0], description: "reads files" }] }).ops).toEqual([
      "change /tools/0/description reads -> reads files",
    ])
    const documents = [
      { chunk_id: "a", score: 1 },
      { chunk_id: "b", score: 2 },
    ]
    expect(opsBetween(documents, [{ chunk_id: "c", score: 3 }, ...documents]).ops).toEqual([
      'add /0  -> {"chunk_id":"c","score":3}',
    ])
    const blocks = (text: string) => [
      { type: "text", text },
      { type: "image", source: "s" },
      { type: "text", text: "tail" },
    ]
    expect(opsBetween(blocks("one"), blocks("two")).ops).toEqual(["change /0/text one -> two"])
    expect(
      opsBetween([{ function: { name: "x", strict: true } }], [{ function: { name: "x", strict: false } }]).ops,
    ).toEqual(["change /0/function/strict true -> false"])
  })

  test("[P-09] other lists are compared by equal items, so that one new item is one operation", () => {
    expect(opsBetween([1, 2, 3, 4], [1, 9, 2, 3, 4]).ops).toEqual(["add /1  -> 9"])
    expect(opsBetween(["a", "b", "c"], ["a", "c"]).ops).toEqual(["remove /1 b -> "])
    expect(opsBetween({ n: [[1], [2]] }, { n: [[1], [3]] }).ops).toEqual(["change /n/1/0 2 -> 3"])
  })

  test("[P-09] JSON inside a string is compared as JSON, numbers by their digits", () => {
    expect(opsBetween({ arguments: '{"path":"a","n":1}' }, { arguments: '{"n":1,"path":"b"}' }).ops).toEqual([
      "change /arguments/path a -> b",
    ])
    expect(opsBetween({ a: 1 }, { a: 2 }).ops).toEqual(["change /a 1 -> 2"])
    const opsOf = (a: string, b: string) => {
      const [before, after] = [readJson(a), readJson(b)]
      const found = newOps()
      if (before.ok && after.ok) jsonOps(before.node, after.node, "", found)
      return found.ops
    }
    expect(opsOf("[12345678901234567890]", "[12345678901234567891]")).toHaveLength(1)
    expect(opsOf('{"a":1,"a":2,"b":1}', '{"a":1,"a":2,"b":2}')).toMatchObject([{ op: "change", ptr: "/b" }])
  })

  test("[P-09] no difference gives no operation, any difference at least one, and many are counted", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(opsBetween(a, a)).toEqual({ ops: [], more: 0 })
        const canonical = (value: unknown) => JSON.stringify(JSON.parse(JSON.stringify(value)))
        const { ops } = opsBetween(a, b)
        if (ops.length === 0) expect(sorted(a)).toEqual(sorted(b))
        else expect(canonical(a)).not.toBe(canonical(b))
      }),
      { numRuns: 300, seed: 7 },
    )
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, i]))
    const { ops, more } = opsBetween(many, {})
    expect(ops.length + more).toBe(100)
    expect(more).toBeGreaterThan(0)
  })

  test("[P-09] hostile nesting is cut off, not followed", () => {
    const deep = (leaf: string): unknown => JSON.parse(`${"[".repeat(3_000)}"${leaf}"${"]".repeat(3_000)}`)
    expect(opsBetween(deep("a"), deep("b")).ops).toHaveLength(1)
  })

  test("[P-09] the hunks of a text diff are what was taken out and put in, and characters stay whole", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("eins ", "zwei ", "👍🏽 ", "drei", "\n", "…")), fc.nat(), (words, seed) => {
        const a = words.join("")
        const changed: string[] = [...words]
        changed.splice(seed % (words.length + 1), 1, "NEW ")
        const b = changed.join("")
        const diff = diffTexts(a, b)
        expect(diff).toMatchObject({ chars_a: a.length, chars_b: b.length })
        let rebuilt = ""
        let at = 0
        for (const hunk of diff.hunks) {
          expect(a.slice(hunk.at, hunk.at + hunk.a.length)).toBe(hunk.a)
          expect(hunk.before.isWellFormed() && hunk.a.isWellFormed() && hunk.b.isWellFormed()).toBe(true)
          rebuilt += a.slice(at, hunk.at) + hunk.b
          at = hunk.at + hunk.a.length
        }
        expect(rebuilt + a.slice(at)).toBe(b)
      }),
      { numRuns: 300, seed: 7 },
    )
  })

  test("[P-09] long texts are compared line by line, hopeless ones are told as replaced", () => {
    const lines = Array.from({ length: 4_000 }, (_, i) => `line ${i} of the file`)
    const changed = lines.with(2_000, "line 2000 of another file")
    expect(diffTexts(lines.join("\n"), changed.join("\n")).hunks).toEqual([
      expect.objectContaining({ a: "the", b: "another" }),
    ])
    const noise = (seed: number) =>
      Array.from({ length: 6_000 }, (_, i) => `${seed}x${((i * seed) % 7919).toString(36)}`).join(" ")
    expect(diffTexts(noise(31), noise(57)).form).toBe("replaced")
  })

  test("[P-09] an edited message is told once, where it was first sent; later calls inherit it", () => {
    const acts: Act[] = [
      model("one"),
      tool("t", { i: 1 }, "r1"),
      model("two"),
      tool("t", { i: 2 }, "r2"),
      model("three"),
    ]
    const diff = diffRuns(
      scriptRun(acts, { id: "A", system: "You are a careful engineer." }),
      scriptRun(acts, { id: "B", system: "You are a reckless engineer." }),
    )
    const inputs = diff.items.filter(({ kind }) => kind === "model").map(({ payloads }) => payloads![0]!)
    expect(inputs.map(({ form, ops, inherits }) => ({ form, ops: ops.length, inherits }))).toEqual([
      { form: "context", ops: 1, inherits: [] },
      { form: "context", ops: 0, inherits: [{ item: 1, parts: 1 }] },
      { form: "context", ops: 0, inherits: [{ item: 1, parts: 1 }] },
    ])
    expect(inputs[0]!.ops[0]).toMatchObject({ op: "change", ptr: "/system" })
  })

  test("[P-09] what a request says again of an answer or a result is inherited from that step", () => {
    const acts = (result: string, says: string): Act[] => [
      model("one"),
      tool("t", { i: 1 }, result),
      model(says),
      tool("t", { i: 2 }, "r2"),
      model("end"),
    ]
    const diff = diffRuns(scriptRun(acts("r1", "two"), { id: "A" }), scriptRun(acts("r9", "zwei"), { id: "B" }))
    const inherits = diff.items
      .filter(({ kind }) => kind === "model")
      .map(({ payloads }) => payloads?.find(({ what }) => what === "input")?.inherits)
    expect(inherits).toEqual([
      undefined,
      [{ item: 2, parts: 1 }],
      [
        { item: 2, parts: 1 },
        { item: 3, parts: 1 },
      ],
    ])
  })
})

/** Lists of things with names or ids are sets to a payload diff; so they are here. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted).sort((x, y) => (JSON.stringify(x) < JSON.stringify(y) ? -1 : 1))
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? 0 : value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, sorted(inner)] as const)
      .sort(([x], [y]) => (x < y ? -1 : 1)),
  )
}
