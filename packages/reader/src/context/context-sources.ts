import { readdirSync, readFileSync, realpathSync } from "node:fs"
import { join, relative, sep } from "node:path"
import { type ContextSources, type FileReader, type StageCatalog, stepAwarenessCatalog } from "@orangebox/context"
import { type ContextReading, chunkLists, chunksIn, type RunView, recordedSource } from "@orangebox/query"
import type { RunReader } from "../open/run-reader.js"
import { loadBodies } from "../run/bodies.js"

/** What the pointers of a manifest lead to: what the run recorded, the files of a workspace, and the texts of catalogs. */
export async function contextSources(
  reader: RunReader,
  view: RunView,
  { manifest }: ContextReading,
  { workspace, catalogs = [] }: { readonly workspace: string; readonly catalogs?: readonly StageCatalog[] },
): Promise<ContextSources> {
  const texts = new Map<string, readonly string[]>()
  const chunks = await recordedChunks(reader, view)
  for (const { source_ref } of manifest?.inclusion_log ?? []) {
    const chunk = source_ref?.startsWith("chunk:") ? chunks.get(source_ref.slice("chunk:".length)) : undefined
    if (chunk !== undefined) {
      texts.set(source_ref!, chunk === null ? [] : await textsIn(reader, [chunk]))
      continue
    }
    const hashes = source_ref === null || texts.has(source_ref) ? undefined : recordedSource(view, source_ref)
    if (!hashes) continue
    texts.set(source_ref!, await textsIn(reader, hashes))
  }
  return {
    catalogs: [...catalogs, stepAwarenessCatalog],
    reader: filesBelow(workspace),
    textsOf: (sourceRef) => texts.get(sourceRef),
  }
}

async function textsIn(reader: RunReader, hashes: readonly string[]): Promise<string[]> {
  const { bytes } = await loadBodies(reader, hashes)
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  return [...bytes.values()].map((body) => decoder.decode(body))
}

/** What was retrieved in a run: every chunk, and the body with its text where the retriever gave one. */
export async function recordedChunks(reader: RunReader, view: RunView): Promise<ReadonlyMap<string, string | null>> {
  const lists = chunkLists(view)
  return lists.length === 0 ? new Map() : chunksIn((await loadBodies(reader, lists)).bytes.values())
}

/** The files below a folder. A pointer is recorded text: neither `..` nor a link leads it out. */
function filesBelow(folder: string): FileReader {
  const inside = (path: string): string | undefined => {
    try {
      const root = realpathSync(folder)
      const real = realpathSync(join(root, path))
      return real === root || real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`) ? real : undefined
    } catch {
      return undefined
    }
  }
  return {
    read: (path) => {
      const real = inside(path)
      return real === undefined ? undefined : readFileSync(real)
    },
    list: (path) => {
      const real = inside(path)
      if (real === undefined) return undefined
      return readdirSync(real, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(real, join(entry.parentPath, entry.name)).replaceAll(sep, "/"))
    },
  }
}
