import { expect, test } from "vitest"
import { recordInMemory } from "../recording.js"

const SITE_KEY = `pk_live_${"51HqX3vKz8LmT4wRz8NcB6pYd3HsJ1fG"}`

test("[X-05] keys that their owners publish stay readable, and are masked where the configuration asks for it", () => {
  const stored = (redaction?: { publicKeys: boolean }): string => {
    const { recorder, sink } = recordInMemory(redaction === undefined ? {} : { redaction })
    const run = recorder.startRun({ entrypoint: "x" })
    run.log.info(`the page uses ${SITE_KEY}`)
    run.complete()
    return JSON.stringify(sink.events)
  }
  expect(stored()).toContain(SITE_KEY)
  expect(stored({ publicKeys: true })).not.toContain(SITE_KEY)
})
