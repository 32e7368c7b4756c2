import { crc32 } from "node:zlib"
import { SampleRun } from "./sample-run.mjs"

/** A journal line as a writer would write it, for files that no writer of ours would. */
export function journalLine(value: { readonly k: string }): Buffer {
  const content = Buffer.from(JSON.stringify(value).slice(1))
  const crc = crc32(content).toString(16).padStart(8, "0")
  return Buffer.concat([Buffer.from(`{"crc":"${crc}",`), content, Buffer.from("\n")])
}

export function eventLine(event: unknown): Buffer {
  const value = { k: "event", e: event }
  return journalLine(value)
}

export interface Header {
  readonly k: string
  format_version: number
  readonly process: { hostname: string; start_ticks: number }
}

/** The same file with another first line. */
export function reheaded(bytes: Buffer, change: (header: Header) => void): Buffer {
  const end = bytes.indexOf(10)
  const { crc: _, ...header } = JSON.parse(bytes.toString("utf8", 0, end)) as Header & { crc: string }
  change(header)
  return Buffer.concat([journalLine(header), bytes.subarray(end + 1)])
}

/** A run whose events go nowhere but back to the caller. */
export const unwrittenRun = (): SampleRun => new SampleRun({ append: () => ({ written: true }) })
