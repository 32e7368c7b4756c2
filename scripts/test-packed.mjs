// The packages as a user gets them: packed, installed into empty projects, run on every Node we support. `npm run test:packed`.
// Counts go to .test-results/packed.json; where the registry cannot be reached, it says so and skips.
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const NODES = ["20", "22", "24"]
const MAX_MEGABYTES = { orangebox: 60, "@orangebox/recorder": 4 }

const npm = process.env.npm_execpath ?? execFileSync("which", ["npm"], { encoding: "utf8" }).trim()
const counts = { passed: 0, failed: 0, skipped: 0 }
const scratch = mkdtempSync(join(tmpdir(), "orangebox-packed-"))

try {
  if (run(scratch, process.execPath, [npm, "ping"]).status === 0) testAll()
  else {
    counts.skipped = 1
    console.log(
      "SKIPPED: the npm registry cannot be reached, so nothing was installed and nothing proven about the packages.",
    )
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
mkdirSync(".test-results", { recursive: true })
writeFileSync(".test-results/packed.json", JSON.stringify(counts))
console.log(
  `${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ""}`,
)
process.exitCode = counts.failed > 0 ? 1 : 0

function testAll() {
  const manifests = readdirSync("packages").map((name) =>
    JSON.parse(readFileSync(`packages/${name}/package.json`, "utf8")),
  )
  const tarballs = join(scratch, "tarballs")
  mkdirSync(tarballs)
  must(".", process.execPath, [npm, "pack", "--workspaces", "--pack-destination", tarballs])
  const tarballOf = ({ name, version }) => join(tarballs, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`)

  for (const manifest of manifests)
    check(`${manifest.name}: licence, readme, address, no tests`, () => lookInto(manifest, tarballOf(manifest)))

  /** A package and ours behind it, as tarballs: the registry does not have them yet. */
  const withOurs = (name, found = new Set()) => {
    const manifest = manifests.find((one) => one.name === name)
    if (manifest === undefined || found.has(manifest)) return found
    found.add(manifest)
    for (const other of Object.keys(manifest.dependencies ?? {})) withOurs(other, found)
    return found
  }
  const install = (folder, names, node = process.execPath) => {
    mkdirSync(folder)
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }')
    const ours = new Set(names.flatMap((name) => [...withOurs(name)]))
    must(folder, node, [npm, "install", "--omit=dev", "--no-audit", "--no-fund", ...[...ours].map(tarballOf)])
  }

  for (const [name, most] of Object.entries(MAX_MEGABYTES)) {
    check(`installing ${name} takes at most ${most} MB`, () => {
      const folder = join(scratch, `size-of-${name.replace(/\W/g, "-")}`)
      install(folder, [name])
      const [kilobytes] = must(folder, "du", ["-sk", "node_modules"]).split("\t")
      console.log(`     ${name}: ${(Number(kilobytes) / 1024).toFixed(1)} MB`)
      if (Number(kilobytes) > most * 1024) throw new Error(`${kilobytes} kB`)
    })
  }

  const nodes = join(scratch, "nodes")
  mkdirSync(nodes)
  must(nodes, process.execPath, [
    npm,
    "install",
    "--prefix",
    nodes,
    "--no-audit",
    "--no-fund",
    ...NODES.map((one) => `node${one}@npm:node@${one}`),
  ])
  for (const version of NODES) {
    const node = join(nodes, "node_modules", `node${version}`, "bin", "node")
    const folder = join(scratch, `project-${version}`)
    const title = `Node ${must(nodes, node, ["--version"]).trim()}`
    check(`${title}: installs into an empty project`, () => install(folder, ["orangebox", "@orangebox/recorder"], node))
    check(`${title}: README's snippet records a run, and orangebox reads it`, () => recordBySnippet(folder, node))
    check(`${title}: the demo runs`, () => {
      const text = must(folder, node, ["node_modules/orangebox/bin/orangebox.js", "demo"])
      if (!text.includes("Records lost: 0")) throw new Error(`it says: ${text.slice(-600)}`)
    })
  }
}

function lookInto(manifest, tarball) {
  const files = must(".", "tar", ["tzf", tarball])
    .trim()
    .split("\n")
    .map((path) => path.replace(/^package\//, ""))
  const missing = [
    ...["LICENSE", "README.md", "package.json"].filter((file) => !files.includes(file)),
    ...["repository", "keywords", "publishConfig", "homepage", "bugs", "license"].filter(
      (field) => manifest[field] === undefined,
    ),
    ...Object.values(manifest.exports?.["."] ?? manifest.bin).filter(
      (path) => !files.includes(path.replace(/^\.\//, "")),
    ),
  ]
  const odd = files.filter((file) => /(^|\/)(test|src|definitions|scripts)\/|\.map$|\.tsbuildinfo$/.test(file))
  if (missing.length > 0) throw new Error(`without ${missing.join(", ")}`)
  if (odd.length > 0) throw new Error(`with ${odd.slice(0, 5).join(", ")}`)
}

/** The snippet stands as it is in README.md; around it is what it takes for granted. */
function recordBySnippet(folder, node) {
  const [snippet] = readFileSync("README.md", "utf8").match(/(?<=```ts\n)import \{ Recorder \}[\s\S]*?(?=```)/)
  const before = `import { createServer } from "node:http"
import { readFile } from "node:fs/promises"
const answer = { id: "msg_1", type: "message", role: "assistant", model: "claude-x", content: [{ type: "text", text: "done" }], usage: { input_tokens: 9, output_tokens: 3 } }
const server = createServer((request, response) => request.resume().on("end", () => response.setHeader("content-type", "application/json").end(JSON.stringify(answer))))
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
class Anthropic {
  constructor({ fetch }) { this.messages = { create: async (body, options) => (await fetch(\`http://127.0.0.1:\${server.address().port}/v1/messages\`, { ...options, method: "POST", body: JSON.stringify(body) })).json() } }
}
const [model, path, output, conversationId] = ["claude-x", "package.json", "done", "conversation-1"]
const request = { model, max_tokens: 64, messages: [{ role: "user", content: "Fix the failing date test" }] }
`
  writeFileSync(join(folder, "snippet.mjs"), `${before}\n${snippet}\nrecorder.close()\nserver.close()\n`)
  must(folder, node, ["snippet.mjs"])
  const { runs } = JSON.parse(must(folder, node, ["node_modules/orangebox/bin/orangebox.js", "runs", "--json"]))
  if (runs.length !== 1 || runs[0].app !== "fixer") throw new Error(`it reads ${JSON.stringify(runs)}`)
  const shown = must(folder, node, ["node_modules/orangebox/bin/orangebox.js", "show", "last"])
  if (!shown.includes("read_file")) throw new Error(`it shows ${shown}`)
}

function check(title, prove) {
  try {
    prove()
    counts.passed++
    console.log(`ok   ${title}`)
  } catch (error) {
    counts.failed++
    console.log(`FAIL ${title}\n     ${error.message}`)
  }
}

function run(folder, command, args) {
  const env = { ...process.env, npm_config_loglevel: "error" }
  // Inside `npm run`, npm would take the project it was started in for the one to install into.
  for (const name of Object.keys(env))
    if (/^npm_(package|lifecycle|config_local_prefix|config_prefix)|^INIT_CWD$/.test(name)) delete env[name]
  return spawnSync(command, args, { cwd: folder, env, encoding: "utf8", maxBuffer: 2 ** 26 })
}

function must(folder, command, args) {
  const { status, stdout, stderr, error } = run(folder, command, args)
  if (status === 0) return stdout
  throw new Error(
    `${[command, ...args].join(" ").slice(0, 300)} ended with ${status ?? error}: ${stderr.slice(-1500)}${stdout.slice(-500)}`,
  )
}
