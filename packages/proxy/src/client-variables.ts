import { resolve } from "node:path"
import { OrangeboxError } from "@orangebox/contract"
import { type ProviderAccess, providerAccesses } from "@orangebox/dialects"

/** A variable the user names. Its upstream is what it holds already, or the URL given here. */
export interface ExtraVariable {
  readonly name: string
  readonly url?: string
}

/** One variable as the command will see it. */
export interface PlannedVariable {
  readonly name: string
  readonly upstream: string
  /** What stands behind the upstream's origin. */
  readonly path: string
  /** The base URL that the command would have used without us. */
  readonly before: string
}

export interface VariablePlan {
  /** Name → origin, for the proxy. */
  readonly upstreams: Readonly<Record<string, string>>
  readonly variables: readonly PlannedVariable[]
  /** Upstreams no variable of the user leads to: their clients never saw a base URL, so the version they leave out is ours to put in. */
  readonly versioned: readonly string[]
  /** Variables left as they are, and why. */
  readonly skipped: readonly { readonly name: string; readonly why: string }[]
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Chains every variable to the upstream it names already, else to the one another variable of its provider names, else to the one the
 * configuration names, else to the provider: with the proxy in between a command reaches the servers it would have reached without.
 */
export function planVariables(
  env: Environment,
  extra: readonly ExtraVariable[] = [],
  configured: Readonly<Record<string, string>> = {},
): VariablePlan {
  const origins: Record<string, string> = {}
  const variables: PlannedVariable[] = []
  const versioned: string[] = []
  const skipped: { name: string; why: string }[] = []
  const plan = (name: string, provider: string, before: string): void => {
    const url = urlOf(before)
    if (!url) {
      // Never what it holds: people write logins into base URLs, and keys into the wrong variable.
      skipped.push({ name, why: hasLogin(before) ? "holds a URL with a login in it" : "holds no http URL" })
      return
    }
    const path = url.pathname === "/" ? "" : url.pathname.replace(/\/$/, "")
    variables.push({ name, upstream: upstreamName(origins, provider, url.origin), path, before })
  }
  for (const access of providerAccesses()) {
    const named = namedOrigin(env, access)
    if (named === undefined) versioned.push(access.name)
    const origin = (named ?? configured[access.name] ?? access.origin).replace(/\/$/, "")
    for (const [name, path] of Object.entries(access.baseUrlVariables)) {
      plan(name, access.name, setValue(env, name) ?? `${origin}${path}`)
    }
  }
  for (const { name, url } of extra) {
    const before = url ?? setValue(env, name)
    if (before === undefined) {
      throw new OrangeboxError("VARIABLE", {
        what: `${name} is not set, so nobody knows which server it should lead to`,
        next: `Set it, or give its URL: ${name}=https://…`,
      })
    }
    plan(name, name.toLowerCase().replace(/[^a-z0-9]+/g, "-"), before)
  }
  return { upstreams: origins, variables, versioned, skipped }
}

/**
 * What the command's environment is changed by.
 * @param folder the data folder: an agent that records itself, and whose user names no other, records beside the run that links to it
 */
export function variablesFor(
  plan: VariablePlan,
  { origin, token, folder }: { readonly origin: string; readonly token: string; readonly folder: string | undefined },
  env: Environment,
): Record<string, string> {
  const set: Record<string, string> = { ORANGEBOX_PROXY: origin }
  if (folder !== undefined && setValue(env, "ORANGEBOX_HOME") === undefined) set["ORANGEBOX_HOME"] = resolve(folder)
  for (const { name, upstream, path } of plan.variables) set[name] = `${origin}/${token}/${upstream}${path}`
  return { ...set, ...noProxy(env) }
}

// With a forward proxy configured, clients would ask that one to reach our loopback address for them.
function noProxy(env: Environment): Record<string, string> {
  const isProxied = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"].some(
    (name) => setValue(env, name) !== undefined,
  )
  if (!isProxied) return {}
  const before = setValue(env, "NO_PROXY") ?? setValue(env, "no_proxy")
  const list = before === undefined ? "127.0.0.1" : `${before},127.0.0.1`
  return { NO_PROXY: list, no_proxy: list }
}

function namedOrigin(env: Environment, { baseUrlVariables }: ProviderAccess): string | undefined {
  for (const name of Object.keys(baseUrlVariables)) {
    const value = setValue(env, name)
    const url = value === undefined ? undefined : urlOf(value)
    if (url) return url.origin
  }
  return undefined
}

/** One name for one origin; a second origin of the same provider gets a number. */
function upstreamName(origins: Record<string, string>, provider: string, origin: string): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? provider : `${provider}-${count}`
    origins[name] ??= origin
    if (origins[name] === origin) return name
  }
}

function urlOf(text: string): URL | undefined {
  try {
    const url = new URL(text)
    const isHttp = url.protocol === "http:" || url.protocol === "https:"
    return isHttp && url.username === "" && url.password === "" ? url : undefined
  } catch {
    return undefined
  }
}

const hasLogin = (text: string): boolean => /^\s*https?:\/\/[^/?#]*@/i.test(text)

const setValue = (env: Environment, name: string): string | undefined => env[name]?.trim() || undefined
