// A judge with one habit, named on its command line.
import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"

const [habit, file] = process.argv.slice(2)
const chunks = []
for await (const chunk of process.stdin) chunks.push(chunk)
const question = JSON.parse(Buffer.concat(chunks).toString("utf8"))

if (habit === "answers") {
  const last = question.run.actions.at(-1)
  const violations = [{ message: `not convinced by ${last.type}`, step_id: last.step_id }]
  console.log(JSON.stringify({ status: "fail", score: 0.2, message: question.instruction, violations }))
} else if (habit === "agrees") console.log('{"status":"pass"}')
else if (habit === "rambles") console.log("I think it is fine.")
else if (habit === "leaves a daemon") {
  // Out of its group, with its output in hand.
  const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 20_000)"], { stdio: "inherit", detached: true })
  writeFileSync(file, `${child.pid}`)
  child.unref()
  console.log('{"status":"pass"}')
} else if (habit === "floods") process.stdout.write("x".repeat(5_000_000))
else if (habit === "dies") {
  console.error("no model configured")
  process.exit(7)
} else if (habit === "hangs") {
  // Something it started would outlive it if only the judge were ended.
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" })
  writeFileSync(file, `${process.pid} ${child.pid}`)
  setInterval(() => {}, 1000)
}
