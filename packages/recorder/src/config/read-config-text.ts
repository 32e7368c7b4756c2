import { readFileSync } from "node:fs"
import { OrangeboxError } from "@orangebox/contract"

/** The text of a configuration; undefined where there is none. */
export function readConfigText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === "ENOENT" || code === "ENOTDIR") return undefined
    throw new OrangeboxError("CONFIG", {
      what: `the configuration cannot be read (${code})`,
      where: path,
      next: "Make it a readable file or remove it",
      cause: error,
    })
  }
}
