import type { CollectorStatus, JournalHoldings } from "@orangebox/collector"
import { holderWords } from "@orangebox/reader"
import { formatBytes, formatMoment, formatTable, plural, recordedText, recordedWord, snakeJson } from "@orangebox/text"
import { holderJson, problemJson } from "../json-shapes.js"

export function statusText(status: CollectorStatus): string {
  const { store, lockHolder } = status
  const lag = `${status.isLagExact ? "" : "about "}${plural(status.lagRecords, "record")} (${formatBytes(status.lagBytes)})`
  const facts = [
    ["behind", status.lagBytes === 0 ? "nothing" : lag],
    [
      "collector",
      lockHolder ? `${holderWords(lockHolder)}, since ${new Date(lockHolder.sinceMs).toISOString()}` : "none at work",
    ],
    ["journals", journalWords(status.journals)],
    [
      "store",
      store
        ? `${plural(store.runs, "run")}, ${plural(store.events, "event")}, schema ${store.schemaVersion}, ${store.engine}`
        : "none yet",
    ],
    ...(store
      ? [
          [
            "on disk",
            `database ${formatBytes(store.databaseBytes + store.walBytes)}, bodies ${formatBytes(store.bodyBytesOnDisk)} for ${formatBytes(store.bodyBytes)} recorded`,
          ],
        ]
      : []),
    ["writers", writerWords(status)],
  ]
  const lines = [formatTable([{ title: "" }, { title: "" }], facts).trimStart()]
  for (const { code, file, offset, reason } of status.problems.slice(0, MOST_PROBLEMS)) {
    lines.push(
      `! ${code} ${file === undefined ? "" : `${recordedWord(file, 80)}:${offset ?? 0} `}${recordedText(reason, 160)}`,
    )
  }
  if (status.problems.length > MOST_PROBLEMS)
    lines.push(`! ${MOST_PROBLEMS} of ${status.problems.length} problems shown; see --json`)
  return lines.join("\n")
}

const MOST_PROBLEMS = 10

/** What the journal folder holds, and until when. */
export function journalWords({ kept, inUse, unread, others, ...all }: JournalHoldings): string {
  if (all.files === 0) return "nothing"
  const until = kept.untilMs === null ? "" : `, until ${formatMoment(kept.untilMs)}`
  const parts = [
    [kept, `wholly in the store, kept as a second copy${until}`],
    [inUse, "in use by a process that has not ended, until it does"],
    [unread, "not in the store yet"],
    [others, "reserves and marks beside them"],
  ] as const
  const told = parts.flatMap(([{ files, bytes }, words]) => (files === 0 ? [] : [`${formatBytes(bytes)} ${words}`]))
  return `${formatBytes(all.bytes)} in ${plural(all.files, "file")}: ${told.join("; ")}`
}

function writerWords({ writers }: CollectorStatus): string {
  const counts = new Map<string, number>()
  for (const { state } of writers) counts.set(state, (counts.get(state) ?? 0) + 1)
  return counts.size === 0 ? "none seen" : [...counts].map(([state, count]) => `${count} ${state}`).join(", ")
}

export function statusJson({ lockHolder, writers, problems, store, ...counts }: CollectorStatus) {
  return {
    ...snakeJson(counts),
    held_by: holderJson(lockHolder),
    writers: writers.map(({ writerId, state, records, identity }) =>
      snakeJson({ writerId, state, records, app: identity["appId"] }),
    ),
    problems: problems.map(problemJson),
    store: store ? storeJson(store) : null,
  }
}

/** What a database has written but not yet merged is part of it to a reader. */
function storeJson(store: NonNullable<CollectorStatus["store"]>) {
  const { databaseBytes, walBytes, searchBytesOnDisk: _, lastCommitAtMs: _at, ...counts } = store
  return snakeJson({ ...counts, databaseBytes: databaseBytes + walBytes })
}
