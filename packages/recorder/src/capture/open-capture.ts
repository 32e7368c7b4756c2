import { randomBytes } from "node:crypto"
import type { AuditMode, CaptureMode, Config, Environment, KeptBodies } from "@orangebox/contract"
import { OrangeboxError } from "@orangebox/contract"
import { compileUserRules } from "@orangebox/redaction"
import { Capture } from "./capture.js"
import { learnEnvironment } from "./known-credentials.js"

/** What is kept, as it holds for one recorder: the knobs of the profile, each of which may be set by itself. */
export interface Keeping {
  readonly capture: CaptureMode
  readonly bodies: KeptBodies
  readonly audit: AuditMode
  readonly pii: boolean
}

type Knobs = Pick<Config, "profile" | "capture" | "bodies" | "audit" | "allowFull" | "redaction">

export function keepingOf(settings: Knobs, environment: Environment): Keeping {
  const isAudit = settings.profile === "audit"
  const capture = settings.capture ?? "redacted"
  if (capture === "full" && environment !== "local" && settings.allowFull !== true) {
    throw new OrangeboxError("CAPTURE_FULL", {
      what: `capture is "full" and the environment is "${environment}": everything would be stored as it is, secrets included`,
      where: "capture",
      next: 'Leave capture out, or say allowFull: true beside it; where the environment is "local" that is not needed',
    })
  }
  return {
    capture,
    bodies: settings.bodies ?? (isAudit ? "on_fault" : "always"),
    audit: settings.audit ?? (isAudit ? "required" : "best_effort"),
    pii: settings.redaction?.pii ?? isAudit,
  }
}

/** Rules are made ready before anything is recorded: one that cannot be used is refused here, with its place. */
export function openCapture(
  keeping: Keeping,
  rules: Config["redaction"],
  key: Uint8Array | undefined,
  app: string,
): Capture {
  const capture = new Capture({
    mode: keeping.capture,
    // Without a store nothing has to be compared with what another process masked.
    key: key ?? randomBytes(32),
    pii: keeping.pii,
    publicKeys: rules?.publicKeys === true,
    // What an application is called stands on each of its processes.
    safeIds: [app, ...(rules?.safeIds ?? [])],
    ...(rules === undefined ? {} : { rules: compileUserRules(rules) }),
  })
  learnEnvironment(capture, process.env)
  return capture
}
