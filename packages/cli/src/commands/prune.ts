import { catchUp, collectorStatus, type JournalHoldings } from "@orangebox/collector"
import { given } from "@orangebox/contract"
import { dropKeptImports, type StandingRetention, standingRetention, writeStore } from "@orangebox/reader"
import { DEFAULT_RETENTION, type PruneReport, type RetentionPolicy } from "@orangebox/store"
import { formatBytes, formatDuration, plural, safeJson, snakeJson } from "@orangebox/text"
import type { Command } from "commander"
import { journalWords } from "../collecting/format-status.js"
import { EXIT, type ExitCode } from "../exit-code.js"
import { pasteable } from "../next-command.js"
import { parseDuration, parseSize } from "../option-values.js"
import { withReader } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session } from "../session.js"

interface PruneOptions {
  readonly maxAge?: number
  readonly bodyMaxAge?: number
  readonly snapshotMaxAge?: number
  readonly manifestMaxAge?: number
  readonly rollupMaxAge?: number
  readonly problemMaxAge?: number
  readonly maxBodyBytes?: number
  readonly journals?: boolean
  readonly dryRun?: boolean
}

export function define(command: Command, session: Session): void {
  command
    .description("Forget what is old or too much: oldest first, whole runs, never an open one. Daily sums stay.")
    .option("--max-age <time>", "everything about runs that ended longer ago", parseDuration)
    .option("--body-max-age <time>", "only the bodies of such runs", parseDuration)
    .option("--snapshot-max-age <time>", "only what was stored because of a fault in such runs", parseDuration)
    .option("--manifest-max-age <time>", "only the context manifests of such runs", parseDuration)
    .option("--rollup-max-age <time>", "daily sums of runs that are gone", parseDuration)
    .option("--problem-max-age <time>", "gaps and problems that belong to no run that is here", parseDuration)
    .option(
      "--max-body-bytes <size>",
      "bodies of the oldest runs, until the rest takes no more than this on disk",
      parseSize,
    )
    .option(
      "--journals",
      "also the journals and imported files that are wholly in the store, which are kept for a while as a second copy",
    )
    .option("--dry-run", "say what would go, and change nothing")
    .addHelpText(
      "after",
      prose(
        session,
        `Without ages and sizes the standing policy applies: ${policyWords(DEFAULT_RETENTION)}; journals 24 hours.\nChange it with "retention" in your own configuration, or with ORANGEBOX_RETENTION_EVENTS, _BODIES, _SNAPSHOTS, _MANIFESTS, _ROLLUPS, _PROBLEMS, _JOURNALS (12h, 30d, 2w, forever) and ORANGEBOX_RETENTION_MAX_BODY_BYTES.`,
      ),
    )
  bindShell<PruneOptions>(command, session, prune, [
    ["orangebox prune --dry-run", "what would the standing policy take?"],
    ["orangebox prune --journals", "apply it now, and let go of journals that are wholly in the store"],
    ["orangebox prune --max-age 30d", "forget runs that ended more than 30 days ago"],
    ["orangebox prune --max-body-bytes 1GB", "keep at most a gigabyte of prompts, answers and tool output"],
  ])
}

async function prune(session: Session, options: PruneOptions & GlobalOptions): Promise<ExitCode> {
  const isDryRun = options.dryRun === true
  const { policy, report, filesRemoved, journals } = await withReader(session, options, (reader) =>
    writeStore(reader, async (store, { path }) => {
      const standing = standingRetention(path)
      const policy = policyOf(options, standing)
      const report = await store.prune(policy, { isDryRun, onProgress: session.terminal.progress.update })
      const dropsCopies = options.journals === true && !isDryRun
      const { filesRemoved } = dropsCopies
        ? await catchUp({ dataFolder: path, store, keep: KEEP_NONE })
        : { filesRemoved: 0 }
      if (dropsCopies) dropKeptImports(path)
      const { journals } = await collectorStatus(path, standing)
      return { policy, report, filesRemoved, journals }
    }),
  )
  session.terminal.out(
    options.json
      ? safeJson(
          { policy: policyJson(policy), ...snakeJson({ ...report, journalsRemoved: filesRemoved, journals }) },
          2,
        )
      : reportText(report, filesRemoved, journals, options),
  )
  return report.isWithinLimits ? EXIT.fine : EXIT.findings
}

