import { textHash } from "@orangebox/contract"
import { createTwoFilesPatch } from "diff"
import type { FileEdit } from "../action.js"

/** A file edit before anybody knows where it was recorded. */
export type MadeEdit = Omit<FileEdit, "evidence">

const NO_FILE = "/dev/null"

/** The two lines a diff begins with. A name with line breaks or quotes in it is quoted, as git does, and so stays on its line. */
export function diffHeader(before: string | null, after: string | null): string {
  const name = (side: "a" | "b", path: string | null): string => {
    if (path === null) return NO_FILE
    return /[\p{Cc}"\\]/u.test(path) ? JSON.stringify(`${side}/${path}`) : `${side}/${path}`
  }
  return `--- ${name("a", before)}\n+++ ${name("b", after)}\n`
}

// Finding the shortest diff of two texts that have nothing in common takes the square of their length; past this many changed lines
// everything old is shown as removed and everything new as added, which is the same change told at greater length.
const MOST_CHANGED_LINES = 500

/** One piece of text replaced by another, somewhere in a file: line numbers count from the piece, not from the file. */
export function replacedText(path: string, replacements: readonly { before: string; after: string }[]): MadeEdit {
  const hunks = replacements.map(({ before, after }) => hunksOf(before, after))
  return {
    path,
    kind: "change",
    diff: diffHeader(path, path) + hunks.map(({ text }) => text).join(""),
    linesAdded: sum(hunks.map(({ added }) => added)),
    linesRemoved: sum(hunks.map(({ removed }) => removed)),
    beforeHash: null,
    afterHash: null,
  }
}

/** A whole file written. What stood there before is known only to a tool that says it made a new one. */
export function writtenFile(path: string, content: string, isNew: boolean): MadeEdit {
  const lines = linesOf(content)
  const body = lines.map((line) => `+${line}\n`).join("")
  const head = lines.length === 0 ? "" : `@@ -0,0 +1,${lines.length} @@\n`
  return {
    path,
    kind: isNew ? "create" : "change",
    diff: diffHeader(isNew ? null : path, path) + head + body,
    linesAdded: lines.length,
    linesRemoved: isNew ? 0 : null,
    beforeHash: null,
    afterHash: textHash(content),
  }
}

export function insertedText(path: string, text: string, afterLine: number | null): MadeEdit {
  const lines = linesOf(text)
  const at = afterLine ?? 0
  return {
    path,
    kind: "change",
    diff: `${diffHeader(path, path)}@@ -${at},0 +${at + 1},${lines.length} @@\n${lines.map((line) => `+${line}\n`).join("")}`,
    linesAdded: lines.length,
    linesRemoved: 0,
    beforeHash: null,
    afterHash: null,
  }
}

export function deletedFile(path: string): MadeEdit {
  const diff = diffHeader(path, null)
  return { path, kind: "delete", diff, linesAdded: 0, linesRemoved: null, beforeHash: null, afterHash: null }
}

/** Lines of a text as an editor counts them: a line break at the end begins no further line. */
export function linesOf(text: string): string[] {
  if (text === "") return []
  const lines = text.split("\n")
  if (lines.at(-1) === "") lines.pop()
  return lines
}

interface Hunks {
  readonly text: string
  readonly added: number
  readonly removed: number
}

function hunksOf(before: string, after: string): Hunks {
  const patch = createTwoFilesPatch("a", "b", withEnd(before), withEnd(after), undefined, undefined, {
    context: 3,
    maxEditLength: MOST_CHANGED_LINES,
  })
  const text = patch === undefined ? everything(before, after) : patch.slice(Math.max(0, patch.indexOf("@@")))
  if (patch !== undefined && !patch.includes("@@")) return { text: "", added: 0, removed: 0 }
  let added = 0
  let removed = 0
  for (const line of text.split("\n")) {
    if (line.startsWith("+")) added++
    else if (line.startsWith("-")) removed++
  }
  return { text, added, removed }
}

// A fragment seldom ends with a line break, and "no newline at end of file" would be said about a file it is not the end of.
const withEnd = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`)

function everything(before: string, after: string): string {
  const old = linesOf(before)
  const made = linesOf(after)
  const head = `@@ -1,${old.length} +1,${made.length} @@\n`
  return head + old.map((line) => `-${line}\n`).join("") + made.map((line) => `+${line}\n`).join("")
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)
