// node packages/collector/scripts/torture.mjs --kills 10000
// Kills collectors at every named place and at random moments while writers append and die; exits 1 when anything acknowledged is not
// stored exactly once.
import { parseArgs } from "node:util"
import { killCollectors } from "../test/kill-harness.mjs"

const { values } = parseArgs({ options: { kills: { type: "string", default: "1000" } } })
const kills = Number(values.kills)
if (!Number.isSafeInteger(kills) || kills < 0) {
  console.error("--kills needs a number, for example: --kills 10000")
  process.exit(2)
}

/** Each round checks what it stored, so a loss is found within so many kills of its cause. */
const KILLS_A_ROUND = 100

const total = { kills: 0, writers: 0, acknowledged: 0, stored: 0, losses: [], places: {} }
while (total.kills < kills) {
  const round = await killCollectors({
    kills: Math.min(KILLS_A_ROUND, kills - total.kills),
    firstPlace: total.kills / 2,
  })
  for (const count of ["kills", "writers", "acknowledged", "stored"]) total[count] += round[count]
  for (const [place, count] of Object.entries(round.places)) total.places[place] = (total.places[place] ?? 0) + count
  total.losses.push(...round.losses)
  console.log(`${total.kills} of ${kills} kills, ${total.losses.length} losses`)
}
console.log(
  `${total.kills} collectors and ${total.writers} writers killed: ${total.acknowledged} records acknowledged, ` +
    `${total.stored} stored, ${total.losses.length} losses`,
)
for (const [place, count] of Object.entries(total.places).sort()) console.log(`  ${count} × at ${place}`)
for (const loss of total.losses.slice(0, 20)) console.error(loss)
process.exit(total.losses.length > 0 ? 1 : 0)
