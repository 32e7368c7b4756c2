// What a package imports is what it declares: no declared dependency without an import, no import without a declaration.
import { readdirSync, readFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { join } from "node:path"
import { findImports } from "./check-imports.mjs"

export function checkDependencies(root = ".") {
  const imports = findImports(root)
  const used = (folder) =>
    imports.filter(({ from }) => from === folder).flatMap(({ specifier }) => packageOf(specifier) ?? [])
  return readdirSync(join(root, "packages")).flatMap((folder) => {
    const manifest = JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8"))
    const bundled = Object.keys(manifest.devDependencies ?? {})
    const inside = bundled.flatMap((name) => (name.startsWith("@orangebox/") ? used(name.slice(11)) : []))
    return compare(manifest, new Set(used(folder)), new Set(inside))
  })
}

/** What is imported against what is declared. A package that is bundled (a devDependency) is inside the tarball, its imports with it. */
export function compare({ name, dependencies, devDependencies, peerDependencies }, used, inside = new Set()) {
  const declared = new Set(
    [dependencies, devDependencies, peerDependencies].flatMap((group) => Object.keys(group ?? {})),
  )
  return [
    ...[...used].filter((one) => !declared.has(one)).map((one) => `${name} imports ${one} without declaring it`),
    ...[...declared]
      .filter((one) => !used.has(one) && !inside.has(one))
      .map((one) => `${name} declares ${one} and never imports it`),
  ]
}

function packageOf(specifier) {
  if (isBuiltin(specifier)) return undefined
  return /^(?:@[\w.-]+\/)?[\w-][\w.-]*/.exec(specifier)?.[0]
}
