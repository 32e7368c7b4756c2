import { StandingReading } from "@orangebox/reader"
import { answer } from "./api.js"

/** The HTTP API without a server: for who puts its answers into a file. */
export interface InProcess {
  /** The answer of a path below `/api/v1`, with its query. */
  ask(path: string): Promise<unknown>
  close(): Promise<void>
}

/** @param named the data folder as somebody named it, for the commands that answers suggest */
export function askInProcess(
  data: string,
  { version, named }: { readonly version: string; readonly named?: string },
): InProcess {
  const reading = new StandingReading(data)
  const options = { reading, named, version, behindBytes: () => 0 }
  return {
    async ask(target) {
      const [path = "", query = ""] = target.split("?", 2)
      const { body } = await answer(options, { path, query, headers: {} })
      return JSON.parse(typeof body === "string" ? body : Buffer.from(body).toString("utf8"))
    },
    close: () => reading.close(),
  }
}
