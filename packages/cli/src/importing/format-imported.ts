import type { FoundSources, ImportedSources } from "@orangebox/exchange"
import { formatBytes, formatCount, plural, recordedWord, snakeJson } from "@orangebox/text"
import { pasteable } from "../next-command.js"
import type { GlobalOptions } from "../session.js"

export interface ImportTold extends ImportedSources {
  readonly files: number
  readonly isDryRun: boolean
}

export function foundText({ sources }: FoundSources): string {
  const formats = new Map<string, { files: number; bytes: number }>()
  for (const { format, bytes } of sources) {
    const sum = formats.get(format) ?? { files: 0, bytes: 0 }
    formats.set(format, { files: sum.files + 1, bytes: sum.bytes + bytes })
  }
  const lines = [...formats].map(
    ([format, { files, bytes }]) => `  ${format}: ${plural(files, "file")}, ${formatBytes(bytes)}`,
  )
  return ["found on this machine:", ...lines].join("\n")
}

export function importedText(told: ImportTold, options: GlobalOptions): string {
  const { runs, events, modelCalls, toolCalls, tokens, bytes, files, isDryRun, problems, moreProblems } = told
  const added = runs.filter(({ known, written }) => known === 0 && written > 0)
  const extended = runs.filter(({ known, written }) => known > 0 && written > 0)
  const others = runs.filter(({ isOther }) => isOther)
  const same = runs.length - added.length - extended.length - others.length
  const lines = [
    `${isDryRun ? "would import" : "imported"} ${plural(added.length, "run")}, ${plural(events, "event")} from ${plural(files, "file")} (${formatBytes(bytes)})`,
    `${plural(modelCalls, "model call")}, ${plural(toolCalls, "tool call")}, ${formatCount(tokens)} tokens as the records tell`,
  ]
  if (extended.length > 0) lines.push(`${plural(extended.length, "run")} went on since the last time`)
  if (same > 0) lines.push(`${plural(same, "run")} ${same === 1 ? "was" : "were"} here already`)
  for (const { runId } of others.slice(0, 5))
    lines.push(`${recordedWord(runId, 40)} is told otherwise than when it was imported: it stays as it was`)
  const troubles = problems.length + moreProblems
  if (troubles > 0) lines.push(`${plural(troubles, "place")} could not be read; the rest was`)
  const latest = [...added, ...extended]
    .map(({ runId }) => runId)
    .sort()
    .at(-1)
  if (!isDryRun && latest !== undefined) lines.push(`next: orangebox show ${pasteable(options, latest)}`)
  return lines.join("\n")
}

export const importedJson = ({ runs, problems, moreProblems, ...counts }: ImportTold) => ({
  ...(snakeJson(counts) as object),
  runs: runs.map((run) => snakeJson(run)),
  problems: problems.map((problem) => ({ path: problem.path, line: problem.line ?? null, reason: problem.reason })),
  more_problems: moreProblems,
})
