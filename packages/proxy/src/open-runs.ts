import { WIRE_REDUCER } from "@orangebox/dialects"
import { completeInferred, joinConversation, type Run } from "@orangebox/recorder"

/** What is known about a conversation when a run for it is opened. */
export interface RunOpening {
  readonly name: string
  readonly input: string | undefined
  readonly conversationId: string | undefined
  /** The run this one goes on from, where that one was ended before. */
  readonly continues: string | undefined
}

/** A run that traffic is recorded in. */
export interface OpenRun {
  readonly run: Run
  /** Keeps the run from ending until the returned function is called. */
  hold(): () => void
}

/** Decides which run a call is recorded in. */
export interface OpenRuns {
  /** For a conversation that belongs to no run yet. */
  open(opening: RunOpening): OpenRun
  /** For what belongs to no conversation: side calls and plain requests. */
  latest(): OpenRun | undefined
  onEnding(listener: (run: Run) => void): void
  close(): void
}

/** `orangebox run`: one command is one run, and the command ends it. */
export function oneRun(run: Run): OpenRuns {
  const only: OpenRun = { run, hold: () => () => {} }
  let ending = (_: Run): void => {}
  return {
    open({ conversationId }) {
      // The command was there before its client named the conversation.
      if (conversationId !== undefined) joinConversation(run, conversationId)
      return only
    },
    latest: () => only,
    onEnding(listener) {
      ending = listener
    },
    close: () => ending(run),
  }
}

/** A standing proxy: every conversation is a run, and one in which nothing happens any more has ended. That is deduced. */
export function runPerConversation(startRun: (opening: RunOpening) => Run, idleMs: number): OpenRuns {
  const runs = new Set<IdleRun>()
  let ending = (_: Run): void => {}
  return {
    open(opening) {
      const idle = new IdleRun(startRun(opening), idleMs, () => {
        runs.delete(idle)
        ending(idle.run)
        completeInferred(idle.run, WIRE_REDUCER, { ended_by: "idleness", idle_ms: idleMs })
      })
      runs.add(idle)
      return idle
    },
    latest: () => [...runs].at(-1),
    onEnding(listener) {
      ending = listener
    },
    close() {
      for (const { run, stop } of runs) {
        stop()
        ending(run)
        completeInferred(run, WIRE_REDUCER, { ended_by: "proxy_closed" })
      }
      runs.clear()
    },
  }
}

class IdleRun implements OpenRun {
  readonly run: Run
  readonly #idleMs: number
  readonly #onIdle: () => void
  #holders = 0
  #timer: NodeJS.Timeout | undefined

  constructor(run: Run, idleMs: number, onIdle: () => void) {
    this.run = run
    this.#idleMs = idleMs
    this.#onIdle = onIdle
    this.#wait()
  }

  hold(): () => void {
    this.stop()
    this.#holders++
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      if (--this.#holders === 0) this.#wait()
    }
  }

  readonly stop = (): void => clearTimeout(this.#timer)

  #wait(): void {
    this.#timer = setTimeout(this.#onIdle, this.#idleMs)
    // A proxy with nothing else to do may end; closing it ends its runs.
    this.#timer.unref()
  }
}
