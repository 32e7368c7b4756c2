import type { Problem } from "@orangebox/contract"
import { type FileReader, fileProblem, WorkspaceFiles, workspacePath } from "../workspace-files.js"
import type { Chunk } from "./retriever.js"

/** The text files of a folder, cut into chunks of whole lines, to be given to `bm25Retriever`. */
export function chunksOfFolder(options: {
  readonly reader: FileReader
  readonly folder: string
  /** Only paths it says yes to. Default: all. */
  readonly accepts?: (path: string) => boolean
  /** A chunk is closed at the first line that brings it to this many words. */
  readonly wordsPerChunk?: number
  readonly sourceKind?: string
}): { readonly chunks: readonly Chunk[]; readonly problems: readonly Problem[] } {
  const folder = workspacePath(options.folder, "folder")
  const files = new WorkspaceFiles(options.reader)
  const chunks: Chunk[] = []
  const problems: Problem[] = []
  for (const name of files.list(folder)) {
    const path = `${folder}/${name}`
    if (options.accepts && !options.accepts(path)) continue
    const bytes = files.read(path)
    if (bytes === undefined) continue
    const text = decode(bytes)
    if (text === undefined) {
      problems.push(fileProblem("file_not_text", path, "", "is not UTF-8 text"))
      continue
    }
    const provenance = files.recordOf(path)
    for (const part of cutLines(text, options.wordsPerChunk ?? 200)) {
      const id = `${path}#L${part.from}-L${part.to}`
      chunks.push({
        id,
        text: part.text,
        sourceRef: `file:${id}`,
        ...(provenance && { provenance }),
        ...(options.sourceKind !== undefined && { sourceKind: options.sourceKind }),
      })
    }
  }
  return { chunks, problems: [...files.problems, ...problems] }
}

function* cutLines(text: string, wordsPerChunk: number): Generator<{ text: string; from: number; to: number }> {
  const lines = text.split("\n")
  let from = 0
  let words = 0
  for (let i = 0; i < lines.length; i++) {
    words += lines[i]!.match(/\S+/g)?.length ?? 0
    const isLast = i === lines.length - 1
    if (words < wordsPerChunk && !isLast) continue
    const part = joined(lines, from + 1, i + 1)
    if (part !== "") yield { text: part, from: from + 1, to: i + 1 }
    from = i + 1
    words = 0
  }
}

/** Lines of a text as a chunk holds them, counted from 1. */
export const textOfLines = (text: string, from: number, to: number): string => joined(text.split("\n"), from, to)

const joined = (lines: readonly string[], from: number, to: number): string =>
  lines
    .slice(from - 1, to)
    .join("\n")
    .trimEnd()

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
