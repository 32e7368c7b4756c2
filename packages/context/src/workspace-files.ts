import { bodyHash, OrangeboxError, type Problem } from "@orangebox/contract"

/** The handed-in edge: everything the compiler reads comes through it. Paths are relative to the workspace, with forward slashes. */
export interface FileReader {
  /** The bytes of a file; undefined where there is none. May throw where there is one that cannot be read. */
  read(path: string): Uint8Array | undefined
  /** Paths of all files below a folder, relative to that folder; undefined where there is no such folder. */
  list(folder: string): readonly string[] | undefined
}

/** Which file contributed, in which state. */
export interface ProvenanceRecord {
  readonly path: string
  /** 64 hex digits, or why there are none. */
  readonly sha256: string
  readonly size_bytes: number
}

export const FILE_NOT_FOUND = "FILE_NOT_FOUND"
export const FILE_UNREADABLE = "FILE_UNREADABLE"

/** A file the context depends on. A missing one is noted and assembly goes on; a missing critical one is a fault as well. */
export type SourcePath = string | { readonly path: string; readonly isCritical?: boolean }

/**
 * One compilation's view of the workspace: each file is read once, so the bytes that were hashed are the bytes that were used, and
 * everything that was touched is in `provenance`.
 */
export class WorkspaceFiles {
  readonly #reader: FileReader | undefined
  readonly #seen = new Map<string, { record: ProvenanceRecord; bytes: Uint8Array | undefined }>()
  readonly problems: Problem[] = []

  constructor(reader: FileReader | undefined) {
    this.#reader = reader
  }

  read(path: string): Uint8Array | undefined {
    const known = this.#seen.get(path)
    if (known) return known.bytes
    let bytes: Uint8Array | undefined
    let absent = FILE_NOT_FOUND
    try {
      bytes = this.#door(path).read(path)
    } catch (error) {
      if (error instanceof OrangeboxError) throw error
      absent = FILE_UNREADABLE
      this.problems.push(fileProblem("file_unreadable", path, "", `cannot be read: ${String(error)}`))
    }
    this.#note(path, bytes, absent)
    return bytes
  }

  list(folder: string): readonly string[] {
    let names: readonly string[] | undefined
    let absent = FILE_NOT_FOUND
    try {
      names = this.#door(folder).list(folder)
    } catch (error) {
      if (error instanceof OrangeboxError) throw error
      absent = FILE_UNREADABLE
      this.problems.push(fileProblem("file_unreadable", folder, "", `cannot be listed: ${String(error)}`))
    }
    if (names === undefined) this.#note(folder, undefined, absent)
    // Folder order is whatever the file system likes; ours is always the same.
    return [...(names ?? [])].sort()
  }

  /** Files in the order in which they were first touched. */
  get provenance(): ProvenanceRecord[] {
    return [...this.#seen.values()].map(({ record }) => record)
  }

  recordOf(path: string): ProvenanceRecord | undefined {
    return this.#seen.get(path)?.record
  }

  #note(path: string, bytes: Uint8Array | undefined, absent: string): void {
    const record = bytes === undefined ? { path, sha256: absent, size_bytes: 0 } : provenanceOf(path, bytes)
    this.#seen.set(path, { record, bytes })
  }

  #door(path: string): FileReader {
    if (this.#reader) return this.#reader
    throw new OrangeboxError("CONTEXT_READER", {
      what: `${path} is needed, but no reader was handed in`,
      where: "reader",
      next: "Pass a reader over your workspace",
    })
  }
}

function provenanceOf(path: string, bytes: Uint8Array): ProvenanceRecord {
  return { path, sha256: bodyHash(bytes).slice("sha256:".length), size_bytes: bytes.byteLength }
}

/** A path relative to the workspace in its one spelling. Throws for what leads out of it: provenance must mean the same elsewhere. */
export function workspacePath(path: unknown, field: string): string {
  const parts = typeof path === "string" ? path.split("/").filter((part) => part !== "" && part !== ".") : []
  const isOutside = typeof path === "string" && (/^(?:[/\\]|[A-Za-z]:[\\/])/.test(path) || parts.includes(".."))
  if (parts.length > 0 && !isOutside) return parts.join("/")
  throw new OrangeboxError("CONTEXT_PATH", {
    what: `${field} is ${typeof path === "string" ? JSON.stringify(path) : typeof path}`,
    where: field,
    next: "Give a path relative to the workspace",
  })
}

export const fileProblem = (code: string, path: string, field: string, reason: string): Problem => ({
  code,
  severity: "error",
  subject: path,
  field,
  reason,
})
