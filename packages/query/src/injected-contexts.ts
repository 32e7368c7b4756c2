import { type Event, payloadOf } from "@orangebox/contract"
import { injectionWords, promptAccountIn } from "@orangebox/dialects"
import type { Step } from "@orangebox/runs"
import type { RunView } from "./run-view.js"

/** The opening of a call whose request held more, or other, context than was compiled for it: of its last try, where there were several. */
export function injectedOpening({ kind, attemptNo, attempts, opened }: Step): Event | undefined {
  if (kind !== "model" || attemptNo !== undefined) return undefined
  const openings = [opened, ...attempts.map((attempt) => attempt.opened)].filter((event) => event !== undefined)
  const told = openings.findLast((event) => promptAccountIn(payloadOf(event)) !== undefined)
  return told && promptAccountIn(payloadOf(told))?.delivery === "context_injected" ? told : undefined
}

/** Every call of a run with context that was not compiled for it, and what that is. */
export function injectedContexts({ steps }: RunView): readonly { readonly n: number; readonly detail: string }[] {
  return steps.flatMap(({ n, notes }) =>
    notes.flatMap(({ kind, event }) => {
      const account = kind === "injected" ? promptAccountIn(payloadOf(event)) : undefined
      return account ? [{ n, detail: injectionWords(account) ?? "" }] : []
    }),
  )
}
