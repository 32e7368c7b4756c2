import {
  definitionOf,
  EVENT_TYPES,
  type EventType,
  isEventType,
  OrangeboxError,
  type RedactionRules,
} from "@orangebox/contract"
import { defaultPolicy, type FieldPolicy } from "./field-policies.js"
import { decidePolicy, effectOfDrop, type PolicyDecision } from "./policy-decision.js"
import type { KeyPolicy } from "./redact-value.js"
import type { SweepRule } from "./rule.js"
import { readPattern } from "./safe-pattern.js"

/**
 * What a user may write. Paths are `event_type.field`, `*` standing for any one part: `tool_called.args_ref`, `*.attributes.user`. Without a
 * policy a denied field is `redact_required`. Keys are those of nested objects: the whole value under them goes.
 */
export type UserRules = Omit<RedactionRules, "pii" | "publicKeys">

export interface RuleProblem {
  /** Where the rule stands: `deny[2].path`. For patterns with the character: `values[0].pattern:17`. */
  readonly at: string
  readonly reason: string
}

export interface CompiledRules {
  policyOf(eventType: string, field: string): PolicyDecision
  readonly policyOfKey: KeyPolicy
  readonly hasKeyRules: boolean
  readonly patterns: readonly SweepRule[]
}

/** Rules made ready, or everything that is wrong with them. */
export function readUserRules(
  rules: UserRules,
): { readonly rules: CompiledRules; readonly problems: readonly [] } | { readonly problems: readonly RuleProblem[] } {
  const problems: RuleProblem[] = []
  const report = (at: string, reason: string): void => void problems.push({ at, reason })

  const deny = (rules.deny ?? []).map(({ path, policy = "redact_required" }, i) => {
    checkPath(path, (reason) => report(`deny[${i}].path`, reason))
    if (policy === "drop") checkDrop(path, (reason) => report(`deny[${i}].policy`, reason))
    return { path, policy, parts: path.split(".") }
  })
  const allow = (rules.allow ?? []).map(({ path }, i) => {
    checkPath(path, (reason) => report(`allow[${i}].path`, reason))
    checkAllow(path, deny, (reason) => report(`allow[${i}].path`, reason))
    return path.split(".")
  })
  checkTwice(deny, report)
  const keys = (rules.keys ?? []).flatMap(({ pattern, flags, action }, i) => {
    const reading = readPattern(pattern, flags)
    if (reading.ok) return [{ pattern: new RegExp(`^(?:${pattern})$`, flags), action, i }]
    report(`keys[${i}].pattern:${reading.at}`, reading.reason)
    return []
  })
  const patterns = (rules.values ?? []).flatMap(({ id, pattern, flags, about = "A pattern of the user" }, i) => {
    if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(id)) report(`values[${i}].id`, "use small letters, digits and hyphens")
    const reading = readPattern(pattern, flags)
    if (reading.ok) return [{ id: `user-${id}`, about, pattern: reading.pattern, longest: reading.longest }]
    report(`values[${i}].pattern:${reading.at}`, reading.reason)
    return []
  })
  if (problems.length > 0) return { problems }

  return {
    problems: [],
    rules: {
      policyOf: (eventType, field) => {
        const parts = [eventType, ...field.split(".")]
        const denied = deny.filter((rule) => covers(rule.parts, parts)).map(({ policy }) => policy)
        return decidePolicy(
          strictest(denied),
          defaultPolicy(eventType, field),
          allow.some((path) => covers(path, parts)),
        )
      },
      // A deny among the keys wins over an allow, whatever their order.
      policyOfKey: (key) => {
        const actions = keys.filter(({ pattern }) => pattern.test(key)).map(({ action }) => action)
        return actions.find((action) => action !== "allow") ?? actions[0]
      },
      hasKeyRules: keys.length > 0,
      patterns,
    },
  }
}

/** For a caller that cannot go on with a broken configuration. */
export function compileUserRules(rules: UserRules): CompiledRules {
  const reading = readUserRules(rules)
  if ("rules" in reading) return reading.rules
  const [first] = reading.problems
  throw new OrangeboxError("REDACTION_RULES", {
    what: `${reading.problems.length} redaction rule(s) cannot be used: ${reading.problems.map(({ at, reason }) => `${at} ${reason}`).join("; ")}`,
    where: `redaction.${first?.at ?? ""}`,
    next: "correct the rule or remove it; nothing is recorded under rules that may not hold",
  })
}

/** A rule covers the path it names and everything under it. */
function covers(rule: readonly string[], path: readonly string[]): boolean {
  return rule.length <= path.length && rule.every((part, i) => part === "*" || part === path[i])
}

function strictest(policies: readonly Exclude<FieldPolicy, "raw_allowed">[]): FieldPolicy | undefined {
  return (["drop", "hash_only", "redact_required"] as const).find((policy) => policies.includes(policy))
}

function checkPath(path: string, report: (reason: string) => void): void {
  const [type = "", field, ...rest] = path.split(".")
  if (field === undefined || [type, field, ...rest].includes("")) {
    report("must be event_type.field, with * for any one part")
  } else if (type !== "*" && !isEventType(type)) {
    report(`there is no event type ${JSON.stringify(type)}`)
  } else if (field !== "*" && !typesOf(type).some((one) => hasField(one, field))) {
    report(`no such field: ${type}.${field}`)
  }
}

const ENVELOPE_TEXT = new Set(["attributes", "conversation_id", "source"])

const typesOf = (type: string): readonly EventType[] => (isEventType(type) ? [type] : type === "*" ? EVENT_TYPES : [])

const hasField = (type: EventType, field: string): boolean => ENVELOPE_TEXT.has(field) || fieldsOf(type).includes(field)

function fieldsOf(type: EventType): readonly string[] {
  const { payload } = definitionOf(type)
  return "shape" in payload && typeof payload.shape === "object" && payload.shape !== null
    ? Object.keys(payload.shape)
    : []
}

function checkDrop(path: string, report: (reason: string) => void): void {
  const [type = "", field = "", ...rest] = path.split(".")
  if (rest.length > 0 || ENVELOPE_TEXT.has(field)) return
  for (const one of typesOf(type)) {
    const dropped = field === "*" ? fieldsOf(one) : fieldsOf(one).filter((name) => name === field)
    const firm = dropped.find((name) => effectOfDrop(one, name) === "impossible")
    if (firm !== undefined) {
      report(`${one}.${firm} has no empty form and cannot be dropped`)
      return
    }
  }
}

function checkAllow(
  path: string,
  deny: readonly { readonly path: string; readonly parts: readonly string[] }[],
  report: (reason: string) => void,
): void {
  const parts = path.split(".")
  const denied = deny.find((rule) => covers(rule.parts, parts))
  if (denied !== undefined) report(`contradicts the deny of ${denied.path}, which always wins`)
  const [type = "", field = ""] = parts
  if (!isEventType(type) || field === "*") return
  const standing = defaultPolicy(type, field)
  if (standing === "hash_only" || standing === "drop")
    report(`${path} is ${standing} by its type; an allow cannot lift that`)
}

function checkTwice(
  deny: readonly { readonly path: string; readonly policy: FieldPolicy }[],
  report: (at: string, reason: string) => void,
): void {
  const seen = new Map<string, FieldPolicy>()
  deny.forEach(({ path, policy }, i) => {
    const before = seen.get(path)
    if (before !== undefined && before !== policy) report(`deny[${i}]`, `${path} is already denied as ${before}`)
    seen.set(path, policy)
  })
}
