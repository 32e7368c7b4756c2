import { bodyHash, OrangeboxError } from "@orangebox/contract"
import type { ToldManifest } from "./generated.js"
import { textOfLines } from "./retrieval/folder-chunks.js"
import { type Placed, pieceText, SECTIONS, type SectionName } from "./sections.js"
import type { Stage, StageCatalog } from "./stage.js"
import { stageCandidates } from "./stage-candidates.js"
import { cutAgain } from "./truncate.js"
import { type FileReader, WorkspaceFiles, workspacePath } from "./workspace-files.js"

/** Where the texts behind the pointers of a manifest are looked for. */
export interface ContextSources {
  /** The catalogs whose stages wrote prompts. */
  readonly catalogs?: readonly StageCatalog[]
  /** The workspace that `file:` pointers are relative to. */
  readonly reader?: FileReader
  /** What else a pointer may mean, such as the output of a tool; undefined where it means nothing here. */
  readonly textsOf?: (sourceRef: string) => readonly string[] | undefined
}

/** A piece of a prompt made again from its source, or why there is none. */
export type RenderedAgain = { readonly bytes: Uint8Array } | { readonly why: string }

type Entry = ToldManifest["inclusion_log"][number]

/** Renders items of a manifest once more, each from what its pointer leads to. Whether that is still what it was, its hash says. */
export function renderAgain(
  manifest: Pick<ToldManifest, "inclusion_log" | "intent">,
  sources: ContextSources,
): (entry: Entry) => RenderedAgain {
  const files = new WorkspaceFiles(sources.reader ?? NO_FILES)
  const log = manifest.inclusion_log
  const places = new Map(log.map((entry, at) => [entry, log[at - 1]?.section !== entry.section]))
  return (entry) => {
    if (entry.is_masked) return { why: "secrets in it were masked when it was recorded" }
    const found = piecesOf(entry, places.get(entry) ?? false, manifest, sources, files)
    if ("why" in found) return found
    const encoder = new TextEncoder()
    const pieces = found.texts.map((text) => encoder.encode(text))
    // A pointer may lead to several texts, such as the calls of one tool: the one that was used is there, or none of them is.
    const bytes = pieces.find((piece) => bodyHash(piece) === entry.rendered_ref) ?? pieces[0]
    return bytes === undefined ? { why: "its bytes were not kept" } : { bytes }
  }
}

type Texts = { readonly texts: readonly string[] } | { readonly why: string }
type Found = { readonly values: readonly Placed[] } | { readonly why: string }

function piecesOf(
  entry: Entry,
  opensSection: boolean,
  { intent }: Pick<ToldManifest, "intent">,
  sources: ContextSources,
  files: WorkspaceFiles,
): Texts {
  const { source_ref, section } = entry
  if (source_ref === null) return { why: "nobody said where it comes from" }
  // What an application put together by itself stands in the prompt as its source has it.
  if (section === null) return textsBehind(source_ref, sources, files)
  if (!isSection(section)) return { why: `nobody here renders ${section}` }
  const found = placedIn({ ...entry, source_ref, section }, intent, sources, files)
  if ("why" in found) return found
  return {
    texts: found.values.map((placed) =>
      pieceText(entry.cut_at === undefined ? placed : cutAgain(placed, entry.cut_at), opensSection),
    ),
  }
}

function placedIn(
  entry: Entry & { readonly source_ref: string; readonly section: SectionName },
  intent: ToldManifest["intent"],
  sources: ContextSources,
  files: WorkspaceFiles,
): Found {
  const { source_ref, section } = entry
  const [scheme, rest] = schemeOf(source_ref)
  if (scheme === "catalog") return ofCatalog(source_ref, sources.catalogs ?? [])
  if (scheme === "intent" && intent) return ofIntent(rest, intent)
  const isText = SECTIONS[section].share === "tier1" || section === "evidence"
  if (scheme === "file" && !isText) return ofSource(entry, rest, files, sources.catalogs ?? [])
  const found = textsBehind(source_ref, sources, files)
  return "why" in found ? found : { values: found.texts.flatMap((text) => asText(entry, text)) }
}

