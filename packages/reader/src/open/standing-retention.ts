import { dirname } from "node:path"
import { DEFAULT_KEPT_WINDOW, type KeptWindow } from "@orangebox/collector"
import { type Config, given, OrangeboxError } from "@orangebox/contract"
import { findConfig } from "@orangebox/recorder"
import { DEFAULT_RETENTION, type RetentionPolicy } from "@orangebox/store"

/** How long things are kept in a data folder when a command does not say otherwise. */
export interface StandingRetention {
  readonly policy: RetentionPolicy
  readonly keep: KeptWindow
}

type Ages = NonNullable<Config["retention"]>

/**
 * What the defaults, the configuration and the environment say, the later the stronger. The configuration is the one that holds where the data
 * folder lies, not where the command was started: a repository's file never reaches data that is not below it, and takes effect only
 * when it is trusted.
 */
export function standingRetention(
  dataFolder: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): StandingRetention {
  const configured = findConfig(dirname(dataFolder), env)?.config.retention ?? {}
  const ages: Ages = { ...configured, ...agesIn(env) }
  return {
    policy: {
      ...DEFAULT_RETENTION,
      ...given({
        maxAgeMs: age(ages.events),
        bodyMaxAgeMs: age(ages.bodies),
        snapshotMaxAgeMs: age(ages.snapshots),
        manifestMaxAgeMs: age(ages.manifests),
        rollupMaxAgeMs: age(ages.rollups),
        problemMaxAgeMs: age(ages.problems),
        maxTotalBodyBytes: ages.maxBodyBytes,
      }),
    },
    keep: { ...DEFAULT_KEPT_WINDOW, ...given({ ageMs: age(ages.journals) }) },
  }
}

const CLASSES = ["events", "bodies", "snapshots", "manifests", "rollups", "problems", "journals"] as const

function agesIn(env: Readonly<Record<string, string | undefined>>): Ages {
  const found: Record<string, string | number> = {}
  for (const name of CLASSES) {
    const variable = `ORANGEBOX_RETENTION_${name.toUpperCase()}`
    const text = env[variable]
    if (text === undefined || text === "") continue
    if (!AGE.test(text)) throw wrong(variable, text, "a time such as 12h, 30d or 2w, or forever")
    found[name] = text
  }
  const bytes = env[MAX_BODY_BYTES]
  if (bytes !== undefined && bytes !== "") {
    if (!/^\d{1,15}$/.test(bytes)) throw wrong(MAX_BODY_BYTES, bytes, "a number of bytes")
    found["maxBodyBytes"] = Number(bytes)
  }
  return found as Ages
}

const MAX_BODY_BYTES = "ORANGEBOX_RETENTION_MAX_BODY_BYTES"
const AGE = /^(?:(\d{1,6})([smhdw])|forever)$/
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Longer than anything is old, and still a number of milliseconds. */
const FOR_EVER_MS = Number.MAX_SAFE_INTEGER / 2

function age(text: string | undefined): number | undefined {
  const match = text === undefined ? null : AGE.exec(text)
  if (match === null) return undefined
  return match[1] === undefined ? FOR_EVER_MS : Number(match[1]) * UNIT_MS[match[2]!]!
}

function wrong(variable: string, text: string, wanted: string): OrangeboxError {
  return new OrangeboxError("CONFIG", {
    what: `${variable} is "${text}", not ${wanted}`,
    where: "the environment",
    next: "Correct the variable or unset it; nothing was pruned",
  })
}
