import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib"
import { readYaml } from "./yaml.js"

/** Recorded traffic outside the repository; tests that want it skip where it is absent. */
export const CORPORA = new URL("../../../../../shared/corpora/", import.meta.url).pathname
export const hasCorpora = existsSync(CORPORA)

export interface Exchange {
  readonly file: string
  readonly method: string
  readonly host: string
  readonly path: string
  readonly request: Buffer
  readonly status: number
  readonly response: Buffer
}

export function filesBelow(folder: string, ending: string): string[] {
  const root = join(CORPORA, folder)
  if (!existsSync(root)) return []
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(root, name))
    .sort()
}

export const readGz = (file: string): string => gunzipSync(readFileSync(file)).toString("utf8")

/** Every recorded exchange, and the files that could not be read with the reason. */
export function readCassettes(folder: string): { exchanges: Exchange[]; skipped: string[] } {
  const exchanges: Exchange[] = []
  const skipped: string[] = []
  for (const file of filesBelow(folder, ".yaml.gz")) {
    try {
      const cassette = readYaml(readGz(file)) as { interactions?: Interaction[] }
      if (!Array.isArray(cassette.interactions)) throw new Error("no list of interactions")
      for (const interaction of cassette.interactions) {
        if (interaction.request?.uri === undefined) throw new Error("no request")
        exchanges.push(exchangeOf(file, interaction))
      }
    } catch (error) {
      skipped.push(`${file.slice(CORPORA.length)}: ${(error as Error).message}`)
    }
  }
  return { exchanges, skipped }
}

interface Interaction {
  request?: { uri?: string; method?: string; body?: unknown; parsed_body?: unknown }
  response?: { status?: { code?: number }; body?: unknown; parsed_body?: unknown; headers?: Record<string, string[]> }
}

function exchangeOf(file: string, { request, response }: Interaction): Exchange {
  const url = new URL(request!.uri!)
  const encoding = Object.entries(response?.headers ?? {}).find(([name]) => name.toLowerCase() === "content-encoding")
  return {
    file: file.slice(CORPORA.length),
    method: request!.method ?? "GET",
    host: url.host,
    path: url.pathname + url.search,
    request: bytesOf(request!.body, request!.parsed_body),
    status: response?.status?.code ?? 0,
    response: decoded(bytesOf(response?.body, response?.parsed_body), encoding?.[1]?.[0]),
  }
}

function bytesOf(body: unknown, parsed: unknown): Buffer {
  if (parsed !== undefined && parsed !== null) return Buffer.from(JSON.stringify(parsed))
  const held = typeof body === "object" && body !== null && "string" in body ? body.string : body
  if (Buffer.isBuffer(held)) return held
  return typeof held === "string" ? Buffer.from(held) : Buffer.alloc(0)
}

// Some recorders keep the wire form, some decode it and leave the header as it was.
function decoded(bytes: Buffer, encoding: string | undefined): Buffer {
  try {
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) return gunzipSync(bytes)
    if (encoding === "br" && bytes[0] !== 0x7b) return brotliDecompressSync(bytes)
    if (encoding === "deflate" && bytes[0] !== 0x7b) return inflateSync(bytes)
  } catch {
    return bytes
  }
  return bytes
}
