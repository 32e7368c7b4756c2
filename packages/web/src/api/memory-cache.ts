import { useEffect, useRef, useState } from "preact/hooks"
import { ApiProblem, ask } from "./client.js"

/** What a pane knows of its answer. A value stays while a newer one is asked for, so that nothing jumps. */
export interface Asked<Answer> {
  readonly value: Answer | null
  readonly problem: ApiProblem | null
  readonly isLoading: boolean
  readonly retry: () => void
}

/** Answers of this visit, the least recently used forgotten first. */
const MOST_ANSWERS = 60
const known = new Map<string, unknown>()

export const knownAnswer = <Answer>(path: string): Answer | null => (known.get(path) as Answer | undefined) ?? null

/** The answer that is known, or the one that is under way, or a new one. */
export function askOnce<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  const before = known.get(path)
  if (before !== undefined) {
    known.delete(path)
    known.set(path, before)
    return Promise.resolve(before as Answer)
  }
  const asked = underWay.get(path)
  if (asked !== undefined) return asked as Promise<Answer>
  const answer = askAgain<Answer>(path, signal).finally(() => underWay.delete(path))
  // Who may take it back has it alone.
  if (signal === undefined) underWay.set(path, answer)
  return answer
}

const underWay = new Map<string, Promise<unknown>>()

export async function askAgain<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  const answer = await ask<Answer>(path, signal)
  keepAnswer(path, answer)
  return answer
}

export function keepAnswer(path: string, answer: unknown): void {
  known.delete(path)
  known.set(path, answer)
  if (known.size > MOST_ANSWERS) known.delete(known.keys().next().value!)
}

/** Forgets what may have changed: a run that grew, a store that was written to. */
export function forget(isChanged: (path: string) => boolean): void {
  for (const path of [...known.keys()]) if (isChanged(path)) known.delete(path)
}

/** Asks for an answer and asks again whenever `version` changes. `null` asks for nothing. */
export function useAnswer<Answer>(path: string | null, version: number = 0): Asked<Answer> {
  const [state, setState] = useState<{ path: string | null; value: Answer | null; problem: ApiProblem | null }>(() => ({
    path,
    value: path === null ? null : knownAnswer<Answer>(path),
    problem: null,
  }))
  const [tries, setTries] = useState(0)
  const asked = useRef<{ path: string | null; version: number; tries: number }>({ path: null, version: -1, tries: -1 })
  useEffect(() => {
    if (path === null) return
    const isRepeat = asked.current.path === path && (asked.current.version !== version || asked.current.tries !== tries)
    asked.current = { path, version, tries }
    const controller = new AbortController()
    const load = isRepeat ? askAgain<Answer>(path, controller.signal) : askOnce<Answer>(path, controller.signal)
    load.then(
      (value) => {
        if (!controller.signal.aborted) setState({ path, value, problem: null })
      },
      (cause) => {
        if (!controller.signal.aborted)
          setState((last) => ({ path, value: last.path === path ? last.value : null, problem: asProblem(cause) }))
      },
    )
    return () => controller.abort()
  }, [path, version, tries])
  const isCurrent = state.path === path
  const value = path === null ? null : isCurrent ? state.value : knownAnswer<Answer>(path)
  return {
    value,
    problem: isCurrent ? state.problem : null,
    isLoading: path !== null && value === null && !(isCurrent && state.problem),
    retry: () => setTries((count) => count + 1),
  }
}

export const asProblem = (cause: unknown): ApiProblem =>
  cause instanceof ApiProblem
    ? cause
    : new ApiProblem({ code: "PAGE", what: `this page could not go on: ${String(cause)}` })
