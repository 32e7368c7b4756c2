import { type MadeEdit, replacedText } from "./made-edit.js"

const BLOCK =
  /^[<-]{5,9} ?SEARCH>?[^\n]*\n(?::start_line:[^\n]*\n)?(?::end_line:[^\n]*\n)?(?:-{5,9}\n)?([\s\S]*?)^={5,9}[^\n]*\n([\s\S]*?)^[>+]{5,9} ?REPLACE/gm

/** The SEARCH/REPLACE blocks of Cline, Roo Code and Aider, all of one file. */
export function readSearchBlocks(path: string, text: string): MadeEdit[] {
  const replacements = [...text.replaceAll("\r\n", "\n").matchAll(BLOCK)].map(([, before = "", after = ""]) => ({
    before,
    after,
  }))
  return replacements.length === 0 ? [] : [replacedText(path, replacements)]
}
