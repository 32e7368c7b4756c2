import { createReadStream, statSync } from "node:fs"
import type { Readable } from "node:stream"
import { InputError } from "@orangebox/contract"

export interface Input {
  readonly name: string
  readonly stream: Readable
}

const PIECE_BYTES = 256 * 1024

/** The files to read, all of them looked at before the first is; `-` is stdin. */
export function openInputs(names: readonly string[]): (() => Input)[] {
  const given = names.length === 0 ? ["-"] : names
  for (const name of given) if (name !== "-") checkFile(name)
  return given.map((name) => () => ({
    name,
    stream: name === "-" ? process.stdin : createReadStream(name, { highWaterMark: PIECE_BYTES }),
  }))
}

function checkFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    throw new InputError("NO_FILE", { what: "there is no such file", where: path, next: "Name a file, or - for stdin" })
  }
  if (found.isDirectory()) {
    throw new InputError("NOT_A_FILE", {
      what: "this is a folder, not a file",
      where: path,
      next: "Name its files, for example with: find … -type f -exec orangebox redact --check {} +",
    })
  }
}

/** The bytes of an input, or an error that says which input it was. */
export async function* bytesOf({ name, stream }: Input): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of stream) yield typeof piece === "string" ? Buffer.from(piece) : (piece as Uint8Array)
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause)
    throw new InputError("UNREADABLE", {
      what: `it cannot be read (${code})`,
      where: name === "-" ? "stdin" : name,
      next: "Check the file and its permissions",
      cause,
    })
  }
}
