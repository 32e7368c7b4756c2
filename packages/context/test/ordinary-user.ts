import { chownSync, readdirSync } from "node:fs"
import { join } from "node:path"

const NOBODY = 65534

/** What modes forbid, they forbid to ordinary users only: as root, `act` is done as nobody, who is given the folder's files. */
export function asOrdinaryUser<Result>(folder: string, act: () => Result): Result {
  if (process.getuid?.() !== 0) return act()
  for (const path of [folder, ...readdirSync(folder).map((name) => join(folder, name))]) chownSync(path, NOBODY, NOBODY)
  process.seteuid!(NOBODY)
  try {
    return act()
  } finally {
    process.seteuid!(0)
  }
}
