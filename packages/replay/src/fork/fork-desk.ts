import type { Ask, Outcome } from "../match/ask.js"
import type { Match } from "../match/matcher.js"
import type { ReplaySession } from "../match/session.js"
import type { SessionState } from "../match/session-state.js"

/** Decides for a replay what a fork changes. */
export interface ForkDesk {
  /** Undefined leaves the call to the tape. */
  decide(session: ReplaySession, ask: Ask, match: Match, ticket: number): Outcome | undefined
  isCut(stepId: string): boolean
  unusedRules(state: SessionState): readonly string[]
}
