import type { GlobalOptions } from "./session.js"

/**
 * How an address is written in the commands we suggest. A reader who named a data folder needs it again, and an option may stand before
 * the address, so `orangebox step <address>#4` stays a command that can be pasted.
 */
export function pasteable(options: GlobalOptions, address: string): string {
  return options.data === undefined ? address : `--data ${shellWord(options.data)} ${address}`
}

/** One word for a POSIX shell, whatever is in it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
