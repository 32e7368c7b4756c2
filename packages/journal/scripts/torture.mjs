// node packages/journal/scripts/torture.mjs --kills 10000
// Kills writers amid small, rotating, long, large-bodied and streamed records; exits 1 when anything acknowledged is lost.
//
// node packages/journal/scripts/torture.mjs --kills 0 --cuts 200
// Cuts the power under writers of each sync policy; exits 1 when anything is lost that the policy promises to keep. Needs root.
import { parseArgs } from "node:util"
import { emptyReport, killMany } from "../test/kill-harness.mjs"
import { cutPower, whyNoPowerCuts } from "../test/power-cut.mjs"

const { values } = parseArgs({
  options: { kills: { type: "string", default: "1000" }, cuts: { type: "string", default: "0" } },
})
const kills = Number(values.kills)
const cuts = Number(values.cuts)
if (![kills, cuts].every((count) => Number.isSafeInteger(count) && count >= 0)) {
  console.error("--kills and --cuts need a number, for example: --kills 10000 --cuts 200")
  process.exit(2)
}
const obstacle = cuts > 0 ? whyNoPowerCuts() : undefined
if (obstacle !== undefined) {
  console.error(`the power cannot be cut here: ${obstacle}`)
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
    maxDelayMs: workload === "bodies" || workload === "long" ? 150 : 40,
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

let cutLosses = 0
for (const [fsync, maxDelayMs] of [
  ["always", 100],
  ["interval", 3000],
  ["never", 6000],
]) {
  // The image is small, so a writer gets a new one now and then.
  for (let left = Math.ceil(cuts / 3); left > 0; left -= 3) {
    const { cuts: done, ...report } = await cutPower({ cuts: Math.min(left, 3), fsync, maxDelayMs })
    console.log(
      `${fsync}: ${done} cuts, ${report.acknowledged} records acknowledged, ${report.synced} promised, ${report.found} found, ` +
        `${report.missing} missing, ${report.damaged} damaged`,
    )
    cutLosses += report.missing + report.damaged
  }
}
process.exit(losses(total) + cutLosses > 0 ? 1 : 0)

function losses(report) {
  return report.missing + report.duplicated + report.damaged + report.notDead
}
