import type { ContextFault } from "./fault.js"
import { repairUntilValid, type SchemaRepairOptions, type SchemaRepairResult } from "./schema-repair.js"

/** What of a recorder's step is needed: any handle of this shape will do. */
export interface RepairingStep {
  repair(made: {
    readonly kind: "schema"
    readonly before: string
    /** Left out when the attempt failed. */
    readonly after?: string
    readonly attempt: number
    readonly maxAttempts: number
    readonly reason: string
  }): void
  fault(fault: ContextFault): unknown
}

/**
 * `withSchemaRepair`, on record: each attempt is an event of the step when it is over, and when none helped the fault is raised, which stores
 * what the model saw.
 *
 *     const answer = await recordSchemaRepair(step, { output, validate, repair: (text, { problems }) => askAgain(text, problems) })
 *     if (!answer.ok) throw new Error(answer.problems.join("; "))
 */
export async function recordSchemaRepair<T>(
  step: RepairingStep,
  options: SchemaRepairOptions<T>,
): Promise<SchemaRepairResult<T>> {
  const result = await repairUntilValid(options, ({ attempt = 0, max_attempts = 0, reason = "" }, before, after) =>
    step.repair({
      kind: "schema",
      before,
      ...(after === undefined ? {} : { after }),
      attempt,
      maxAttempts: max_attempts,
      reason,
    }),
  )
  if (!result.ok) step.fault(result.fault)
  return result
}
