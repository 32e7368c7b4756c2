import { fileURLToPath } from "node:url"

/** The file that starts this installation. */
export const ownBin = (): string => fileURLToPath(new URL("../bin/orangebox.js", import.meta.url))
