import { InputError, recordsIn } from "@orangebox/contract"
import { answerDiff } from "@orangebox/reader"
import { type Desk, route } from "../route.js"

const SIDES = {
  a: { is: "text", isNeeded: true, about: "a run" },
  b: { is: "text", isNeeded: true, about: "the run it is compared with" },
} as const

export const diff = route({
  path: "/diff",
  summary: "Two runs: their steps aligned, what differs and where it began; payloads are asked for item by item",
  params: SIDES,
  answer: "RunDiff",
  async handle({ a, b }, desk) {
    const found = await compared(desk, a, b, false)
    return { ...found, items: recordsIn(found, "items").map((item) => ({ ...item, payloads: null })) }
  },
})

export const diffItem = route({
  path: "/diff/{i}",
  summary: "One item of it with its payloads",
  params: { ...SIDES, i: { is: "count", about: "its place in the items" } },
  answer: "RunDiffItem",
  async handle({ a, b, i = 0 }, desk) {
    const found = await compared(desk, a, b, true)
    const items = recordsIn(found, "items")
    const item = items[i]
    if (item !== undefined) return { index: i, ...item, ...desk.freshness }
    throw new InputError("NO_ITEM", {
      what: `there is no item ${i}, there are ${items.length}`,
      next: "They count from 0",
    })
  },
})

async function compared(desk: Desk, a: string, b: string, isAll: boolean): Promise<Record<string, unknown>> {
  const sides = [await desk.whole(a), await desk.whole(b)] as const
  return (await answerDiff(...sides, isAll ? { all: true } : {}, {})).json() as Record<string, unknown>
}
