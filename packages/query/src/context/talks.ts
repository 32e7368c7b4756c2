import type { RunView } from "../run-view.js"
import { talkOf } from "./lanes.js"
import { recordedContexts } from "./recorded-contexts.js"

/**
 * Which talk of its run each call belongs to, by the number of the call. A talk goes on where something that was said is said again; one that is
 * never gone on with is no talk of its own: an agent that writes its prompt anew each time says nothing twice.
 */
export function talksOf(view: RunView): ReadonlyMap<number, number> {
  const talks: { readonly lane: string | undefined; readonly said: Set<string>; readonly calls: number[] }[] = []
  for (const context of recordedContexts(view)) {
    const { messages } = talkOf(context)
    if (context.isAuxiliary || messages.length === 0) continue
    const known = talks.findLast(({ lane, said }) => lane === context.lane && messages.some((hash) => said.has(hash)))
    const talk = known ?? { lane: context.lane, said: new Set<string>(), calls: [] }
    if (known === undefined) talks.push(talk)
    for (const hash of messages) talk.said.add(hash)
    talk.calls.push(context.n)
  }
  return new Map(talks.flatMap(({ calls }, index) => (calls.length > 1 ? calls.map((n) => [n, index] as const) : [])))
}
