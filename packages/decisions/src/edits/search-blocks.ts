import { type MadeEdit, replacedText } from "./made-edit.js"

const SEARCH = /^[<-]{5,9} ?SEARCH\b/
const MIDDLE = /^={5,9}\s*$/
const REPLACE = /^[>+]{5,9} ?REPLACE\b/
/** Roo Code says where to look before it says what for. */
const HINT = /^(?::(?:start|end)_line:.*|-{5,9})$/

/** The SEARCH/REPLACE blocks of Cline, Roo Code and Aider, all of one file. A block without its end is none. */
export function readSearchBlocks(path: string, text: string): MadeEdit[] {
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
