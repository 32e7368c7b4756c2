import { OrangeboxError, type PayloadOf, summarizeText, textHash } from "@orangebox/contract"
import { type ContextFault, contextFault } from "./fault.js"

export type Validation<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] }

/** One attempt, in the form of the recorder's `repair` event. */
export type RepairRecord = PayloadOf<"repair">

export type SchemaRepairResult<T> = {
  /** The text that was accepted, or the last one that was not. */
  readonly output: string
  readonly repairs: readonly RepairRecord[]
  /** Every text the repairs refer to, by hash. */
  readonly bodies: ReadonlyMap<string, Uint8Array>
} & (
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[]; readonly fault: ContextFault }
)

export interface SchemaRepairOptions<T> {
  readonly output: string
  readonly validate: (output: string) => Validation<T> | PromiseLike<Validation<T>>
  readonly repair: (
    output: string,
    about: { readonly problems: readonly string[]; readonly attempt: number },
  ) => string | PromiseLike<string>
  /** Default 2. */
  readonly maxAttempts?: number
}

/**
 * Validates a model's answer and has it repaired until it is valid or the attempts are used up, which is a fault. The loop itself does no
 * I/O: `repair` is where a caller asks the model again. Whatever `validate` or `repair` throw counts as a failed attempt.
 */
export function withSchemaRepair<T>(options: SchemaRepairOptions<T>): Promise<SchemaRepairResult<T>> {
  return repairUntilValid(options, () => {})
}

/** The loop; `onAttempt` is called for each attempt when it is over, with its texts. */
async function repairUntilValid<T>(
  options: SchemaRepairOptions<T>,
  onAttempt: (record: RepairRecord, before: string, after: string | undefined) => void,
): Promise<SchemaRepairResult<T>> {
  const { validate, repair, maxAttempts = 2 } = options
  if (!Number.isSafeInteger(maxAttempts) || maxAttempts < 0) {
    throw new OrangeboxError("CONTEXT_REPAIR", {
      what: `maxAttempts is ${String(maxAttempts)}, not a count from 0`,
      where: "maxAttempts",
    })
  }
  const repairs: RepairRecord[] = []
  const bodies = new Map<string, Uint8Array>()
  const keep = (text: string): string => {
    const ref = textHash(text)
    bodies.set(ref, new TextEncoder().encode(text))
    return ref
  }

  let output = options.output.toWellFormed()
  let found = await judged(validate, output)
  for (let attempt = 1; !found.ok && attempt <= maxAttempts; attempt++) {
    const before = output
    const { problems } = found
    let reason = problems.join("; ")
    try {
      const repaired: unknown = await repair(before, { problems, attempt })
      if (typeof repaired !== "string") throw new TypeError(`the repair is ${typeof repaired}, not text`)
      output = repaired.toWellFormed()
      found = await judged(validate, output)
    } catch (error) {
      reason = `the repair failed: ${String(error)}`
    }
    const record: RepairRecord = {
      kind: "schema",
      before_ref: keep(before),
      after_ref: found.ok ? keep(output) : null,
      outcome: found.ok ? "repaired" : "failed",
      attempt,
      max_attempts: maxAttempts,
      reason: summarizeText(reason),
    }
    repairs.push(record)
    onAttempt(record, before, found.ok ? output : undefined)
  }
  if (found.ok) return { ok: true, value: found.value, output, repairs, bodies }
  keep(output)
  const detail = `no valid answer after ${maxAttempts} repairs: ${found.problems.join("; ")}`
  const fault = contextFault("schema_repair_failure", detail)
  return { ok: false, problems: found.problems, fault, output, repairs, bodies }
}

async function judged<T>(
  validate: (output: string) => Validation<T> | PromiseLike<Validation<T>>,
  output: string,
): Promise<Validation<T>> {
  try {
    return await validate(output)
  } catch (error) {
    return { ok: false, problems: [`the validator threw: ${String(error)}`] }
  }
}

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
