import { anthropicMessages } from "./anthropic-messages/index.js"
import type { Dialect, FinishKind, ProviderAccess } from "./dialect.js"
import { gemini } from "./gemini/index.js"
import { openaiChat } from "./openai-chat/index.js"
import { openaiResponses } from "./openai-responses/index.js"

/** Every dialect known here, in the order in which they are asked whether a call is theirs. */
export const DIALECTS: readonly Dialect[] = [gemini, anthropicMessages, openaiResponses, openaiChat]

export function dialectOf(id: string): Dialect | undefined {
  return DIALECTS.find((dialect) => dialect.id === id)
}

/** How the known providers are reached, in the order of their names. */
export function providerAccesses(): readonly ProviderAccess[] {
  const accesses = DIALECTS.flatMap(({ access }) => [access, ...(access.besides ?? [])])
  return [...new Set(accesses)].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The path as the provider's own servers know it: with the version that a client left out because it takes it for a part of the base URL. */
export function versionedPath({ version }: ProviderAccess, pathAndQuery: string): string {
  return version.endpoints.test(pathAndQuery) ? `${version.path}${pathAndQuery}` : pathAndQuery
}

/** Null for a reason of none; `other` for a reason that no dialect knows. Readers have only the word, and no two dialects disagree on one. */
export function finishKindOf(reason: string | null): FinishKind | null {
  if (reason === null) return null
  const dialect = DIALECTS.find(({ finishReasons }) => Object.hasOwn(finishReasons, reason))
  return dialect?.finishReasons[reason] ?? "other"
}

/** Whether a header, in lower case, holds a key or names an account at some provider. */
export function isProviderSecret(header: string): boolean {
  return DIALECTS.some(({ access }) => access.secretHeaders.includes(header))
}

/**
 * The headers that change what a server does, `name: value` each, in one order. Servers that pass a request on read those of other providers
 * too, so all are asked for whatever the dialect.
 *
 * @param headers names in lower case
 */
export function behaviourHeadersOf(headers: Readonly<Record<string, string | undefined>>): readonly string[] {
  const names = new Set(providerAccesses().flatMap(({ behaviourHeaders }) => behaviourHeaders))
  return [...names].sort().flatMap((name) => (headers[name] === undefined ? [] : [`${name}: ${headers[name]}`]))
}

/** Whether a header, in lower case, says how a provider is to treat the call: its version, what is tried out. */
export function isBehaviourHeader(header: string): boolean {
  return DIALECTS.some(({ access }) => access.behaviourHeaders.includes(header) || access.versionHeader === header)
}
