// Which promises have a test that ran and passed. Reads the ids from docs/requirements.md and the results of the last
// `npm test`, `npm run test:slow` and `npm run test:fleet`.
import { existsSync, readFileSync } from "node:fs"

const RESULTS = ["fast", "slow", "fleet"].map((stage) => `.test-results/${stage}.json`).filter(existsSync)
const document = readFileSync("docs/requirements.md", "utf8")
const currentPart = Number(/^Current part: (\d+)$/m.exec(document)?.[1])
const listed = new Map(
  [...document.matchAll(/^\| ([A-Z]-\d\d) \| (.+?) \| (\d+) \|$/gm)].map(([, id, title, part]) => [
    id,
    { title, part: Number(part) },
  ]),
)
if (RESULTS.length === 0) {
  console.error("There are no test results in .test-results yet. Run: npm test")
  process.exit(2)
}

const proven = new Map()
const broken = new Set()
for (const file of RESULTS.flatMap((results) => JSON.parse(readFileSync(results, "utf8")).testResults)) {
  for (const test of file.assertionResults) {
    for (const [, id] of test.fullName.matchAll(/\[([A-Z]-\d\d)\]/g)) {
      if (test.status === "passed") proven.set(id, (proven.get(id) ?? 0) + 1)
      else if (test.status === "failed") broken.add(id)
    }
  }
}

const unknown = [...proven.keys(), ...broken].filter((id) => !listed.has(id))
const unproven = [...listed].filter(([id]) => !proven.has(id) || broken.has(id))

for (const [id, { title, part }] of unproven) {
  const state = broken.has(id) ? "broken" : part > currentPart ? "open" : "no test"
  console.log(`${id}  ${state.padEnd(8)} part ${part}  ${title}`)
}
for (const id of unknown) console.log(`${id}  named by a test, but not in docs/requirements.md`)
console.log(`${listed.size - unproven.length} of ${listed.size} requirements have a test that ran and passed`)
process.exitCode = broken.size > 0 || unknown.length > 0 ? 1 : 0
