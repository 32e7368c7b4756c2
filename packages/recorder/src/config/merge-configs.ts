import type { Config } from "@orangebox/contract"
import { readUserRules } from "@orangebox/redaction"

type Rules = NonNullable<Config["redaction"]>

/**
 * The repository's settings over the user's. A single setting replaces the user's; tables (`upstreams`, `judges`, `tools`, `sources`,
 * `journal`, `retention`) are joined name by name; lists (`checks`, `prices`) are put together. The user's redaction rules always stay: a deny of the
 * user's wins over an allow of the repository's, and where both deny a field the stricter policy holds.
 */
export function mergeConfigs(user: Config, repository: Config): Config {
  const merged: Config = { ...user, ...repository }
  for (const table of ["upstreams", "judges", "tools", "sources", "journal", "retention"] as const) {
    if (user[table] !== undefined && repository[table] !== undefined) {
      Object.assign(merged, { [table]: { ...user[table], ...repository[table] } })
    }
  }
  for (const list of ["checks", "prices"] as const) {
    if (user[list] !== undefined && repository[list] !== undefined) {
      Object.assign(merged, { [list]: [...user[list], ...repository[list]] })
    }
  }
  if (user.redaction !== undefined && repository.redaction !== undefined) {
    merged.redaction = mergeRules(user.redaction, repository.redaction)
  }
  return merged
}

function mergeRules(user: Rules, repository: Rules): Rules {
  const deny = strictestByPath([...(user.deny ?? []), ...(repository.deny ?? [])])
  const allow = [...(user.allow ?? []), ...(repository.allow ?? [])].filter((rule) => contradictsNone(rule, deny))
  const names = new Set(user.values?.map(({ id }) => id))
  const pii = repository.pii ?? user.pii
  const publicKeys = repository.publicKeys ?? user.publicKeys
  const safeIds = [...(user.safeIds ?? []), ...(repository.safeIds ?? [])]
  return {
    deny,
    allow,
    keys: [...(user.keys ?? []), ...(repository.keys ?? [])],
    // A rule of the same name would make its masks look like the user's.
    values: [...(user.values ?? []), ...(repository.values ?? []).map((rule) => renamed(rule, names))],
    ...(pii === undefined ? {} : { pii }),
    ...(publicKeys === undefined ? {} : { publicKeys }),
    ...(safeIds.length === 0 ? {} : { safeIds }),
  }
}

type Deny = NonNullable<Rules["deny"]>[number]
const POLICIES = ["redact_required", "hash_only", "drop"] as const

function strictestByPath(rules: readonly Deny[]): Deny[] {
  const byPath = new Map<string, Deny>()
  for (const rule of rules) {
    const known = byPath.get(rule.path)
    if (known === undefined || strictness(rule) > strictness(known)) byPath.set(rule.path, rule)
  }
  return [...byPath.values()]
}

const strictness = ({ policy = "redact_required" }: Deny): number => POLICIES.indexOf(policy)

function contradictsNone(allow: NonNullable<Rules["allow"]>[number], deny: readonly Deny[]): boolean {
  return readUserRules({ deny: [...deny], allow: [allow] }).problems.length === 0
}

function renamed<T extends { readonly id: string }>(rule: T, taken: ReadonlySet<string>): T {
  return taken.has(rule.id) ? { ...rule, id: `repository-${rule.id}`.slice(0, 64) } : rule
}
