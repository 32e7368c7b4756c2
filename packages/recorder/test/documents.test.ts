import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { Recorder } from "@orangebox/recorder"
import { expect, test } from "vitest"
import { TicketService } from "./documents/ticket-service.js"
import { readFolder, scratchFolder } from "./recorded-folder.js"

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8")

test("[O-07] the extension-logging rule ships, and its code is the code that this test compiles and runs", () => {
  const [, code] = /```ts\n([\s\S]*?)```/.exec(read("docs/extension-logging.md"))!
  expect(code).toBe(read("packages/recorder/test/documents/ticket-service.ts"))
})

test("[O-07] an extension that follows the rule leaves no secret of its own in the journal", async () => {
  const scratch = scratchFolder()
  const note = "north gate, 4711-0815"
  const server = createServer((_, response) =>
    response
      .setHeader("content-type", "application/json")
      .end(JSON.stringify({ id: 7, status: "open", note, headers: {} })),
  ).listen(0, "127.0.0.1")
  try {
    const [, config] = /```json\n([\s\S]*?)```/.exec(read("docs/extension-logging.md"))!
    writeFileSync(join(scratch.path, "orangebox.config.json"), config!)
    const folder = join(scratch.path, "data")
    const recorder = Recorder.open({ app: "helpdesk", folder, cwd: scratch.path })
    const run = recorder.startRun({ entrypoint: "open-ticket", input: "the gate squeaks" })
    const step = run.step("ticket")
    await new Promise((resolve) => server.once("listening", resolve).listening && resolve(undefined))
    const { port } = server.address() as AddressInfo
    const send: typeof fetch = (_, init) => step.fetch(`http://127.0.0.1:${port}/v1/tickets`, init)
    expect(await new TicketService(recorder.scope("tickets")).open(step, "gate", send)).toBe(7)
    step.end()
    run.complete({ output: "done" })
    recorder.close()

    const { events, bodies } = readFolder(folder)
    const logs = events.filter((event) => event.event_type === "log")
    expect(logs.map(({ source }) => source)).toContain("tickets")
    expect(logs.find((event) => event.payload["message"] === "ticket opened")?.attributes).toMatchObject({
      ticket: 7,
      note: "nor…redacted…815",
    })
    expect(JSON.stringify(events)).not.toContain("4711")
    for (const bytes of bodies.values()) expect(Buffer.from(bytes).toString()).not.toContain("4711")
  } finally {
    server.close()
    scratch.remove()
  }
})
