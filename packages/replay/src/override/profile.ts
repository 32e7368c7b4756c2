import { canonicalHash, OrangeboxError, type SchemaIssue } from "@orangebox/contract"
import { OverrideProfile } from "../generated.js"

export const EMPTY_PROFILE: OverrideProfile = {
  schema_version: 1,
  scope: "from_fork",
  egress: "models_only",
  rules: [],
}

/** Reads a profile, or throws with the place and the reason. */
export function parseProfile(value: unknown, where = "override profile"): OverrideProfile {
  const result = OverrideProfile.safeParse(value)
  const issue = result.success ? ruleIssue(result.data) : result.error.issues[0]
  if (result.success && issue === undefined) return result.data
  throw new OrangeboxError("OVERRIDE_PROFILE", {
    what: `${issue?.path.map(String).join(".") || "the profile"}: ${issue?.message}`,
    where,
    next: "Correct it; the schema is @orangebox/replay/schemas/override-profile.schema.json",
  })
}

/** What no single field can say about itself. */
function ruleIssue({ rules }: OverrideProfile): Pick<SchemaIssue, "path" | "message"> | undefined {
  for (const [i, { select, op }] of rules.entries()) {
    if (isEmpty(select)) return { path: ["rules", i, "select"], message: "must select something" }
    if ("at" in op && isEmpty(op.at)) return { path: ["rules", i, "op", "at"], message: "must say which message" }
  }
  const ids = new Set(rules.map(({ id }) => id))
  return ids.size === rules.length ? undefined : { path: [], message: "rules need different ids" }
}

const isEmpty = (picks: object): boolean => Object.values(picks).every((value) => value === undefined)

/** The same profile has the same id, however it is written. */
export const profileId = (profile: OverrideProfile): string => canonicalHash(profile)
