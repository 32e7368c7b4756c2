import { asRecord, type LoosePayload, recordsIn } from "@orangebox/contract"
import { readApplyPatch } from "./apply-patch.js"
import { deletedFile, insertedText, type MadeEdit, replacedText, writtenFile } from "./made-edit.js"
import { readUnifiedPatch } from "./unified-patch.js"

export interface EditContext {
  /** The file the tool was told to touch; undefined where the text itself names it. */
  readonly path: string | undefined
  /** What the tool answered, where that is kept: some say whether the file is new. */
  readonly result: string | null
}

/**
 * The file edits in a tool's arguments. Agents give the same few things under many names, so the shape of the arguments decides, not the
 * tool: a replacement, a list of them, SEARCH/REPLACE blocks, a patch, an insertion, a whole file.
 */
export function readEdits(args: unknown, context: EditContext): MadeEdit[] {
  if (typeof args === "string") return readPatch(args, context.path)
  const record = asRecord(args)
  if (!record) return []
  const several = filesOf(record, context)
  if (several.length > 0) return several
  return readOne(record, context)
}

/** The same where only the call is at hand: the file is the one that its arguments name. */
export function editsAsked(args: unknown): MadeEdit[] {
  return readEdits(args, { path: stringAt(asRecord(args) ?? {}, PATH), result: null })
}

const OLD = ["old_string", "oldString", "old_str", "oldText", "old_text", "old_code", "search", "find", "old"]
const NEW = ["new_string", "newString", "new_str", "newText", "new_text", "new_code", "replace", "replacement", "new"]
const CONTENT = "content file_text contents text new_source code code_edit new_content file_content".split(" ")
const EDIT_TEXT = new Set([...OLD, ...NEW, ...CONTENT, "insert_text"])

/** Text of the file, old or new, and nothing else. A patch is not: it also names the files. */
export const isEditText = (key: string): boolean => EDIT_TEXT.has(key)

const PATCH = ["patch", "patchText", "patch_text", "diff", "input"]
const PATH = ["path", "file_path", "filePath", "file", "filename", "target_file", "relative_path"]

function filesOf(record: LoosePayload, context: EditContext): MadeEdit[] {
  // Lists of edits name their file once, above, or each its own.
  const named = [...recordsIn(record, "replacements"), ...recordsIn(record, "edits")].filter(
    (edit) => stringAt(edit, PATH) !== undefined,
  )
  return [...recordsIn(record, "files"), ...named].flatMap((file) =>
    readOne(file, { ...context, path: stringAt(file, PATH) ?? context.path }),
  )
}

function readOne(record: LoosePayload, { path, result }: EditContext): MadeEdit[] {
  const patch = stringAt(record, PATCH)
  if (patch !== undefined) {
    const edits = readPatch(patch, path)
    if (edits.length > 0) return edits
  }
  if (path === undefined) return []
  if (record["command"] === "delete" || record["edit_mode"] === "delete") return [deletedFile(path)]
  const listed = recordsIn(record, "edits")
  const replacements = (listed.length > 0 ? listed : [record]).flatMap((edit) => {
    const before = stringAt(edit, OLD)
    const after = stringAt(edit, NEW)
    if (before === undefined || after === undefined) return []
    return [{ before, after }]
  })
  const [only] = replacements
  // Replacing nothing is how several tools make a file.
  if (only && replacements.length === 1 && only.before === "") return [writtenFile(path, only.after, true)]
  if (only) return [replacedText(path, replacements)]
  const line = [record["insert_line"], record["line"], record["line_number"]].find((value) => typeof value === "number")
  const inserted = stringAt(record, ["insert_text", ...NEW, ...CONTENT])
  if (inserted === undefined) return []
  if (typeof line === "number") return [insertedText(path, inserted, line)]
  return [writtenFile(path, inserted, record["command"] === "create" || saysNew(result))]
}

function readPatch(text: string, path: string | undefined): MadeEdit[] {
  const edits = readApplyPatch(text)
  if (edits.length > 0) return edits
  const unified = readUnifiedPatch(text)
  if (unified.length > 0) return unified
  return path === undefined ? [] : readSearchBlocks(path, text)
}

const saysNew = (result: string | null): boolean =>
  result !== null &&
  /\b(?:created|new file|wrote new)\b/i.test(result.slice(0, 400)) &&
  !/\bupdated\b/i.test(result.slice(0, 400))

function stringAt(record: LoosePayload, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = record[name]
    if (typeof value === "string") return value
  }
  return undefined
}

const SEARCH = /^[<-]{5,9} ?SEARCH\b/
const MIDDLE = /^={5,9}\s*$/
const REPLACE = /^[>+]{5,9} ?REPLACE\b/
/** Roo Code says where to look before it says what for. */
const HINT = /^(?::(?:start|end)_line:.*|-{5,9})$/

/** The SEARCH/REPLACE blocks of Cline, Roo Code and Aider, all of one file. A block without its end is none. */
function readSearchBlocks(path: string, text: string): MadeEdit[] {
  const replacements: { before: string; after: string }[] = []
  let open: { before: string[]; after: string[] | undefined } | undefined
  for (const line of text.split(/\r?\n/)) {
    if (SEARCH.test(line)) open = { before: [], after: undefined }
    else if (!open) continue
    else if (REPLACE.test(line)) {
      if (open.after) replacements.push({ before: joined(open.before), after: joined(open.after) })
      open = undefined
    } else if (open.after) open.after.push(line)
    else if (MIDDLE.test(line)) open.after = []
    else if (open.before.length > 0 || !HINT.test(line)) open.before.push(line)
  }
  return replacements.length === 0 ? [] : [replacedText(path, replacements)]
}

const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("")
