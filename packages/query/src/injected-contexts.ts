import { type Event, payloadOf } from "@orangebox/contract"
import { injectionWords, missingWords, promptAccountIn } from "@orangebox/dialects"
import type { Step } from "@orangebox/runs"
import type { RunView } from "./run-view.js"

/** The opening of a call whose request held more, less or other context than was compiled or told for it: of its last try, where there were several. */
export function injectedOpening({ kind, attemptNo, attempts, opened }: Step): Event | undefined {
  if (kind !== "model" || attemptNo !== undefined) return undefined
  const openings = [opened, ...attempts.map((attempt) => attempt.opened)].filter((event) => event !== undefined)
  const told = openings.findLast((event) => promptAccountIn(payloadOf(event)) !== undefined)
  const delivery = told && promptAccountIn(payloadOf(told))?.delivery
  return delivery === "context_injected" || delivery === "incomplete" ? told : undefined
}

/** Every call of a run with context that was not compiled for it, and what that is. */
export function injectedContexts({ steps }: RunView): readonly { readonly n: number; readonly detail: string }[] {
  return steps.flatMap(({ n, notes }) =>
    notes.flatMap(({ kind, event }) => {
      const account = kind === "injected" ? promptAccountIn(payloadOf(event)) : undefined
      const detail = account && injectionWords(account)
      return detail === undefined ? [] : [{ n, detail }]
    }),
  )
}

/** Every call of a run whose request lacks items that were told of it, and which. */
export function incompleteContexts({ steps }: RunView): readonly { readonly n: number; readonly detail: string }[] {
  return steps.flatMap(({ n, notes }) =>
    notes.flatMap(({ kind, event }) => {
      const account = kind === "injected" ? promptAccountIn(payloadOf(event)) : undefined
      const detail = account && missingWords(account)
      return detail === undefined ? [] : [{ n, detail }]
    }),
  )
}
