import { InputError } from "@orangebox/contract"
import {
  findTarget,
  redactStore,
  rulesHere,
  runOf,
  type Search,
  searchForValue,
  searchWithRules,
} from "@orangebox/reader"
import { describeRules } from "@orangebox/redaction"
import { safeJson } from "@orangebox/text"
import { EXIT, type ExitCode } from "../../exit-code.js"
import { withWriting } from "../../reading.js"
import type { GlobalOptions, Session } from "../../session.js"
import { bytesOf } from "../inputs.js"
import { reportJson, reportText } from "./format-report.js"

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
  const report = await withWriting(session, options, async (store, folder, onProgress) => {
    const run = options.run === undefined ? undefined : await runOf(store, await findTarget(store, options.run))
    return redactStore(store, folder, search, {
      ...(run === undefined ? {} : { runId: run.row.runId }),
      isDryRun,
      onProgress,
    })
  })
  terminal.out(
    options.json
      ? safeJson(reportJson(report, isDryRun), 2)
      : reportText(report, isDryRun, terminal.paint ?? ((text) => text)),
  )
  return report.notReached.length === 0 ? EXIT.fine : EXIT.findings
}

async function searchOf(options: StoredOptions & GlobalOptions): Promise<Search> {
  const { value, pattern, allRules } = options
  if ([value, pattern, allRules].filter((given) => given !== undefined).length !== 1) {
    throw new InputError("USAGE", {
      what: "--stored needs one of --value, --pattern and --all-rules",
      next: "Say what has to go: orangebox redact --stored --all-rules --dry-run",
    })
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
  throw new InputError("USAGE", {
    what: `a value of ${value.length} characters stands in too much by chance`,
    next: `Name at least ${SHORTEST_VALUE} characters of it`,
  })
}
