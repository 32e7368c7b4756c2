import { existsSync, readdirSync, readFileSync } from "node:fs"
import { extname, join, relative, sep } from "node:path"

export interface StaticFile {
  readonly bytes: Uint8Array
  readonly type: string
  /** Its name has a hash of its content, so it never changes. */
  readonly isForEver: boolean
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".json": "application/json",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
}

/**
 * The files of the web UI, read once. A request finds one by its exact path among those that were there, so no path leads out of the folder.
 */
export class StaticFiles {
  readonly #files = new Map<string, StaticFile>()

  constructor(folder: string | undefined) {
    if (folder === undefined || !existsSync(folder)) return
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const type = TYPES[extname(entry.name)]
      if (!entry.isFile() || type === undefined) continue
      const path = join(entry.parentPath, entry.name)
      const name = `/${relative(folder, path).split(sep).join("/")}`
      this.#files.set(name, {
        bytes: readFileSync(path),
        type,
        isForEver: /-[\w-]{8,}\.\w+$/.test(name) && name.startsWith("/assets/"),
      })
    }
  }

  get hasPage(): boolean {
    return this.#files.has("/index.html")
  }

  /** A file, or the page for the addresses that the page itself reads. */
  find(path: string): StaticFile | undefined {
    const file = this.#files.get(path)
    if (file !== undefined) return file
    const isAddress = !path.startsWith("/assets/") && !path.startsWith("/api/") && extname(path) === ""
    return path === "/" || isAddress ? (this.#files.get("/index.html") ?? NO_PAGE) : undefined
  }
}

/** What is said where the UI was not built. */
const NO_PAGE: StaticFile = {
  bytes: Buffer.from(
    "This build of orangebox holds no web page. Its HTTP API answers below /api/v1; docs/http-api.md describes it.\n",
  ),
  type: "text/plain; charset=utf-8",
  isForEver: false,
}
