import type { DiffStep } from "./diff-step.js"
import type { DiffRun } from "./read-steps.js"
import type { Lineage } from "./run-to-diff.js"

/** A chain of replays is followed no further than this. */
const MAX_GENERATIONS = 64

/** The run that two runs both go back to; undefined when they are unrelated. */
export function commonAncestor(a: DiffRun, b: DiffRun, lineage: Lineage | undefined): string | undefined {
  const ofA = new Set(ancestorsOf(a, lineage))
  return ancestorsOf(b, lineage).find((runId) => ofA.has(runId))
}

/** Pairs of steps that stand for the same step of the common ancestor. One pass over each run. */
export function namedPairs(
  a: DiffRun,
  b: DiffRun,
  ancestor: string,
  lineage: Lineage | undefined,
): (readonly [DiffStep, DiffStep])[] {
  const originalInA = originals(ancestorsOf(a, lineage), ancestor, lineage)
  const originalInB = originals(ancestorsOf(b, lineage), ancestor, lineage)
  const inA = new Map<string, DiffStep>()
  for (const step of a.steps) {
    const original = originalInA(step)
    if (original !== undefined && !inA.has(original)) inA.set(original, step)
  }
  const pairs: (readonly [DiffStep, DiffStep])[] = []
  for (const step of b.steps) {
    const original = originalInB(step)
    const other = original === undefined ? undefined : inA.get(original)
    if (other && other.kind === step.kind) pairs.push([other, step])
  }
  return pairs
}

function ancestorsOf({ run }: DiffRun, lineage: Lineage | undefined): string[] {
  const runs: string[] = []
  let next = run.runId
  while (next !== undefined && runs.length < MAX_GENERATIONS && !runs.includes(next)) {
    runs.push(next)
    next = next === run.runId ? run.replay?.source_run_id : lineage?.sourceOfRun(next)
  }
  return runs
}

/** Which step of the ancestor a step stands for. An event inside a step has no origin of its own. */
function originals(
  [own, ...others]: readonly string[],
  ancestor: string,
  lineage: Lineage | undefined,
): (step: DiffStep) => string | undefined {
  return (step) => {
    if (step.eventId !== undefined) return undefined
    if (own === ancestor) return step.id
    let original = step.sourceStepId
    for (const runId of others) {
      if (original === undefined || runId === ancestor) return original
      original = lineage?.sourceOfStep(runId, original)
    }
    return undefined
  }
}
