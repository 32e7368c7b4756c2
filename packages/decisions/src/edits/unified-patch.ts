import { diffHeader, type MadeEdit } from "./made-edit.js"

/** A unified diff as git, diff and several agents write it, split by file. Text that is no diff gives nothing. */
export function readUnifiedPatch(text: string): MadeEdit[] {
  const edits: MadeEdit[] = []
  let open: OpenFile | undefined
  let announced: Announced | undefined
  const close = (): void => {
    if (open && (open.lines.length > 0 || open.old !== open.made)) edits.push(editOf(open))
    else if (!open && announced?.made !== undefined) edits.push(editOf({ ...filesOf(announced), lines: [] }))
    open = undefined
    announced = undefined
  }
  const lines = text.split(/\r?\n/)
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    const next = lines[at + 1]
    if (line.startsWith("--- ") && next?.startsWith("+++ ")) {
      if (open) close()
      open = { old: fileOf(line.slice(4)), made: fileOf(next.slice(4)), movedFrom: announced?.movedFrom, lines: [] }
      at++
    } else if (line.startsWith("diff --git ")) {
      close()
      announced = announcedBy(line)
    } else if (/^(?:index [0-9a-f]|Index: )/.test(line) && open) close()
    else if (announced && !open) readExtendedHeader(line, announced)
    else if (open && /^(?:@@|[+\- \\])/.test(line)) open.lines.push(line)
  }
  close()
  return edits
}

interface OpenFile {
  readonly old: string
  readonly made: string
  readonly movedFrom: string | undefined
  readonly lines: string[]
}

/** What git says ahead of the lines of a file; for a file that is only moved, removed when empty, or given another mode, it is all there is. */
interface Announced {
  made: string | undefined
  movedFrom: string | undefined
  kind: "change" | "create" | "delete"
}

/** Both names, which are one: where they are two, further headers tell them apart. */
function announcedBy(line: string): Announced {
  const [, plain, quoted] = /^diff --git (?:a\/(.+) b\/\1|("a\/.+") "b\/.+")$/.exec(line) ?? []
  const made = plain ?? (quoted === undefined ? undefined : fileOf(quoted))
  return { made, movedFrom: undefined, kind: "change" }
}

function readExtendedHeader(line: string, announced: Announced): void {
  const [, what, name = ""] = /^(rename from|rename to|copy to|deleted file mode|new file mode) (.*)$/.exec(line) ?? []
  if (what === "rename from") announced.movedFrom = unquoted(name)
  else if (what === "rename to" || what === "copy to") announced.made = unquoted(name)
  else if (what === "deleted file mode") announced.kind = "delete"
  else if (what === "new file mode") announced.kind = "create"
}

function filesOf({ made = NO_FILE, movedFrom, kind }: Announced): Omit<OpenFile, "lines"> {
  return {
    old: kind === "create" ? NO_FILE : (movedFrom ?? made),
    made: kind === "delete" ? NO_FILE : made,
    movedFrom,
  }
}

const NO_FILE = "/dev/null"

const fileOf = (name: string): string => unquoted(name.replace(/\t.*$/, "").trim()).replace(/^[ab]\//, "")

/** A name as git writes it when it holds more than plain letters: quoted, its bytes in octal. */
function unquoted(name: string): string {
  const [, inner] = /^"(.*)"$/.exec(name) ?? []
  if (inner === undefined) return name
  const bytes = inner
    .split(/(\\[0-7]{3}|\\.)/)
    .map((part) =>
      /^\\[0-7]{3}$/.test(part)
        ? Buffer.from([Number.parseInt(part.slice(1), 8)])
        : Buffer.from(part.startsWith("\\") ? (ESCAPES[part[1]!] ?? part.slice(1)) : part),
    )
  return Buffer.concat(bytes).toString()
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" }

function editOf({ old, made, movedFrom, lines }: OpenFile): MadeEdit {
  const isNew = old === NO_FILE
  const isGone = made === NO_FILE
  const path = isGone ? old : made
  return {
    path,
    kind: isNew ? "create" : isGone ? "delete" : "change",
    diff: diffHeader(isNew ? null : old, isGone ? null : made) + lines.map((line) => `${line}\n`).join(""),
    linesAdded: lines.filter((line) => line.startsWith("+")).length,
    linesRemoved: lines.filter((line) => line.startsWith("-")).length,
    beforeHash: null,
    afterHash: null,
    ...(movedFrom !== undefined && { movedFrom }),
  }
}
