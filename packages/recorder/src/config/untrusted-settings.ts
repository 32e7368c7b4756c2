import type { Config } from "@orangebox/contract"

/** A setting that does nothing until its file is trusted. */
export interface IgnoredSetting {
  /** Where it stands: `upstreams.openai`. */
  readonly setting: string
  readonly value: unknown
  /** What it would do. */
  readonly effect: string
}

/**
 * Takes out of an untrusted configuration what could harm the user: addresses that traffic would be sent to, commands that would be
 * started, and whatever would record more, or with less care, than the user's own configuration (or the default) says. What makes
 * recording stricter stays.
 */
export function withoutUnsafeSettings(
  untrusted: Config,
  user: Config = {},
): { config: Config; ignored: IgnoredSetting[] } {
  const ignored: IgnoredSetting[] = []
  const ignore = (setting: string, value: unknown, effect: string): void =>
    void ignored.push({ setting, value, effect })
  const { upstreams, judges, redaction, retention, journal, store, ...config } = untrusted
  for (const [name, url] of Object.entries(upstreams ?? {})) {
    ignore(`upstreams.${name}`, url, `sends the calls to ${name}, keys included, to this address`)
  }
  for (const [name, judge] of Object.entries(judges ?? {})) {
    ignore(`judges.${name}`, judge.command, "starts this command when a check asks the judge")
  }
  if (store !== undefined) ignore("store", store.url, "sends everything that is recorded to this server")
  for (const [name, age] of Object.entries(retention ?? {})) {
    ignore(
      `retention.${name}`,
      age,
      "decides when recordings are deleted, those of what this repository did among them",
    )
  }
  for (const [name, value] of Object.entries(journal ?? {})) {
    ignore(`journal.${name}`, value, "decides when journals are written to disk and deleted, collected or not")
  }
  if (config.strict === true) {
    ignore("strict", true, "lets a record that breaks the contract throw into the application")
    delete config.strict
  }
  if (config.capture !== undefined && careOf(config.capture) < careOf(user.capture ?? "redacted")) {
    ignore("capture", config.capture, CAPTURE_EFFECTS[config.capture])
    delete config.capture
  }
  if (config.allowFull === true) {
    ignore("allowFull", true, "lets secrets be recorded outside a local environment")
    delete config.allowFull
  }
  const wantsAudit = user.profile === "audit" || user.audit === "required"
  if (config.profile === "debug" && wantsAudit) {
    ignore("profile", "debug", "takes back the audit profile of your own configuration")
    delete config.profile
  }
  if (config.audit === "best_effort" && wantsAudit) {
    ignore("audit", "best_effort", "lets a run go on when its evidence cannot be written")
    delete config.audit
  }
  if (config.enabled === false && (user.enabled === true || wantsAudit)) {
    ignore("enabled", false, "turns recording off")
    delete config.enabled
  }
  const rules = redaction === undefined ? undefined : stricterRules(redaction, user, ignore)
  return { config: rules === undefined ? config : { ...config, redaction: rules }, ignored }
}

const careOf = (capture: NonNullable<Config["capture"]>): number => ["full", "redacted", "hashed"].indexOf(capture)

const CAPTURE_EFFECTS = {
  full: "records prompts, answers and tool traffic with the secrets in them",
  redacted: "records text where your own configuration keeps hashes only",
  hashed: "",
}

function stricterRules(
  { allow, keys, pii, publicKeys, safeIds, ...rules }: NonNullable<Config["redaction"]>,
  user: Config,
  ignore: (setting: string, value: unknown, effect: string) => void,
): NonNullable<Config["redaction"]> {
  allow?.forEach(({ path }, i) => {
    ignore(`redaction.allow[${i}]`, path, "this field is no longer searched for names, personal data and your patterns")
  })
  if (safeIds !== undefined) ignore("redaction.safeIds", safeIds, "these ids stay readable where only hashes are kept")
  const stricterKeys = keys?.filter(({ action, pattern }, i) => {
    if (action === "allow")
      ignore(`redaction.keys[${i}]`, pattern, "values under these keys are no longer masked by name")
    return action !== "allow"
  })
  const isPiiWanted = user.redaction?.pii ?? user.profile === "audit"
  if (pii === false && isPiiWanted) ignore("redaction.pii", false, "personal data is no longer masked")
  const isWeaker = publicKeys === false && user.redaction?.publicKeys === true
  if (isWeaker) ignore("redaction.publicKeys", false, "public keys are no longer masked")
  return {
    ...rules,
    ...(publicKeys === undefined || isWeaker ? {} : { publicKeys }),
    ...(stricterKeys === undefined ? {} : { keys: stricterKeys }),
    ...(pii === undefined || (pii === false && isPiiWanted) ? {} : { pii }),
  }
}

/** One line that names what has no effect and how to change that. */
export function ignoredSettingsWarning(path: string, ignored: readonly IgnoredSetting[]): string | undefined {
  if (ignored.length === 0) return undefined
  const names = ignored.map(({ setting }) => setting)
  const shown = names.length > MOST_NAMED ? [...names.slice(0, MOST_NAMED), `${names.length - MOST_NAMED} more`] : names
  return `${path} is not trusted, so these settings have no effect: ${shown.join(", ")}. See what they do and allow them with: orangebox trust`
}

const MOST_NAMED = 8
