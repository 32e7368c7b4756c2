// node packages/journal/scripts/torture.mjs --kills 10000
// Kills writers amid small, rotating, long, large-bodied and streamed records; exits 1 when anything acknowledged is lost.
import { parseArgs } from "node:util"
import { emptyReport, killMany } from "../test/kill-harness.mjs"

const { values } = parseArgs({ options: { kills: { type: "string", default: "1000" } } })
const kills = Number(values.kills)
if (!Number.isSafeInteger(kills) || kills < 1) {
  console.error("--kills needs a positive number, for example: --kills 10000")
  process.exit(2)
}

const mix = [
  ["small", 0.5],
  ["rotating", 0.2],
  ["streamed", 0.2],
  ["long", 0.08],
  ["bodies", 0.02],
]
const total = emptyReport()
let left = kills
for (const [workload, part] of mix) {
  const count = Math.min(left, Math.ceil(kills * part))
  left -= count
  const report = await killMany({
    kills: count,
    workload,
    maxDelayMs: workload === "bodies" || workload === "long" ? 150 : 60,
    onKill: (soFar) => {
      if (soFar.kills % 100 === 0) console.log(`${workload}: ${soFar.kills} of ${count} kills, ${losses(soFar)} losses`)
    },
  })
  for (const key of Object.keys(total)) total[key] += report[key]
}

console.log(
  `${total.kills} kills: ${total.acknowledged} records acknowledged, ${total.missing} missing, ${total.duplicated} duplicated, ` +
    `${total.damaged} damaged, ${total.notDead} not known to be dead, ${total.tornTails} torn tails`,
)
process.exit(losses(total) > 0 ? 1 : 0)

function losses(report) {
  return report.missing + report.duplicated + report.damaged + report.notDead
}
