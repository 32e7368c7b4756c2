import { diffHeader, type MadeEdit } from "./made-edit.js"

/** A unified diff as git, diff and several agents write it, split by file. Text that is no diff gives nothing. */
export function readUnifiedPatch(text: string): MadeEdit[] {
  const edits: MadeEdit[] = []
  let open: { old: string; made: string; lines: string[] } | undefined
  const close = (): void => {
    if (open && (open.lines.length > 0 || open.old !== open.made)) edits.push(editOf(open))
    open = undefined
  }
  const lines = text.split(/\r?\n/)
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    const next = lines[at + 1]
    if (line.startsWith("--- ") && next?.startsWith("+++ ")) {
      close()
      open = { old: fileOf(line), made: fileOf(next), lines: [] }
      at++
    } else if (/^(?:diff --git|index [0-9a-f]|Index: )/.test(line)) close()
    else if (open && /^(?:@@|[+\- \\])/.test(line)) open.lines.push(line)
  }
  close()
  return edits
}

const fileOf = (line: string): string =>
  line
    .slice(4)
    .replace(/\t.*$/, "")
    .trim()
    .replace(/^[ab]\//, "")

function editOf({ old, made, lines }: { old: string; made: string; lines: readonly string[] }): MadeEdit {
  const isNew = old === "/dev/null"
  const isGone = made === "/dev/null"
  const path = isGone ? old : made
  return {
    path,
    kind: isNew ? "create" : isGone ? "delete" : "change",
    diff: diffHeader(isNew ? null : old, isGone ? null : made) + lines.map((line) => `${line}\n`).join(""),
    linesAdded: lines.filter((line) => line.startsWith("+")).length,
    linesRemoved: lines.filter((line) => line.startsWith("-")).length,
    beforeHash: null,
    afterHash: null,
  }
}
