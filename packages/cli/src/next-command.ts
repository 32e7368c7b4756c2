import { shellWord } from "@orangebox/text"
import type { GlobalOptions } from "./session.js"

export { shellWord }

/**
 * How an address is written in the commands we suggest. A reader who named a data folder needs it again, and an option may stand before
 * the address, so `orangebox step <address>#4` stays a command that can be pasted.
 */
export function pasteable(options: GlobalOptions, address: string): string {
  return options.data === undefined ? address : `--data ${shellWord(options.data)} ${address}`
}
