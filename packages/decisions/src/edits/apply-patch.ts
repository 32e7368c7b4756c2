import { deletedFile, diffHeader, type MadeEdit } from "./made-edit.js"

/**
 * The patch envelope of Codex and those who took it over:
 *
 *     *** Begin Patch
 *     *** Update File: src/date.ts
 *     *** Move to: src/dates.ts
 *     @@ export function parse
 *     -old
 *     +new
 *     *** End Patch
 *
 * It names places by context instead of line numbers, so the line numbers of the diff made here count from the first line of each file's
 * part. Text around the envelope (a shell's here-document) is passed over.
 */
export function readApplyPatch(text: string): MadeEdit[] {
  const begin = text.indexOf("*** Begin Patch")
  if (begin < 0) return []
  const edits: MadeEdit[] = []
  let open: OpenFile | undefined
  const close = (): void => {
    if (open) edits.push(editOf(open))
    open = undefined
  }
  for (const line of text.slice(begin).split(/\r?\n/).slice(1)) {
    // Padding before a header is tolerated by those who apply patches, but for changed files, where a space begins a line of context.
    const header =
      /^\*\*\* (Begin Patch|Add File|Update File|Delete File|Move to|End Patch|End of File)(?:: ?(.*))?$/.exec(
        open && !open.isNew ? line : line.trim(),
      )
    if (!header) {
      open?.lines.push(line)
      continue
    }
    const [, what, path = ""] = header
    if (what === "End of File") continue
    if (what === "Move to") {
      if (open) open.movedTo = path.trim()
      continue
    }
    close()
    if (what === "Begin Patch" || what === "End Patch") continue
    if (what === "Delete File") edits.push(deletedFile(path.trim()))
    else open = { path: path.trim(), isNew: what === "Add File", movedTo: undefined, lines: [] }
  }
  close()
  return edits
}

interface OpenFile {
  readonly path: string
  readonly isNew: boolean
  movedTo: string | undefined
  readonly lines: string[]
}

function editOf({ path, isNew, movedTo, lines }: OpenFile): MadeEdit {
  const target = movedTo ?? path
  let diff = diffHeader(isNew ? null : path, target)
  let oldLine = isNew ? 0 : 1
  let newLine = 1
  let linesAdded = 0
  let linesRemoved = 0
  for (const { section, body } of hunksOf(lines, isNew)) {
    const added = body.filter((line) => line.startsWith("+")).length
    const removed = body.filter((line) => line.startsWith("-")).length
    const kept = body.length - added - removed
    diff += `@@ -${oldLine},${kept + removed} +${newLine},${kept + added} @@${section === "" ? "" : ` ${section}`}\n`
    diff += body.map((line) => `${line}\n`).join("")
    oldLine += kept + removed
    newLine += kept + added
    linesAdded += added
    linesRemoved += removed
  }
  return {
    path: target,
    kind: isNew ? "create" : "change",
    diff,
    linesAdded,
    linesRemoved,
    beforeHash: null,
    afterHash: null,
    ...(movedTo !== undefined && { movedFrom: path }),
  }
}

function hunksOf(lines: readonly string[], isNew: boolean): { section: string; body: string[] }[] {
  const hunks: { section: string; body: string[] }[] = []
  for (const line of lines) {
    if (line.startsWith("@@")) {
      hunks.push({
        section: line
          .slice(2)
          .replace(/@@\s*$/, "")
          .trim(),
        body: [],
      })
      continue
    }
    if (hunks.length === 0) hunks.push({ section: "", body: [] })
    // An empty line is context whose leading space an editor took away; in a new file everything is added.
    const marked = /^[+\- ]/.test(line) ? line : isNew ? `+${line}` : ` ${line}`
    hunks.at(-1)!.body.push(marked)
  }
  return hunks.map((hunk) => ({ ...hunk, body: withoutBlankEnd(hunk.body) })).filter(({ body }) => body.length > 0)
}

function withoutBlankEnd(body: string[]): string[] {
  let end = body.length
  while (end > 0 && body[end - 1] === " ") end--
  return body.slice(0, end)
}
