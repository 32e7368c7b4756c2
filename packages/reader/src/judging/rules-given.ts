import { closeSync, openSync, readSync } from "node:fs"
import { Config, InputError, whyNotJson } from "@orangebox/contract"
import {
  type CheckedConstraint,
  compileConstraints,
  describeRuleProblem,
  inferConstraints,
  type RuleProblem,
  type RunReading,
  userRequests,
} from "@orangebox/decisions"

/** How the commands that judge are told by what. */
export interface RuleOptions {
  readonly rules?: string
  readonly rule?: readonly string[]
  /** False with `--no-inferred`. */
  readonly inferred?: boolean
}

/**
 * The rules the user typed; undefined where none were typed, and the configuration and the run have the word. One that cannot be used is refused
 * at once: the user can type it again, and a gate by half its rules is none.
 */
export function rulesGiven({ rules, rule }: RuleOptions): readonly CheckedConstraint[] | undefined {
  if (rules === undefined && rule === undefined) return undefined
  const inFile = rules === undefined ? [] : constraintsIn(readRules(rules), rules)
  const typed = (rule ?? []).map((text) => ({ id: nameOf(text), type: "other" as const, rule: text }))
  if (rules !== undefined && inFile.length === 0)
    throw new InputError("RULES_FILE", { what: "the file holds no rule", where: rules, next: AS_RULES })
  for (const [index, { problem }] of compileConstraints(inFile).entries())
    if (problem) throw noRuleInFile(rules!, index, problem)
  const wrong = compileConstraints(typed).find(({ problem }) => problem !== undefined)?.problem
  if (wrong) throw new InputError("RULE", { what: describeRuleProblem(wrong), next: "See: orangebox check --help" })
  return withOwnIds([...inFile, ...typed]).map((constraint) => ({ ...constraint, source: "config" as const }))
}

/** By its place, without its text: it may be a file of secrets that was named by mistake. */
function noRuleInFile(path: string, index: number, { reason, position, nearest }: RuleProblem): InputError {
  const isName = reason.startsWith("there is no rule ")
  const why = isName ? "there is no rule of that name" : `${reason} (at ${position})`
  return new InputError("RULES_FILE", {
    what: `rule ${index + 1} of the file cannot be used: ${why}${nearest === undefined ? "" : `; did you mean ${nearest}?`}`,
    where: path,
    next: AS_RULES,
  })
}

/** Everything a run is held to: what the configuration says, what it was started with, and what its requests say in so many words. */
export function constraintsFor(
  reading: RunReading,
  checks: readonly CheckedConstraint[],
  options: RuleOptions,
): CheckedConstraint[] {
  const started = reading.index.steps[0]?.opened?.payload as { readonly constraints?: unknown } | undefined
  const own = Config.shape.checks.safeParse(started?.constraints)
  const all: CheckedConstraint[] = [
    ...checks.map((constraint) => ({ ...constraint, source: "config" as const })),
    ...(own.data ?? []).map((constraint) => ({ ...constraint, source: "api" as const })),
  ]
  const inferred = options.inferred === false ? [] : userRequests(reading).flatMap(inferConstraints)
  // What is stated needs not be guessed as well; the same rule once is enough.
  for (const guess of inferred) if (!all.some(({ rule }) => rule === guess.rule)) all.push(guess)
  return withOwnIds(all)
}

/** More than anybody writes; a device has no end at all. */
const MOST_RULES_BYTES = 2 ** 20

function readRules(path: string): string {
  let text: string | undefined
  try {
    text = readAtMost(path, MOST_RULES_BYTES)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new InputError("RULES_FILE", { what: `the rules cannot be read: ${why}`, where: path, cause })
  }
  if (text !== undefined) return text
  throw new InputError("RULES_FILE", { what: `the rules are longer than ${MOST_RULES_BYTES} bytes`, where: path })
}

/** Undefined when there is more. */
function readAtMost(path: string, mostBytes: number): string | undefined {
  const file = openSync(path, "r")
  try {
    const bytes = Buffer.alloc(mostBytes + 1)
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null)
    }
    return length > mostBytes ? undefined : bytes.toString("utf8", 0, length)
  } finally {
    closeSync(file)
  }
}

function constraintsIn(text: string, path: string): CheckedConstraint[] {
  if (!/^\s*[[{]/.test(text)) {
    return text.split(/\r?\n/).flatMap((line): CheckedConstraint[] => {
      const rule = line.trim()
      return rule === "" || rule.startsWith("#") ? [] : [{ id: nameOf(rule), type: "other", rule }]
    })
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new InputError("RULES_FILE", {
      what: `the rules are not valid JSON: ${whyNotJson(text)}`,
      where: path,
      next: AS_RULES,
      cause,
    })
  }
  const listed = Array.isArray(value) ? value : ((value as { checks?: unknown }).checks ?? null)
  const read = Config.shape.checks.safeParse(listed ?? null)
  if (read.success) return read.data ?? []
  const issue = read.error.issues[0]
  throw new InputError("RULES_FILE", {
    what: `${["checks", ...(issue?.path ?? [])].join(".")}: ${issue?.message ?? "not a list of rules"}`,
    where: path,
    next: AS_RULES,
  })
}

const AS_RULES = 'Write [{ "id": "src-only", "type": "scope", "rule": "paths.only src/**" }], or one rule a line'

const nameOf = (rule: string): string => /^[\w.:-]+/.exec(rule.trim())?.[0].slice(0, 60) || "rule"

/** Results are told apart by id, judges answer by id. */
function withOwnIds<T extends CheckedConstraint>(constraints: readonly T[]): T[] {
  const seen = new Map<string, number>()
  return constraints.map((constraint) => {
    const count = (seen.get(constraint.id) ?? 0) + 1
    seen.set(constraint.id, count)
    return count === 1 ? constraint : { ...constraint, id: `${constraint.id}.${count}` }
  })
}
