import { durationIn, momentIn } from "@orangebox/text"
import { InvalidArgumentError } from "commander"

/** What options are given as, turned into values. Commander names the option; these say what was expected. */

export function parseCount(text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count)) throw new InvalidArgumentError("It must be a whole number.")
  return count
}

export function parsePositive(text: string): number {
  const count = parseCount(text)
  if (count === 0) throw new InvalidArgumentError("It must be at least 1.")
  return count
}

export function parsePort(text: string): number {
  const port = parseCount(text)
  if (port === 0 || port > 65_535) throw new InvalidArgumentError("It must be a port: 1 to 65535.")
  return port
}

/** A token budget: a view cannot be told in less than its least. */
export function budgetParser(least: number): (text: string) => number {
  return (text) => {
    const budget = parseCount(text)
    if (budget < least) throw new InvalidArgumentError(`It must be at least ${least} tokens.`)
    return budget
  }
}

/** `90s`, `12h`, `30d`, `2w`. */
export function parseDuration(text: string): number {
  const duration = durationIn(text)
  if (duration === undefined) throw new InvalidArgumentError("It must be a time such as 90s, 12h, 30d or 2w.")
  return duration
}

const SIZE_BYTES: Readonly<Record<string, number>> = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 }
const BINARY_SIZE_BYTES: Readonly<Record<string, number>> = { kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 }

/** `500MB`, `1GB`, `2GiB`, or plain bytes. */
export function parseSize(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s?([a-z]*)$/i.exec(text)
  const unit = match?.[2]?.toLowerCase() || "b"
  const factor = SIZE_BYTES[unit] ?? BINARY_SIZE_BYTES[unit]
  if (!match || factor === undefined) throw new InvalidArgumentError("It must be a size such as 500MB, 1GB or 2GiB.")
  return Math.floor(Number(match[1]) * factor)
}

/** A moment: an ISO date or time, or how long ago (`2h`, `3d`). */
export function momentParser(now: () => number): (text: string) => number {
  return (text) => {
    const at = momentIn(text, now())
    if (at === undefined)
      throw new InvalidArgumentError("It must be a date such as 2026-01-31, or how long ago: 2h, 3d.")
    return at
  }
}

export function choiceParser<T extends string>(choices: readonly T[]): (text: string) => T {
  return (text) => {
    const found = choices.find((choice) => choice === text)
    if (found === undefined) throw new InvalidArgumentError(`It must be one of: ${choices.join(", ")}.`)
    return found
  }
}

/** For an option that may be given several times. */
export const collected = (text: string, before: readonly string[]): readonly string[] => [...before, text]
