import { advice, InputError, suggested } from "@orangebox/contract"
import { recheckAt } from "@orangebox/reader"
import { Certificate, type Recheck } from "@orangebox/replay"
import { plural, safeJson, safeText } from "@orangebox/text"
import { EXIT, type ExitCode } from "../exit-code.js"
import { withReader } from "../reading.js"
import { readJsonFile } from "../replaying/masks.js"
import type { GlobalOptions, Session } from "../session.js"

const SHOWN_REASONS = 12

/** Whether a certificate still holds, and what of it does not. */
export async function checkCertificate(
  session: Session,
  options: GlobalOptions,
  path: string,
  address: string | undefined,
): Promise<ExitCode> {
  const certificate = readCertificate(path)
  const found = await withReader(session, options, (reader) => recheckAt(reader, certificate, address))
  session.terminal.out(
    options.json ? safeJson(checkJson(certificate, found), 2) : checkText(certificate, found).join("\n"),
  )
  return found.holds ? EXIT.fine : EXIT.findings
}

export function readCertificate(path: string): Certificate {
  const value = readJsonFile(path)
  const version = typeof value === "object" && value !== null ? (value as { v?: unknown }).v : undefined
  if (version === 1 || version === 2) {
    throw new InputError("CERTIFICATE", {
      what: `the certificate is of version ${version}, which did not say all that was compared`,
      where: path,
      next: advice`Replay the run again: ${suggested("replay", "… --certificate FILE")}`,
    })
  }
  const read = Certificate.safeParse(value)
  if (read.success) return read.data
  const issue = read.error.issues[0]!
  const place = issue.path.map(String).join(".")
  throw new InputError("CERTIFICATE", {
    what: `this is no certificate: ${place === "" ? "" : `${place}: `}${issue.message}`,
    where: path,
  })
}

function checkText({ id, scope }: Certificate, found: Recheck): string[] {
  if (found.holds) {
    const { calls, bodies } = found.checked
    return [
      `${id} holds`,
      `  ${safeText(scope.says)}`,
      `  worked out again from ${plural(calls, "call")} and ${plural(bodies, "body", "bodies")}`,
    ]
  }
  const hidden = found.reasons.length - SHOWN_REASONS
  return [
    `${id} does not hold`,
    ...found.reasons.slice(0, SHOWN_REASONS).map((reason) => `  because ${safeText(reason)}`),
    ...(hidden > 0 ? [`  … and ${hidden} more (--json has them all)`] : []),
  ]
}

const checkJson = ({ id, source_run, replay_run, scope }: Certificate, found: Recheck) => ({
  ok: found.holds,
  certificate: { id, source_run, replay_run, says: scope.says },
  reasons: found.holds ? [] : found.reasons,
  checked: found.holds ? found.checked : null,
})
