// Takes a store's lock, says how that went, and stays.
import { acquireStoreLock } from "@orangebox/store"

const attempt = acquireStoreLock(process.argv[2])
process.stdout.write(`${attempt.isHeld ? "held" : `refused ${attempt.holder?.pid}`}\n`)
if (attempt.isHeld) setInterval(() => {}, 1000)
