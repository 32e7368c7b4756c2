import { type Event, payloadOf, textIn } from "@orangebox/contract"
import { WorkspaceSnapshot } from "../generated.js"
import { masksIn } from "./body-masks.js"

/** The looks at a work tree that tell what a run made of it. */
export interface RecordedLooks {
  /** Refs of the snapshots. */
  readonly first: string
  readonly last: string
  /** Artifact id → digest and tags of secrets, of the contents of files. */
  readonly contents: ReadonlyMap<string, string>
}

/** Undefined where the work tree was not looked at. */
export function looksOf(events: readonly Event[]): RecordedLooks | undefined {
  const snapshots: string[] = []
  const contents = new Map<string, string>()
  for (const event of events) {
    if (event.event_type !== "artifact_recorded") continue
    const payload = payloadOf(event)
    const ref = textIn(payload, "content_ref") ?? textIn(payload, "hash")
    if (ref === undefined) continue
    if (textIn(payload, "artifact_type") === "workspace_snapshot") snapshots.push(ref)
    // Two secrets that mask alike are told apart by their tags.
    else contents.set(textIn(payload, "artifact_id") ?? "", [ref, ...masksIn(event).map(({ tag }) => tag)].join(" "))
  }
  const [first, last] = [snapshots[0], snapshots.at(-1)]
  return first === undefined || last === undefined ? undefined : { first, last, contents }
}

/** In the place of a digest: two files of which nothing is known are not the same file. */
export const NOT_KEPT = "not kept"

/** Where the text behind a ref is. */
interface TextReader {
  text(ref: string): string | undefined
}

/** What a file became: its digest, `deleted`, or `as committed`. */
export type ChangedFiles = ReadonlyMap<string, string>

/**
 * What a run left otherwise than it had found it, whatever it did in between: when the recorder came to look is a matter of milliseconds.
 * Undefined where that is not on record.
 */
export function changedFiles(looks: RecordedLooks, reader: TextReader): ChangedFiles | undefined {
  const before = filesAt(looks, looks.first, reader)
  const after = looks.last === looks.first ? before : filesAt(looks, looks.last, reader)
  if (!before || !after) return undefined
  const changed = new Map<string, string>()
  for (const [path, file] of after) if (before.get(path) !== file) changed.set(path, file)
  for (const path of before.keys()) if (!after.has(path)) changed.set(path, "as committed")
  return changed
}

/** What a run has to show of its work tree. */
export interface FilesOfRun {
  readonly looks: RecordedLooks | undefined
  readonly reader: TextReader
  readonly areToolsServed: boolean
}

export type ComparedFiles =
  | {
      readonly areCompared: true
      /** What both left: path → what is there now. */
      readonly same: ChangedFiles
      readonly differing: readonly { readonly path: string; readonly a: string | null; readonly b: string | null }[]
    }
  | { readonly areCompared: false; readonly why: string }

/** What became of the files that two runs changed, or why that says nothing. There is no other comparison of them. */
export function compareFiles(a: FilesOfRun, b: FilesOfRun): ComparedFiles {
  if (a.looks === undefined && b.looks === undefined) return notCompared("nobody looked at the work trees")
  if (a.areToolsServed !== b.areToolsServed)
    return notCompared("the tools of the replay were answered from the recording, and changed none")
  const [was, is] = [a.looks && changedFiles(a.looks, a.reader), b.looks && changedFiles(b.looks, b.reader)]
  if (was === undefined || is === undefined)
    return notCompared(`the work tree of the ${was === undefined ? "first" : "second"} run was not looked at`)
  const paths = [...new Set([...was.keys(), ...is.keys()])].sort()
  const files = paths.map((path) => ({ path, a: was.get(path) ?? null, b: is.get(path) ?? null }))
  return {
    areCompared: true,
    same: new Map(files.flatMap(({ path, a, b }) => (a !== null && a === b ? [[path, a] as const] : []))),
    differing: files.filter((file) => file.a !== file.b),
  }
}

const notCompared = (why: string): ComparedFiles => ({ areCompared: false, why })

function filesAt({ contents }: RecordedLooks, ref: string, reader: TextReader): ChangedFiles | undefined {
  const text = reader.text(ref)
  if (text === undefined) return undefined
  let snapshot: WorkspaceSnapshot
  try {
    snapshot = WorkspaceSnapshot.parse(JSON.parse(text))
  } catch {
    // A recording from elsewhere may have anything.
    return undefined
  }
  return new Map(
    snapshot.files.map(({ path, kind, content }) => {
      if (kind === "deleted") return [path, "deleted"]
      const digest = contents.get(content ?? "") ?? NOT_KEPT
      return [path, kind === "file" ? digest : `${kind} ${digest}`]
    }),
  )
}
