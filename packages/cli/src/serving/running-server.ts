import { asRecord, textIn } from "@orangebox/contract"
import { readServeFile, type ServeFile } from "@orangebox/server"

/** The server that runs for a data folder, where one answers. */
export async function runningServer(dataFolder: string): Promise<ServeFile | undefined> {
  const file = readServeFile(dataFolder)
  return file !== undefined && (await ask(file, "GET", "meta")) !== undefined ? file : undefined
}

/** An address that opens a page of it, once and within a minute. */
export async function addressAt(file: ServeFile, path: string): Promise<string | undefined> {
  const code = textIn(asRecord(await ask(file, "POST", "session")) ?? {}, "code")
  return code === undefined ? undefined : `${file.url}${path}#k=${code}`
}

const PATIENCE_MS = 3000

async function ask({ url, key }: ServeFile, method: string, path: string): Promise<unknown> {
  try {
    const response = await fetch(`${url}/api/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    return response.ok ? await response.json() : undefined
  } catch {
    // Nobody there, or somebody else: then there is no server of ours.
    return undefined
  }
}
