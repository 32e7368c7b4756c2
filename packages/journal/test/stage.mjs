// A place for child processes to run from, where they start quickly. Needs the builds of journal and contract.
import { cpSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

/**
 * Two thirds of a child's start is loading the contract's schemas, which a writer never touches. So children run a copy of the built
 * journal beside a contract whose door is only as wide as the journal needs; both are the real, built files.
 *
 * @param {string} folder
 * @returns {(name: string) => string} the path of a script of `test/children`
 */
export function setStage(folder) {
  const modules = join(folder, "node_modules", "@orangebox")
  const contract = new URL("../../contract/dist/", import.meta.url)
  mkdirSync(join(modules, "contract"), { recursive: true })
  writeFileSync(join(modules, "contract", "package.json"), '{ "type": "module", "exports": "./index.js" }')
  writeFileSync(
    join(modules, "contract", "index.js"),
    ["error.js", "hash.js", "json/depth.js"]
      .map((file) => `export * from ${JSON.stringify(new URL(file, contract).href)}\n`)
      .join(""),
  )
  cpSync(here("../bundle"), join(modules, "journal", "bundle"), { recursive: true })
  cpSync(here("../package.json"), join(modules, "journal", "package.json"))
  cpSync(here("children"), join(folder, "children"), { recursive: true })
  return (name) => join(folder, "children", name)
}
