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

/**
 * Asks for an answer and asks again whenever `version` changes. `null` asks for nothing. What is under way is let come: a run that changes four
 * times a second would never be told otherwise. Between two answers there is a rest, so that what takes long to work out is not all that is done.
 */
export function useAnswer<Answer>(path: string | null, version: number = 0, restMs = 0): Asked<Answer> {
  const [state, setState] = useState<{ path: string | null; value: Answer | null; problem: ApiProblem | null }>(() => ({
    path,
    value: path === null ? null : knownAnswer<Answer>(path),
    problem: null,
  }))
  const [tries, setTries] = useState(0)
  const again = useAgain(
    path,
    tries,
    version,
    async (isRepeat, signal) => {
      if (path === null) return
      try {
        const value = await (isRepeat ? askAgain<Answer>(path, signal) : askOnce<Answer>(path, signal))
        if (!signal.aborted) setState({ path, value, problem: null })
      } catch (cause) {
        if (!signal.aborted)
          setState((last) => ({ path, value: last.path === path ? last.value : null, problem: asProblem(cause) }))
      }
    },
    restMs,
  )
  const isCurrent = state.path === path
  const value = path === null ? null : isCurrent ? state.value : knownAnswer<Answer>(path)
  return {
    value,
    problem: isCurrent ? state.problem : null,
    isLoading: path !== null && value === null && !(isCurrent && state.problem),
    retry: () => {
      again.current = true
      setTries((count) => count + 1)
    },
  }
}

/**
 * Does `work` for a subject, and again when its version has changed: never twice at once, and once more at the end where something changed
 * meanwhile. Another subject, or another try, takes back what is under way.
 */
export function useAgain(
  subject: string | null,
  tries: number,
  version: number,
  work: (isRepeat: boolean, signal: AbortSignal) => Promise<void>,
  restMs = 0,
): { current: boolean } {
  const isRetry = useRef(false)
  const doing = useRef({ version, isBusy: false, isStale: false, start: (_isRepeat: boolean) => {} })
  const latest = useRef(work)
  latest.current = work
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const now = { version, isBusy: false, isStale: false, start }
    doing.current = now
    async function start(isRepeat: boolean): Promise<void> {
      now.isBusy = true
      now.isStale = false
      await latest.current(isRepeat, signal)
      if (restMs > 0) await new Promise((resume) => setTimeout(resume, restMs))
      now.isBusy = false
      if (now.isStale && !signal.aborted) void start(true)
    }
    if (subject !== null) void start(isRetry.current)
    isRetry.current = false
    return () => controller.abort()
  }, [subject, tries])
  useEffect(() => {
    const now = doing.current
    if (now.version === version || subject === null) return
    now.version = version
    if (now.isBusy) now.isStale = true
    else void now.start(true)
  }, [version, subject])
  return isRetry
}

export const asProblem = (cause: unknown): ApiProblem =>
  cause instanceof ApiProblem
    ? cause
    : new ApiProblem({ code: "PAGE", what: `this page could not go on: ${String(cause)}` })
