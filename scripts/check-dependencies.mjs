// What a package imports is what it declares: no declared dependency without an import, no import without a declaration.
import { readdirSync, readFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { join } from "node:path"
import { findImports } from "./check-imports.mjs"

export function checkDependencies(root = ".") {
  const imports = findImports(root)
  return readdirSync(join(root, "packages")).flatMap((folder) => {
    const manifest = JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8"))
    const used = imports
      .filter(({ from }) => from === folder)
      .map(({ specifier }) => packageOf(specifier))
      .filter((name) => name !== undefined)
    return compare(manifest, new Set(used))
  })
}

export function compare(manifest, used) {
  const { name, dependencies = {}, devDependencies = {}, peerDependencies = {} } = manifest
  // A bundled package is inside the tarball: it is needed to build, not to run.
  const declared = new Set([dependencies, devDependencies, peerDependencies].flatMap((group) => Object.keys(group)))
  return [
    ...[...used].filter((one) => !declared.has(one)).map((one) => `${name} imports ${one} without declaring it`),
    ...Object.keys({ ...dependencies, ...peerDependencies })
      .filter((one) => !used.has(one))
      .map((one) => `${name} declares ${one} and never imports it`),
  ]
}

function packageOf(specifier) {
  if (isBuiltin(specifier)) return undefined
  return /^(?:@[\w.-]+\/)?[\w-][\w.-]*/.exec(specifier)?.[0]
}
