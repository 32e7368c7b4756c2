import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs"

/**
 * The text of a file that came with a repository. Its name may lead to a device without end or to a pipe without a writer, which would
 * hold up the application for ever: only a plain file is read, and only one that is no larger than such a file can be.
 */
export function readSmallFile(path: string, mostBytes: number): string {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const found = fstatSync(fd)
    if (found.isDirectory()) throw coded("EISDIR", "it is a folder")
    if (!found.isFile()) throw coded("ENXIO", "it is a device or a pipe")
    if (found.size > mostBytes) throw coded("EFBIG", `it has ${found.size} bytes, at most ${mostBytes} are read`)
    return readFileSync(fd, "utf8")
  } finally {
    closeSync(fd)
  }
}

const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code })
