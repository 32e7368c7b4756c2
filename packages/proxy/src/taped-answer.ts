import { setTimeout as sleep } from "node:timers/promises"
import type { EmissionPlan } from "@orangebox/replay"

/** What becomes of an answer that comes off a tape while it is given. */
export interface TapedAnswerGiven {
  /** In the journal, then at the client; resolves when the client can take more. */
  write(bytes: Uint8Array): Promise<void> | undefined
  /** True when nobody listens any more. */
  isOver(): boolean
}

/** Writes the pieces of an answer when they are due. Resolves when its end is. */
export async function giveTapedAnswer(plan: EmissionPlan, given: TapedAnswerGiven): Promise<void> {
  const startedAt = performance.now()
  for (const { atMs, bytes } of plan.pieces) {
    await due(startedAt, atMs)
    if (given.isOver()) return
    const written = given.write(bytes)
    if (written) await written
  }
  await due(startedAt, plan.end.atMs)
}

async function due(startedAt: number, atMs: number): Promise<void> {
  const waitMs = startedAt + atMs - performance.now()
  if (waitMs > 0.5) await sleep(waitMs)
}
