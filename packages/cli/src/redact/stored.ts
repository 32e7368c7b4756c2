import { advice, given, InputError, suggested } from "@orangebox/contract"
import {
  type RedactStoreReport,
  redactStore,
  rulesHere,
  type Search,
  searchForValue,
  searchWithRules,
} from "@orangebox/reader"
import { describeRules } from "@orangebox/redaction"
import { formatBytes, formatCount, type Painter, plural, safeJson, safeLine } from "@orangebox/text"
import { EXIT, type ExitCode } from "../exit-code.js"
import { withReader } from "../reading.js"
import { type GlobalOptions, type Session, wrongUsage } from "../session.js"
import { bytesOf } from "./inputs.js"

export interface StoredOptions {
  readonly run?: string
  readonly value?: string
  readonly pattern?: readonly string[]
  readonly allRules?: boolean
  readonly pii?: boolean
  readonly dryRun?: boolean
}

/** Below this a value stands by chance in too much. */
const SHORTEST_VALUE = 4

/** `orangebox redact --stored`: masks after the fact. */
export async function redactStored(session: Session, options: StoredOptions & GlobalOptions): Promise<ExitCode> {
  const { terminal } = session
  const search = await searchOf(options)
  const isDryRun = options.dryRun === true
  const report = await withReader(session, options, (reader) =>
    redactStore(reader, search, { ...given({ run: options.run }), isDryRun }),
  )
  terminal.out(options.json ? safeJson(reportJson(report, isDryRun), 2) : reportText(report, isDryRun, terminal.paint))
  return report.notReached.length === 0 ? EXIT.fine : EXIT.findings
}

async function searchOf(options: StoredOptions & GlobalOptions): Promise<Search> {
  const { value, pattern, allRules } = options
  if ([value, pattern, allRules].filter((given) => given !== undefined).length !== 1) {
    throw wrongUsage(
      "--stored needs one of --value, --pattern and --all-rules",
      advice`Say what has to go: ${suggested("redact", "--stored --all-rules --dry-run")}`,
    )
  }
  if (value !== undefined) return searchForValue(checked(value === "-" ? await valueFromStdin() : value))
  if (pattern === undefined) return searchWithRules(rulesHere(process.cwd(), options).ruleset, undefined)
  const isPii = options.pii === true || pattern.some((id) => id.startsWith("pii-"))
  const { ruleset } = rulesHere(process.cwd(), { ...options, ...(isPii ? { pii: true } : {}) })
  const known = new Set(describeRules(ruleset).map(({ id }) => id))
  const unknown = pattern.find((id) => !known.has(id))
  if (unknown !== undefined) {
    throw new InputError("UNKNOWN_RULE", {
      what: `there is no rule ${JSON.stringify(unknown)}`,
      next: "See them all with: orangebox redact --rules",
    })
  }
  return searchWithRules(ruleset, new Set(pattern))
}

/** So that the value stands neither in the shell's history nor in the list of processes. */
async function valueFromStdin(): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of bytesOf({ name: "-", stream: process.stdin })) pieces.push(piece)
  return Buffer.concat(pieces)
    .toString("utf8")
    .replace(/\r?\n$/, "")
}

function checked(value: string): string {
  if (value.length >= SHORTEST_VALUE) return value
  throw wrongUsage(
    `a value of ${value.length} characters stands in too much by chance`,
    `Name at least ${SHORTEST_VALUE} characters of it`,
  )
}

function reportText(report: RedactStoreReport, isDryRun: boolean, paint: Painter): string {
  const { events, eventsSeen, bodies, bodiesSeen, bodyBytes, runIds, journalsRemoved, otherTexts, notReached } = report
  const lines = [
    `${isDryRun ? "would redact" : "redacted"} ${plural(events, "event")} of ${formatCount(eventsSeen)} and ${plural(bodies, "body", "bodies")} of ${formatCount(bodiesSeen)} (${formatBytes(bodyBytes)}) in ${plural(runIds.length, "run")}`,
  ]
  if (otherTexts > 0)
    lines.push(`${plural(otherTexts, "other text")}: names in sums, conflicts, gaps, problems, processes`)
  if (!isDryRun)
    lines.push(`${plural(journalsRemoved, "finished journal")} removed; everything in them is in the store`)
  for (const { what, where, reason } of notReached) {
    lines.push(paint(`✗ not reached: ${what} ${safeLine(where)}: ${safeLine(reason)}`, "bad"))
  }
  lines.push("Not looked at: exported files, backups and copies, other data folders, terminals and logs of others.")
  if (!isDryRun && events > 0) {
    lines.push("Digests that these runs printed before no longer hold, nor do certificates; verify says so.")
  }
  return lines.join("\n")
}

function reportJson(report: RedactStoreReport, isDryRun: boolean) {
  return {
    dry_run: isDryRun,
    events: report.events,
    events_seen: report.eventsSeen,
    bodies: report.bodies,
    bodies_seen: report.bodiesSeen,
    body_bytes: report.bodyBytes,
    other_texts: report.otherTexts,
    run_ids: report.runIds,
    journals_removed: report.journalsRemoved,
    not_reached: report.notReached,
  }
}
