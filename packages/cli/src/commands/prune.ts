import { given } from "@orangebox/contract"
import { DEFAULT_RETENTION, type PruneReport, type RetentionPolicy } from "@orangebox/store"
import { formatBytes, formatDuration, plural, safeJson, snakeJson } from "@orangebox/text"
import type { Command } from "commander"
import { EXIT, type ExitCode } from "../exit-code.js"
import { parseDuration, parseSize } from "../option-values.js"
import { withWriting } from "../reading.js"
import { bindShell, type GlobalOptions, type Session } from "../session.js"

interface PruneOptions {
  readonly maxAge?: number
  readonly bodyMaxAge?: number
  readonly snapshotMaxAge?: number
  readonly maxBodyBytes?: number
}

export function define(command: Command, session: Session): void {
  command
    .description("Forget what is old or too much: oldest first, whole runs, never an open one. Daily sums stay.")
    .option("--max-age <time>", "everything about runs that ended longer ago", parseDuration)
    .option("--body-max-age <time>", "only the bodies of such runs", parseDuration)
    .option("--snapshot-max-age <time>", "only what was stored because of a fault in such runs", parseDuration)
    .option(
      "--max-body-bytes <size>",
      "bodies of the oldest runs, until the rest takes no more than this on disk",
      parseSize,
    )
    .addHelpText("after", `\nWithout options the standing policy applies: ${policyWords(DEFAULT_RETENTION)}.`)
  bindShell<PruneOptions>(command, session, prune, [
    ["orangebox prune", "apply the standing policy now"],
    ["orangebox prune --max-age 30d", "forget runs that ended more than 30 days ago"],
    ["orangebox prune --max-body-bytes 1GB", "keep at most a gigabyte of prompts, answers and tool output"],
  ])
}

async function prune(session: Session, options: PruneOptions & GlobalOptions): Promise<ExitCode> {
  const policy = policyOf(options)
  const report = await withWriting(session, options, (store) =>
    store.prune(policy, { onProgress: session.terminal.progress.update }),
  )
  session.terminal.out(
    options.json ? safeJson({ policy: policyJson(policy), ...snakeJson(report) }, 2) : reportText(report),
  )
  return report.isWithinLimits ? EXIT.fine : EXIT.findings
}

function policyOf({ maxAge, bodyMaxAge, snapshotMaxAge, maxBodyBytes }: PruneOptions): RetentionPolicy {
  const isAsked = [maxAge, bodyMaxAge, snapshotMaxAge, maxBodyBytes].some((limit) => limit !== undefined)
  if (!isAsked) return DEFAULT_RETENTION
  return {
    ...given({
      maxAgeMs: maxAge,
      bodyMaxAgeMs: bodyMaxAge,
      snapshotMaxAgeMs: snapshotMaxAge,
      maxTotalBodyBytes: maxBodyBytes,
    }),
  }
}

function policyWords({ maxAgeMs, bodyMaxAgeMs, snapshotMaxAgeMs, maxTotalBodyBytes }: RetentionPolicy): string {
  const days = (ms: number): string => (ms % DAY_MS === 0 ? plural(ms / DAY_MS, "day") : formatDuration(ms * 1000))
  const parts: string[] = []
  if (maxAgeMs !== undefined) parts.push(`runs ${days(maxAgeMs)}`)
  if (bodyMaxAgeMs !== undefined) parts.push(`bodies ${days(bodyMaxAgeMs)}`)
  if (snapshotMaxAgeMs !== undefined) parts.push(`snapshots ${days(snapshotMaxAgeMs)}`)
  if (maxTotalBodyBytes !== undefined) parts.push(`bodies up to ${formatBytes(maxTotalBodyBytes)} on disk`)
  return parts.join(", ")
}

const DAY_MS = 86_400_000

function reportText(report: PruneReport): string {
  const taken = [
    plural(report.runsPruned, "run"),
    plural(report.eventsPruned, "event"),
    plural(report.bodiesPruned, "body", "bodies"),
  ]
  const freed = `bodies on disk: ${formatBytes(report.bodyBytesBefore)} → ${formatBytes(report.bodyBytesAfter)}`
  const over = report.isWithinLimits
    ? ""
    : "\nstill above the limit: open runs are kept, and so is what kept runs share"
  return `pruned ${taken.join(", ")} · ${freed}${over}`
}

function policyJson({
  maxAgeMs,
  bodyMaxAgeMs,
  snapshotMaxAgeMs,
  manifestMaxAgeMs,
  maxTotalBodyBytes,
}: RetentionPolicy) {
  return snakeJson({ maxAgeMs, bodyMaxAgeMs, snapshotMaxAgeMs, manifestMaxAgeMs, maxTotalBodyBytes })
}
