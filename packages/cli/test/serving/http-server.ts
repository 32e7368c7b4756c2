import { type RunningServer, readServeFile, type ServeOptions, startServer } from "@orangebox/server"

export interface TestServer extends RunningServer {
  readonly key: string
  /** The answer below /api/v1, whatever its status. */
  ask(path: string, init?: RequestInit): Promise<Response>
  /** The same where an answer is expected. */
  json<T = Record<string, unknown>>(path: string): Promise<T>
}

/** A real server over a real data folder, at a port that nobody else has. */
export async function serveHere(data: string, options: Partial<ServeOptions> = {}): Promise<TestServer> {
  const server = await startServer({ data, version: "test", port: 0, isPortFixed: true, collects: false, ...options })
  const { key } = readServeFile(data)!
  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${server.url}/api/v1${path}`, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } })
  return {
    ...server,
    key,
    ask,
    async json<T>(path: string): Promise<T> {
      const response = await ask(path)
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      return (await response.json()) as T
    },
  }
}
