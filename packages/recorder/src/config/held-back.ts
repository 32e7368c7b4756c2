import type { Config } from "@orangebox/contract"

/** A setting that does nothing until its file is trusted. */
export interface HeldBack {
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
export function holdBack(untrusted: Config, user: Config = {}): { config: Config; heldBack: HeldBack[] } {
  const heldBack: HeldBack[] = []
  const hold = (setting: string, value: unknown, effect: string): void => void heldBack.push({ setting, value, effect })
  const { upstreams, judges, redaction, ...config } = untrusted
  for (const [name, url] of Object.entries(upstreams ?? {})) {
    hold(`upstreams.${name}`, url, `sends the calls to ${name}, keys included, to this address`)
  }
  for (const [name, judge] of Object.entries(judges ?? {})) {
    hold(`judges.${name}`, judge.command, "starts this command when a check asks the judge")
  }
  if (config.capture !== undefined && careOf(config.capture) < careOf(user.capture ?? "redacted")) {
    hold("capture", config.capture, CAPTURE_EFFECTS[config.capture])
    delete config.capture
  }
  if (config.allowFull === true) {
    hold("allowFull", true, "lets secrets be recorded outside a local environment")
    delete config.allowFull
  }
  const wantsAudit = user.profile === "audit" || user.audit === "required"
  if (config.profile === "debug" && wantsAudit) {
    hold("profile", "debug", "takes back the audit profile of your own configuration")
    delete config.profile
  }
  if (config.audit === "best_effort" && wantsAudit) {
    hold("audit", "best_effort", "lets a run go on when its evidence cannot be written")
    delete config.audit
  }
  if (config.enabled === false && (user.enabled === true || wantsAudit)) {
    hold("enabled", false, "turns recording off")
    delete config.enabled
  }
  const rules = redaction === undefined ? undefined : stricterRules(redaction, user, hold)
  return { config: rules === undefined ? config : { ...config, redaction: rules }, heldBack }
}

const careOf = (capture: NonNullable<Config["capture"]>): number => ["full", "redacted", "hashed"].indexOf(capture)

const CAPTURE_EFFECTS = {
  full: "records prompts, answers and tool traffic with the secrets in them",
  redacted: "records text where your own configuration keeps hashes only",
  hashed: "",
}

function stricterRules(
  { allow, keys, pii, ...rules }: NonNullable<Config["redaction"]>,
  user: Config,
  hold: (setting: string, value: unknown, effect: string) => void,
): NonNullable<Config["redaction"]> {
  allow?.forEach(({ path }, i) => {
    hold(`redaction.allow[${i}]`, path, "this field is no longer searched for names, personal data and your patterns")
  })
  const stricterKeys = keys?.filter(({ action, pattern }, i) => {
    if (action === "allow")
      hold(`redaction.keys[${i}]`, pattern, "values under these keys are no longer masked by name")
    return action !== "allow"
  })
  const isPiiWanted = user.redaction?.pii ?? user.profile === "audit"
  if (pii === false && isPiiWanted) hold("redaction.pii", false, "personal data is no longer masked")
  return {
    ...rules,
    ...(stricterKeys === undefined ? {} : { keys: stricterKeys }),
    ...(pii === undefined || (pii === false && isPiiWanted) ? {} : { pii }),
  }
}

/** One line that names what was held back and how to change that. */
export function heldBackWarning(path: string, heldBack: readonly HeldBack[]): string | undefined {
  if (heldBack.length === 0) return undefined
  const names = heldBack.map(({ setting }) => setting)
  const shown = names.length > MOST_NAMED ? [...names.slice(0, MOST_NAMED), `${names.length - MOST_NAMED} more`] : names
  return `${path} is not trusted, so these settings have no effect: ${shown.join(", ")}. See what they do and allow them with: orangebox trust`
}

const MOST_NAMED = 8
