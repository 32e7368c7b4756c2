import { type KeyObject, sign, verify } from "node:crypto"
import { closeSync, fsyncSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  type BodyHash,
  canonicalJson,
  OrangeboxError,
  RunSignature,
  type SignedStatement,
  textHash,
} from "@orangebox/contract"
import { ensurePrivateFolder, openPrivateFile, readPrivateFile } from "@orangebox/journal"
import { waitForLock } from "../open/wait-for-lock.js"
import { keyId } from "./signing-key.js"

// Every signature of a data folder stands in one file, a line each, and each line names the hash of the one before it inside what is signed:
// a line that is taken out, put elsewhere or changed breaks the chain, and without the key it cannot be mended. What is cut off at the end
// leaves no trace here; that is what the head is printed for.

/** One line of the chain, or why it is none. */
export type ChainLine = { readonly entry: RunSignature } | { readonly problem: string }

/** A signature as it is written, in the chain and in a file of its own: one text per signature, and one hash. */
export const signatureText = (entry: RunSignature): string => `${canonicalJson(entry)}\n`

export function signStatement(statement: SignedStatement, key: KeyObject): RunSignature {
  return { statement, signature: sign(null, signedBytes(statement), key).toString("base64") }
}

/** Whether this very statement was signed with this key. */
export function isSignedBy({ statement, signature }: RunSignature, key: KeyObject): boolean {
  if (statement.key !== keyId(key)) return false
  return verify(null, signedBytes(statement), key, Buffer.from(signature, "base64"))
}

const signedBytes = (statement: SignedStatement): Buffer => Buffer.from(canonicalJson(statement), "utf8")

export function readSignature(text: string): ChainLine {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { problem: "it is no JSON" }
  }
  const read = RunSignature.safeParse(value)
  if (!read.success) return { problem: "it is no signature of a run" }
  // What was signed has one spelling: a member twice, or other digits, would be read in two ways.
  return signatureText(read.data) === text ? { entry: read.data } : { problem: "it is not spelled as it was written" }
}

/** What the chain's links say of themselves, whoever signed them. A problem for every line that does not follow the one before it. */
export function linkProblems(lines: readonly ChainLine[]): readonly (string | undefined)[] {
  let previous: BodyHash | null = null
  return lines.map((line, place) => {
    if ("problem" in line) {
      previous = null
      return `line ${place + 1} of the chain cannot be read: ${line.problem}`
    }
    const expected = previous
    previous = textHash(signatureText(line.entry))
    const { statement } = line.entry
    if (statement.place !== place) {
      return `line ${place + 1} of the chain was signed as number ${statement.place + 1}: lines are missing, moved or added before it`
    }
    return statement.previous === expected
      ? undefined
      : `line ${place + 1} of the chain does not follow the one before it`
  })
}

const folderOf = (dataFolder: string): string => join(dataFolder, "signatures")
const fileOf = (dataFolder: string): string => join(folderOf(dataFolder), "chain.ndjson")

/** A line is under a kilobyte: a quarter of a million signatures. */
const MOST_BYTES = 256 * 1024 * 1024

export function readChain(dataFolder: string): readonly ChainLine[] {
  let text: string
  try {
    text = readPrivateFile(fileOf(dataFolder), MOST_BYTES).toString("utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []
    throw error
  }
  // The line break belongs to the text of a signature.
  return text.split(/(?<=\n)/).map(readSignature)
}

/** Adds to the chain under its lock what `next` makes of the chain so far; on disk when it returns. */
export async function extendChain(
  dataFolder: string,
  next: (place: number, previous: BodyHash | null) => RunSignature,
): Promise<RunSignature> {
  const folder = folderOf(dataFolder)
  ensurePrivateFolder(folder)
  const lock = await waitForLock(
    folder,
    (who) =>
      new OrangeboxError("CHAIN_BUSY", { what: `${who} is signing`, where: folder, next: "Try again when it is done" }),
  )
  try {
    const lines = readChain(dataFolder)
    const last = lines.at(-1)
    const isWhole = last === undefined || "entry" in last
    const entry = next(lines.length, last && "entry" in last ? textHash(signatureText(last.entry)) : null)
    const file = openPrivateFile(fileOf(dataFolder), "append")
    try {
      // A line that was torn by a power cut stays what it is; the next one begins behind it.
      writeFileSync(file, `${isWhole ? "" : "\n"}${signatureText(entry)}`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    return entry
  } finally {
    lock.release()
  }
}
