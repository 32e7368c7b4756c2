import { inWords } from "@orangebox/reader"
import { startServer } from "@orangebox/server"
import { safeJson } from "@orangebox/text"
import { answerScript, webFolder } from "../built-files.js"
import { debuggerSkill } from "../debugger-skill.js"
import type { Session } from "../session.js"
import { versionOf } from "../version.js"
import { whileNotInterrupted } from "../while-not-interrupted.js"
import { openBrowser } from "./open-browser.js"
import { addressAt, runningServer } from "./running-server.js"

export const USUAL_PORT = 4747

export interface Look {
  /** The data folder, and the same as somebody named it. */
  readonly data: string
  readonly named: string | undefined
  /** The page to begin with. */
  readonly page: string
  /** Where nothing is said, the usual port or the next that is free, or the server that is there already. */
  readonly port?: number | undefined
  readonly isOpened: boolean
  readonly json: boolean
}

/** Shows what was recorded in the browser until Ctrl-C; where a server runs for the data folder already, that one does. */
export async function lookInBrowser(session: Session, look: Look): Promise<void> {
  const { data, named, page, port } = look
  const running = port === undefined ? await runningServer(data) : undefined
  const there = running && (await addressAt(running, page))
  if (running !== undefined && there !== undefined) {
    tell(session, look, there, { url: running.url, pid: running.pid, isReused: true })
    return
  }
  await whileNotInterrupted(async (signal) => {
    const server = await startServer({
      ...{ data, named, version: versionOf(), collects: false, webFolder: webFolder(), skill: debuggerSkill() },
      ...{ answerScript: answerScript(), port: port ?? USUAL_PORT, isPortFixed: port !== undefined },
      onWarning: (message) => session.terminal.say(`orangebox: ${inWords(message)}`),
    })
    try {
      tell(session, look, server.addressWithCode(page), { url: server.url, pid: process.pid, isReused: false })
      await new Promise((resolve) => signal.addEventListener("abort", resolve))
    } finally {
      await server.close()
    }
  })
}

function tell(
  { terminal }: Session,
  { isOpened, json }: Look,
  address: string,
  { url, pid, isReused }: { readonly url: string; readonly pid: number; readonly isReused: boolean },
): void {
  if (json) terminal.out(safeJson({ address, url, pid, reused: isReused }))
  else {
    terminal.outVerbatim(address)
    const stops = isReused ? `process ${pid} serves it` : "stop with Ctrl-C"
    terminal.say(`opens once, within a minute; for another: orangebox ui · ${stops}`)
  }
  if (isOpened && terminal.isOutTerminal && !json) openBrowser(address)
}
