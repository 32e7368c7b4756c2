import { inFolder } from "@orangebox/reader"
import { shellWord } from "@orangebox/text"
import type { GlobalOptions } from "./session.js"

export { shellWord }

/** How an address is written in the commands we suggest to whoever typed these options. */
export const pasteable = (options: GlobalOptions, address: string): string => inFolder(options.data, address)