/** The texts that a pointer leads to: a file, lines of one (`file:notes/a.md#L3-L9`), or what the caller knows of. */
function textsBehind(sourceRef: string, sources: ContextSources, files: WorkspaceFiles): Texts {
  const [scheme, rest] = schemeOf(sourceRef)
  if (scheme !== "file") {
    const texts = sources.textsOf?.(sourceRef)
    const own = WHY_NOT.find(([begins]) => sourceRef.startsWith(begins))
    if (texts !== undefined && (texts.length > 0 || own === undefined)) return { texts }
    return { why: own?.[1] ?? "its pointer leads to nothing that is here" }
  }
  const [, path = rest, from, to] = /^(.*?)(?:#L(\d+)(?:-L(\d+))?)?$/s.exec(rest) ?? []
  const text = fileText(path, files)
  if (text === undefined) return { why: `there is no ${path} here` }
  return { texts: [from === undefined ? text : textOfLines(text, Number(from), Number(to ?? from))] }
}

/** What pointers of the compiler itself lead to, where that is not there. */
const WHY_NOT = [
  ["chunk:", "no recorded retrieval kept the text of this chunk"],
  ["results#", "the results of a step are recorded in its prompt alone"],
] as const

/** `catalog:step-awareness@1.0.0#3.mission`. */
function ofCatalog(ref: string, catalogs: readonly StageCatalog[]): Found {
  const name = /^catalog:(.+)#/.exec(ref)?.[1] ?? ""
  const stages = catalogs.flatMap((catalog) => catalog.stages).filter(({ catalog }) => catalog === name)
  if (stages.length === 0) return { why: `the catalog ${name} is not here` }
  const found = stages.flatMap((stage) => stageCandidates(stage)).find(({ sourceRef }) => sourceRef === ref)
  return found ? { values: [found.placed] } : { why: "the catalog no longer has it" }
}

function ofIntent(part: string, { objective, invariants }: NonNullable<ToldManifest["intent"]>): Found {
  if (part === "objective") return { values: [{ section: "objective", value: objective }] }
  const value = invariants[Number(/^invariants\.(\d+)$/.exec(part)?.[1] ?? Number.NaN)]
  return value === undefined ? { why: "the manifest does not hold it" } : { values: [{ section: "invariants", value }] }
}

/** What the sources of a catalog make of their files: outcomes, trends, incidents. */
function ofSource(entry: Entry, pointer: string, files: WorkspaceFiles, catalogs: readonly StageCatalog[]): Found {
  const path = pointer.split("#", 1)[0]!
  if (fileText(path, files) === undefined) return { why: `there is no ${path} here` }
  const values = catalogs
    .flatMap((catalog) => catalog.stages)
    .flatMap((stage) => itemsOf(stage, files))
    .flatMap(({ sourceRef, placed }) =>
      sourceRef === entry.source_ref && placed.section === entry.section ? [placed] : [],
    )
  return values.length > 0 ? { values } : { why: `${path} no longer has it` }
}

const itemsOf = (stage: Stage, files: WorkspaceFiles) =>
  stage.sources.flatMap((source) => {
    try {
      return source.read(files, stage).items
    } catch {
      return []
    }
  })

/** Only what the sections of free text hold can be made of a text alone. */
function asText({ section, title, item_type, item_id }: Entry, text: string): Placed[] {
  if (section === "inputs") return [{ section, value: { title: title ?? item_type.replace("_", " "), text } }]
  if (section === "evidence") return [{ section, value: { chunk_id: item_id, title: title ?? item_id, text } }]
  return []
}

function fileText(path: string, files: WorkspaceFiles): string | undefined {
  try {
    const bytes = files.read(workspacePath(path, "source_ref"))
    return bytes && new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (error instanceof OrangeboxError) return undefined
    throw error
  }
}

const schemeOf = (ref: string): [scheme: string, rest: string] => {
  const at = ref.indexOf(":")
  return at < 0 ? ["", ref] : [ref.slice(0, at), ref.slice(at + 1)]
}

const isSection = (name: string): name is SectionName => Object.hasOwn(SECTIONS, name)

const NO_FILES: FileReader = { read: () => undefined, list: () => undefined }
