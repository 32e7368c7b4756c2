import type { Constraint } from "@orangebox/contract"

/** Who asked for it: the configuration, the application, or the request's own words as far as they could be read. */
export type ConstraintSource = "config" | "api" | "inferred"

/** A constraint to be judged. An inferred one never weighs more than a warning, whatever its severity says. */
export interface CheckedConstraint extends Constraint {
  readonly severity?: "warn" | "fail" | undefined
  readonly source?: ConstraintSource | undefined
}

export const severityOf = (constraint: CheckedConstraint): "warn" | "fail" =>
  constraint.source === "inferred" ? "warn" : (constraint.severity ?? "fail")
