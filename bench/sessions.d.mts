/** The bodies of one session, in the order they are recorded: request, response, tool arguments, tool result, request, … */
export type Session = readonly Buffer[]
export type WireStyle = "anthropic" | "openai" | "spaced"
export interface SessionPlan {
  readonly seed: number
  readonly calls: number
  /** How much new text a call adds on average, as JSON. */
  readonly bytesPerCall: number
  readonly style: WireStyle
}
export function generatedSession(plan: SessionPlan): Session
/** One session for each trajectory of the corpus, or nothing where the corpus is absent. Path relative to the repository. */
export function trajectorySessions(root: string): { readonly name: string; readonly session: Session }[]
