import { given } from "@orangebox/contract"
import type { Snapshot, SnapshotAnswer, Written } from "@orangebox/reader"
import {
  type Column,
  formatBytes,
  formatMoment,
  formatTable,
  plural,
  recordedWord,
  safeLine,
  snakeJson,
} from "@orangebox/text"

export interface ShownSnapshot extends Snapshot {
  /** Undefined where nothing was to be written. */
  readonly written?: Written
}

/** On a narrow terminal the hash goes first. The path is there to be copied: it stands below its row, whole. */
const COLUMNS: readonly Column[] = [
  { title: "SNAPSHOT", minWidth: 16, dropRank: 1 },
  { title: "STEP" },
  { title: "WHY" },
  { title: "SIZE", align: "right" },
  { title: "TAKEN", dropRank: 2 },
  { title: "HASH", dropRank: 3 },
]

export function snapshotsText(snapshots: readonly ShownSnapshot[], width: number | undefined): string {
  const rows = snapshots.map(({ artifactId, n, trigger, sizeBytes, withheldBytes, createdAt, hash, absent }) => [
    recordedWord(artifactId, 60),
    n === null ? "?" : `#${n}`,
    trigger ?? "death",
    `${formatBytes(sizeBytes)}${withheldBytes > 0 ? ` (${formatBytes(withheldBytes)} more withheld)` : ""}${absent === null ? "" : ` (${absent.replaceAll("_", " ")})`}`,
    formatMoment(createdAt),
    `${hash.slice(0, 19)}…`,
  ])
  const [titles = "", ...lines] = formatTable(COLUMNS, rows, given({ width })).split("\n")
  return [titles, ...lines.flatMap((line, at) => [line, `    ${safeLine(snapshots[at]!.path)}`])].join("\n")
}

/** One line for each snapshot that was to be written, and what became of it. */
export function writtenText(snapshots: readonly ShownSnapshot[]): string {
  return snapshots.flatMap(({ artifactId, written }) => (written ? [lineOf(artifactId, written)] : [])).join("\n")
}

function lineOf(artifactId: string, { outcome, where, reason }: Written): string {
  const about = where ?? `${artifactId}: ${reason ?? "unknown"}`
  return `${WORDS[outcome]} ${safeLine(about)}`
}

const WORDS: Readonly<Record<Written["outcome"], string>> = {
  written: "wrote   ",
  same: "is there",
  absent: "no bytes",
  refused: "refused ",
}

/** What is said about the request; undefined where none was made. */
export function answerWords(answer: SnapshotAnswer | undefined, snapshots: number): string | undefined {
  switch (answer?.outcome) {
    case undefined:
      return undefined
    case "taken":
      return "orangebox: taken"
    case "waiting":
      return `orangebox: not yet: ${answer.reason}`
    case "impossible":
      return `orangebox: none can be taken: ${answer.reason}; ${snapshots === 0 ? "it left none; a run keeps one where something goes wrong, or where the SDK calls step.snapshot()" : `it left ${plural(snapshots, "snapshot")}`}`
  }
}

export const snapshotJson = ({ written, ...snapshot }: ShownSnapshot) => ({
  ...snakeJson(snapshot),
  written: written ?? null,
})
