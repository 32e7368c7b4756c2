import { isRecord, type LoosePayload, type Problem } from "@orangebox/contract"
import { fileProblem, type WorkspaceFiles } from "../workspace-files.js"

/** The objects of a JSON Lines file with their line numbers, and a problem for every line that is none. */
export function readJsonLines(
  files: WorkspaceFiles,
  path: string,
): { records: { line: number; record: LoosePayload }[]; problems: Problem[] } {
  const records: { line: number; record: LoosePayload }[] = []
  const problems: Problem[] = []
  const lines = textOf(files.read(path)).split("\n")
  for (const [index, text] of lines.entries()) {
    if (text.trim() === "") continue
    const value = parseJson(text)
    if (isRecord(value)) records.push({ line: index + 1, record: value })
    else problems.push(badLine(path, index + 1, "is not a JSON object"))
  }
  return { records, problems }
}

export const badLine = (path: string, line: number, reason: string): Problem =>
  fileProblem("malformed_line", path, `line ${line}`, reason)

export const textOf = (bytes: Uint8Array | undefined): string =>
  bytes === undefined ? "" : new TextDecoder().decode(bytes)

/** Undefined where the text is not JSON; JSON itself has no undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The stage a record speaks of; files of different ages call it `step` or `step_id`. */
export function stageOf(record: LoosePayload): number | string | undefined {
  const id = record["step"] ?? record["step_id"]
  return typeof id === "number" || typeof id === "string" ? id : undefined
}
