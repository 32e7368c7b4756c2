import { loadSource, type ReplaySource } from "@orangebox/reader"
import { type Calibration, proposeMasks } from "@orangebox/replay"
import { plural, recordedText, safeJson, safeText } from "@orangebox/text"
import { loginName } from "../decisions/login-name.js"
import { EXIT } from "../exit-code.js"
import { pasteable } from "../next-command.js"
import { withReader } from "../reading.js"
import type { GlobalOptions, Session } from "../session.js"
import { wordOf } from "./format-replay.js"
import { addMasks } from "./masks.js"

/** Compares two runs of one unchanged agent, and proposes what may differ between them. Nothing is accepted unless a file is named. */
export async function calibrate(
  session: Session,
  options: GlobalOptions & { readonly accept?: string },
  address: string,
  otherAddress: string,
): Promise<number> {
  const source = await withReader(session, options, (reader) => loadSource(reader, address))
  const other = await withReader(session, options, (reader) => loadSource(reader, otherAddress))
  const found = proposeMasks(source.tape, other.tape)
  if (options.accept !== undefined) {
    addMasks(options.accept, found.proposals, {
      // A container may run as a user that has no name.
      acceptedBy: loginName() ?? `user ${process.getuid?.() ?? "?"}`,
      acceptedAt: new Date().toISOString(),
    })
  }
  session.terminal.out(
    options.json
      ? safeJson(calibrationJson(source, other, found, options.accept), 2)
      : calibrationText(source, other, found, options),
  )
  return found.unmasked.length > 0 || found.unpaired > 0 ? EXIT.findings : EXIT.fine
}

const SHOWN = 10

function calibrationText(
  source: ReplaySource,
  other: ReplaySource,
  { proposals, unmasked, compared, unpaired }: Calibration,
  options: GlobalOptions & { readonly accept?: string },
): string {
  const lines = [
    `${source.run.row.runId} and ${other.run.row.runId}: ${plural(compared, "call")} compared, ${unpaired} without a partner`,
  ]
  for (const { id, steps, examples } of proposals) {
    lines.push(`  mask ${safeText(id)}  would help in ${plural(steps.length, "call")}`)
    for (const { recorded, now } of examples.slice(0, 1)) {
      lines.push(`    ${quoted(recorded)} → ${quoted(now)}`)
    }
  }
  if (proposals.length === 0) lines.push("  no mask would help")
  for (const { pointer, recorded, now } of unmasked.slice(0, SHOWN)) {
    lines.push(`  no mask covers ${safeText(pointer)}: ${quoted(recorded)} → ${quoted(now)}`)
  }
  if (unmasked.length > SHOWN) lines.push(`  … and ${unmasked.length - SHOWN} more (--json has them all)`)
  if (options.accept !== undefined) lines.push(`accepted into ${options.accept}`)
  else if (proposals.length > 0) {
    const runs = `${pasteable(options, wordOf(source))} --calibrate ${wordOf(other)}`
    lines.push(`Accept them with: orangebox replay ${runs} --accept masks.json`)
  }
  return lines.join("\n")
}

const quoted = (text: string | null): string => (text === null ? "nothing" : recordedText(text, 60))

function calibrationJson(source: ReplaySource, other: ReplaySource, found: Calibration, accepted: string | undefined) {
  return {
    source_run: source.run.row.runId,
    other_run: other.run.row.runId,
    ...found,
    accepted: accepted ?? null,
    behind_bytes: Math.max(source.behindBytes, other.behindBytes),
  }
}
