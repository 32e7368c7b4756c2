import { accessSync, constants, statSync } from "node:fs"
import { dirname } from "node:path"
import { pathToFileURL } from "node:url"
import { OrangeboxError } from "@orangebox/contract"

/** Evidence is often looked at where nothing can be written: a mounted image, a snapshot of a disk, a volume of a container. */
export function isOnReadOnlyDisk(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EROFS"
  }
}

/**
 * How a database is opened for reading. In WAL mode SQLite wants to write beside it even to read; where no process can write it may be told that
 * nothing changes, and then it reads the file alone. A log that was never written back would be left out, so such a copy is refused.
 */
export function readingPlace(path: string): string {
  if (!isOnReadOnlyDisk(dirname(path))) return path
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
  if (log !== undefined && log.size > 0) {
    throw new OrangeboxError("STORE_READ_ONLY", {
      what: "the store was copied while it was in use, and on a read-only disk its log cannot be read",
      where: path,
      next: "Copy the data folder to a disk that can be written, and read it there",
    })
  }
  return `${pathToFileURL(path).href}?immutable=1`
}
