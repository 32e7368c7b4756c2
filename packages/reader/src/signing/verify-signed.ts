import type { KeyObject } from "node:crypto"
import { canonicalJson, InputError, type RunSignature, textHash } from "@orangebox/contract"
import { findRun } from "../address/find-target.js"
import type { ReaderOptions } from "../open/data-folder.js"
import { readStore } from "../open/open-reading.js"
import type { RunReading } from "../open/run-at.js"
import type { RunReader } from "../open/run-reader.js"
import { loadRun } from "../run/load-run.js"
import { type RunVerdict, verifyRun } from "../verify/verify-run.js"
import { gapsOf } from "./sign-runs.js"
import { type ChainLine, isSignedBy, linkProblems, readChain, readSignature, signatureText } from "./signature-chain.js"
import { keyId } from "./signing-key.js"

/** One signature against the key and against what is there now. */
export interface CheckedSignature {
  readonly entry: RunSignature
  /** Why it does not hold; none means that the run is what was signed. */
  readonly problems: readonly string[]
}

export interface SignedVerdict {
  readonly checked: readonly CheckedSignature[]
  /** What is wrong with the chain itself. */
  readonly chain: readonly string[]
  /** Signed with other keys: their links count, their signatures were not looked at. */
  readonly byOthers: number
  /** The hash of the chain's last line; null where there is no chain. */
  readonly head: string | null
}

/**
 * Every signature of a data folder that was made with a key.
 *
 * @param head what the chain ended in when it was last looked at: what was cut off behind it shows only so
 */
export function verifySignedStore(options: ReaderOptions, key: KeyObject, head?: string): Promise<SignedVerdict> {
  return readStore(options, async (reading) => {
    const lines = readChain(reading.folder.path)
    const mine = keyId(key)
    const entries = lines.flatMap((line) => ("entry" in line ? line.entry : []))
    const own = entries.filter(({ statement }) => statement.key === mine)
    const checked: CheckedSignature[] = []
    for (const [done, entry] of own.entries()) {
      options.onProgress?.(done, own.length, "signatures")
      checked.push({ entry, problems: await problemsOf(reading.store, entry, key) })
    }
    const hashes = lines.map(hashOf)
    const isHeadThere = head === undefined || hashes.includes(head)
    return {
      checked,
      chain: [
        ...linkProblems(lines).flatMap((problem) => problem ?? []),
        ...(isHeadThere
          ? []
          : [`the chain does not hold ${head}: signatures were taken off its end, or it is another chain`]),
      ],
      byOthers: entries.length - own.length,
      head: hashes.at(-1) ?? null,
    }
  })
}

/** The signatures of one run: those of the chain beside it, or the one in a file. */
export async function verifySignedRun(
  { reader, address, file, store }: RunReading,
  {
    folder,
    key,
    signature,
  }: { readonly folder: string | undefined; readonly key: KeyObject; readonly signature: string | undefined },
): Promise<SignedVerdict> {
  const { row } = await findRun(reader, address)
  const lines =
    signature !== undefined ? [readSignature(signature)] : store && folder !== undefined ? readChain(folder) : []
  const broken = signature !== undefined && "problem" in lines[0]! ? lines[0].problem : undefined
  if (broken !== undefined) {
    throw new InputError("SIGNATURE", {
      what: `the file is no signature: ${broken}`,
      next: "Name a file that orangebox sign --output wrote",
    })
  }
  const entries = lines.flatMap((line) =>
    "entry" in line && line.entry.statement.run_id === row.runId ? line.entry : [],
  )
  const mine = keyId(key)
  // In a file of its own a signature by another key is the answer, in a chain it is somebody else's.
  const own = signature !== undefined ? entries : entries.filter(({ statement }) => statement.key === mine)
  if (own.length === 0) {
    throw new InputError("NOT_SIGNED", {
      what: entries.length > 0 ? "the run was not signed with this key" : "there is no signature of this run",
      where: row.runId,
      next: file ? "Name the file with its signature: --signature FILE" : "Sign it, or name another key",
    })
  }
  const checked: CheckedSignature[] = []
  for (const entry of own) checked.push({ entry, problems: await problemsOf(reader, entry, key) })
  const chain = signature === undefined ? linkProblems(lines).flatMap((problem) => problem ?? []) : []
  return { checked, chain, byOthers: entries.length - own.length, head: lines.map(hashOf).at(-1) ?? null }
}

const hashOf = (line: ChainLine): string | null => ("entry" in line ? textHash(signatureText(line.entry)) : null)

async function problemsOf(reader: RunReader, entry: RunSignature, key: KeyObject): Promise<string[]> {
  if (entry.statement.key !== keyId(key)) return [`it was signed with another key, ${entry.statement.key}`]
  if (!isSignedBy(entry, key)) return ["what it says was changed after it was signed"]
  const run = await loadRun(reader, entry.statement.run_id)
  if (!run) return ["the run was signed, and is not there any more"]
  return differences(entry, await verifyRun(reader, run, { readBodies: true }))
}

function differences({ statement }: RunSignature, verdict: RunVerdict): string[] {
  const since = verdict.redacted.events > 0 ? "; events were redacted since" : ""
  const isSameDigest = verdict.digest === statement.digest
  const isSameGaps = canonicalJson(gapsOf(verdict)) === canonicalJson(statement.gaps)
  return [
    ...(isSameDigest
      ? []
      : [`the run is not what was signed: its digest is ${verdict.digest ?? "unknown, events are missing"}${since}`]),
    ...(verdict.events === statement.events ? [] : [`it had ${statement.events} events, and has ${verdict.events}`]),
    ...(verdict.status === statement.status ? [] : [`it was ${statement.status}, and is ${verdict.status}`]),
    ...(isSameGaps ? [] : [`its gaps were ${gapWords(statement.gaps)}, and are ${gapWords(gapsOf(verdict))}`]),
  ]
}

export const gapWords = (gaps: Readonly<Record<string, number>>): string =>
  Object.entries(gaps)
    .map(([code, count]) => `${count} ${code}`)
    .join(", ") || "none"
