// What is published and what child processes run: one file per entry of a package in packages/*/bundle, made of the modules tsc wrote to
// dist/. Opening files is most of what starting costs. A library leaves our other packages to their own bundle, so that each exists once in
// an application; the command takes all of them in, and its commands stay chunks that load when they are asked for.
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { rolldown } from "rolldown"
import { buildWeb } from "./build-web.mjs"

/** Modules that are started or loaded by their address, beside a package's door. */
const OWN_ENTRIES = {
  proxy: ["proxy-process"],
  reader: ["sql/sql-process", "judging/classify-calls"],
  server: ["answer-worker"],
  cli: ["main", "demo/agent"],
}

const packages = readdirSync("packages").filter((name) => existsSync(join("packages", name, "dist")))
const entriesOf = (name) => OWN_ENTRIES[name] ?? []
const builtFile = (name, module) => resolve("packages", name, "dist", `${module}.js`)

for (const name of packages) {
  const isCommand = name === "cli"
  const modules = isCommand
    ? Object.keys(OWN_ENTRIES).flatMap((one) => entriesOf(one).map((module) => [one, module]))
    : ["index", ...entriesOf(name)].map((module) => [name, module])
  await bundle(
    name,
    Object.fromEntries(modules.map(([one, module]) => [module.split("/").at(-1), builtFile(one, module)])),
    isCommand,
  )
  copyFileSync("LICENSE", join("packages", name, "LICENSE"))
}

// What a program is handed that records itself and is to be answered from a tape. Programs open their recorder without waiting, and only this
// form of module can be loaded so; it takes everything in, because it stands beside whatever the program has installed.
for (const name of ["proxy", "cli"]) {
  const build = await rolldown({
    input: { "tape-door": builtFile("replay", "sdk/open-tape") },
    platform: "node",
    resolve: { alias: Object.fromEntries(packages.map((one) => [`@orangebox/${one}`, builtFile(one, "index")])) },
    logLevel: "warn",
  })
  await build.write({ file: join("packages", name, "bundle", "tape-door.cjs"), format: "cjs" })
  await build.close()
}

// The web UI lies beside the command that serves it.
await buildWeb()
cpSync("packages/web/built", "packages/cli/bundle/web", { recursive: true })

async function bundle(name, input, isCommand) {
  const dir = join("packages", name, "bundle")
  const { dependencies = {}, peerDependencies = {} } = JSON.parse(
    readFileSync(join("packages", name, "package.json"), "utf8"),
  )
  const outside = ["gpt-tokenizer", ...Object.keys({ ...dependencies, ...peerDependencies })]
  const build = await rolldown({
    input,
    platform: "node",
    external: (id) => id.startsWith("node:") || outside.some((one) => id === one || id.startsWith(`${one}/`)),
    resolve: isCommand
      ? { alias: Object.fromEntries(packages.map((one) => [`@orangebox/${one}`, builtFile(one, "index")])) }
      : {},
    logLevel: "warn",
  })
  rmSync(dir, { recursive: true, force: true })
  const { output } = await build.write({
    dir,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
  })
  await build.close()
  writeLicenses(
    dir,
    output.flatMap(({ moduleIds = [] }) => moduleIds),
  )
}

/** What was taken in from others comes with its licence. */
function writeLicenses(dir, moduleIds) {
  const folders = new Set(moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? []))
  if (folders.size === 0) return
  const texts = [...folders].sort().map((folder) => {
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
    const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
    return `${name} ${version}\n\n${file === undefined ? "" : readFileSync(join(folder, file), "utf8").trim()}\n`
  })
  writeFileSync(join(dir, "LICENSES-OF-OTHERS.txt"), texts.join("\n---\n\n"))
}
