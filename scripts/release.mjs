// Makes a release of all packages: `node scripts/release.mjs VERSION FOLDER`. See docs/releases.md. Publishes nothing.
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

/** A manifest with the version in all its places: its own, and those of our packages that it needs. */
export function withVersion(manifest, version) {
  const ours = (dependencies = {}) =>
    Object.fromEntries(
      Object.entries(dependencies).map(([name, range]) => [name, name.startsWith("@orangebox/") ? version : range]),
    )
  return {
    ...manifest,
    version,
    ...(manifest.dependencies ? { dependencies: ours(manifest.dependencies) } : {}),
    ...(manifest.peerDependencies ? { peerDependencies: ours(manifest.peerDependencies) } : {}),
  }
}

/** What was unreleased becomes this version's; undefined where nothing is. */
export function datedChangelog(text, version, day) {
  const head = "## Unreleased\n"
  const at = text.indexOf(head)
  const next = text.indexOf("\n## ", at + head.length)
  const entries = text.slice(at + head.length, next === -1 ? undefined : next)
  if (at === -1 || entries.trim() === "") return undefined
  return text.replace(head, `${head}\n## ${version} (${day})\n`)
}

function release(version, folder) {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version ?? "") || !folder)
    throw new Error("usage: node scripts/release.mjs VERSION FOLDER")
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`)
  if (git("status", "--porcelain") !== "") throw new Error("there are changes that are not committed")
  if (git("tag", "--list", `v${version}`) !== "") throw new Error(`v${version} was released already`)
  const changelog = datedChangelog(readFileSync("CHANGELOG.md", "utf8"), version, new Date().toISOString().slice(0, 10))
  if (changelog === undefined) throw new Error("CHANGELOG.md has nothing unreleased")
  for (const name of readdirSync("packages")) {
    const path = join("packages", name, "package.json")
    writeJson(path, withVersion(JSON.parse(readFileSync(path, "utf8")), version))
  }
  writeFileSync("CHANGELOG.md", changelog)
  for (const step of [
    ["install", "--package-lock-only", "--ignore-scripts"],
    ["run", "check"],
    ["run", "test:packed"],
  ])
    npm(...step)
  mkdirSync(folder, { recursive: true })
  npm("pack", "--workspaces", "--pack-destination", folder)
  git("commit", "-am", `Release ${version}`)
  const provenance = { version, commit: git("rev-parse", "HEAD"), node: process.version, npm: npm("--version").trim() }
  writeJson(join(folder, "provenance.json"), provenance)
  const sums = readdirSync(folder).map((name) => `${sha256(join(folder, name))}  ${name}\n`)
  writeFileSync(join(folder, "SHA256SUMS"), sums.join(""))
  git("tag", "-a", `v${version}`, "-m", `Release ${version}`)
  console.log(
    `${sums.length - 1} tarballs in ${folder}, tagged v${version}. Publish each with: npm publish --provenance`,
  )
}

const git = (...args) => execFileSync("git", args, { encoding: "utf8" }).trim()
const npm = (...args) => execFileSync("npm", args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })
const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
const sha256 = (path) => createHash("sha256").update(readFileSync(path)).digest("hex")

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    release(...process.argv.slice(2))
  } catch (error) {
    console.error(`release: ${error.message}`)
    process.exitCode = 1
  }
}