/** Every journal that is finished and wholly in the store goes at once. */
const KEEP_NONE = { ageMs: 0, bytes: 0, files: 0 }

function policyOf(options: PruneOptions, { policy }: StandingRetention): RetentionPolicy {
  const asked: RetentionPolicy = given({
    maxAgeMs: options.maxAge,
    bodyMaxAgeMs: options.bodyMaxAge,
    snapshotMaxAgeMs: options.snapshotMaxAge,
    manifestMaxAgeMs: options.manifestMaxAge,
    rollupMaxAgeMs: options.rollupMaxAge,
    problemMaxAgeMs: options.problemMaxAge,
    maxTotalBodyBytes: options.maxBodyBytes,
  })
  return Object.keys(asked).length === 0 ? policy : asked
}

const CLASSES = [
  ["runs", "maxAgeMs"],
  ["bodies", "bodyMaxAgeMs"],
  ["snapshots", "snapshotMaxAgeMs"],
  ["manifests", "manifestMaxAgeMs"],
  ["daily sums", "rollupMaxAgeMs"],
  ["gaps and problems", "problemMaxAgeMs"],
] as const

function policyWords(policy: RetentionPolicy): string {
  const days = (ms: number): string => (ms % DAY_MS === 0 ? plural(ms / DAY_MS, "day") : formatDuration(ms * 1000))
  const parts = CLASSES.flatMap(([word, name]) => (policy[name] === undefined ? [] : [`${word} ${days(policy[name])}`]))
  const { maxTotalBodyBytes } = policy
  if (maxTotalBodyBytes !== undefined) parts.push(`bodies up to ${formatBytes(maxTotalBodyBytes)} on disk`)
  return parts.join(", ")
}

const DAY_MS = 86_400_000

function reportText(
  report: PruneReport,
  filesRemoved: number,
  journals: JournalHoldings,
  options: GlobalOptions,
): string {
  const taken = [
    plural(report.runsPruned, "run"),
    plural(report.eventsPruned, "event"),
    plural(report.bodiesPruned, "body", "bodies"),
    ...(report.rollupsPruned > 0 ? [plural(report.rollupsPruned, "daily sum")] : []),
    ...(report.problemsPruned > 0 ? [`${report.problemsPruned} gaps and problems`] : []),
    ...(filesRemoved > 0 ? [plural(filesRemoved, "journal file")] : []),
  ]
  const after = report.bodyBytesAfter === null ? "" : ` → ${formatBytes(report.bodyBytesAfter)}`
  const lines = [
    `${report.isDryRun ? "would prune" : "pruned"} ${taken.join(", ")} · bodies on disk: ${formatBytes(report.bodyBytesBefore)}${after}`,
    ...(report.isWithinLimits ? [] : ["still above the limit: open runs are kept, and so is what kept runs share"]),
    `journals still hold ${journalWords(journals)}`,
    ...(journals.kept.files > 0
      ? [`let go of what is in the store with: orangebox prune ${pasteable(options, "--journals")}`]
      : []),
  ]
  return lines.join("\n")
}

/** An age that is for ever is null: nothing limits. */
function policyJson(policy: RetentionPolicy) {
  const ages = CLASSES.map(([, name]) => [
    name,
    policy[name] === undefined || policy[name] > LONGEST_MS ? null : policy[name],
  ])
  return snakeJson({ ...Object.fromEntries(ages), maxTotalBodyBytes: policy.maxTotalBodyBytes ?? null })
}

const LONGEST_MS = 1e15
