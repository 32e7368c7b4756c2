// The first load of the web UI stays small: the page, its script and its style sheet, gzipped.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"

const MOST_BYTES = 110_000
/** Of an exported page, beside its data. */
const MOST_PAGE_BYTES = 300_000

export function checkWebSize(root = ".") {
  const built = join(root, "packages/web/built")
  if (!existsSync(built)) return ["packages/web/built is not there: run npm run build"]
  const files = readdirSync(built, { recursive: true })
    .map(String)
    .filter((name) => /\.(html|js|css)$/.test(name))
    .map((name) => readFileSync(join(built, name)))
  const zipped = files.reduce((sum, bytes) => sum + gzipSync(bytes).length, 0)
  const plain = files.reduce((sum, bytes) => sum + bytes.length, 0)
  return [
    ...(zipped > MOST_BYTES ? [`the web UI loads ${zipped} bytes gzipped, more than ${MOST_BYTES}`] : []),
    ...(plain > MOST_PAGE_BYTES ? [`an exported page begins at ${plain} bytes, more than ${MOST_PAGE_BYTES}`] : []),
  ]
}
