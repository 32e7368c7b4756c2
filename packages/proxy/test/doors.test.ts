import { readFileSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { expect, test } from "vitest"
import { planVariables, startProxy } from "../src/index.js"
import { rawRequest } from "./raw-client.js"
import { eventually, recordedProxy } from "./recorded-proxy.js"
import { startUpstream } from "./upstream.js"

test("[K-10] no request shape reaches a host that is not configured", async () => {
  const victim = await startUpstream((_, response) => response.end("reached"))
  const upstream = await startUpstream((_, response) => response.end("fine"))
  const proxy = await recordedProxy({ api: upstream.origin })
  const path = new URL(proxy.urlFor("api")).pathname
  const us = `127.0.0.1:${proxy.port}`
  const them = `127.0.0.1:${victim.port}`
  const shapes = [
    `CONNECT ${them} HTTP/1.1\r\nHost: ${us}\r\n\r\n`,
    `CONNECT ${them} HTTP/1.1\r\nHost: ${them}\r\n\r\n`,
    `GET http://${them}/ HTTP/1.1\r\nHost: ${us}\r\nConnection: close\r\n\r\n`,
    `GET http://${them}${path}/ HTTP/1.1\r\nHost: ${us}\r\nConnection: close\r\n\r\n`,
    `GET //${them}/ HTTP/1.1\r\nHost: ${us}\r\nConnection: close\r\n\r\n`,
    `GET ${path}/ HTTP/1.1\r\nHost: ${them}\r\nConnection: close\r\n\r\n`,
    `GET ${path}/ HTTP/1.1\r\nHost: ${us}\r\nHost: ${them}\r\nConnection: close\r\n\r\n`,
    `GET ${path}/ HTTP/1.1\r\nHost: ${us}@${them}\r\nConnection: close\r\n\r\n`,
    `GET ${path}/ HTTP/1.1\r\nHost: evil.test:${proxy.port}\r\nConnection: close\r\n\r\n`,
    `GET ${path}/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
    `GET ${path}/ HTTP/1.1\r\nConnection: close\r\n\r\n`,
    `GET ${path}/ HTTP/1.1\r\nHost: ${us}\r\nOrigin: http://evil.test\r\nConnection: close\r\n\r\n`,
    `GET ${path}/ HTTP/1.1\r\nHost: ${us}\r\nOrigin: null\r\nConnection: close\r\n\r\n`,
    `GET ${path}%2f..%2f@${them}/ HTTP/1.1\r\nHost: ${us}\r\nConnection: close\r\n\r\n`,
    `GET ${path.replace(/api$/, them)}/ HTTP/1.1\r\nHost: ${us}\r\nConnection: close\r\n\r\n`,
    `GET ${path.replace(/api$/, "http:")}//${them}/ HTTP/1.1\r\nHost: ${us}\r\nConnection: close\r\n\r\n`,
    `GET ${path.replace(/api$/, "__proto__")}/ HTTP/1.1\r\nHost: ${us}\r\nConnection: close\r\n\r\n`,
    `GET /${"0".repeat(32)}/api/ HTTP/1.1\r\nHost: ${us}\r\nConnection: close\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: ${us}\r\nConnection: close\r\n\r\n`,
    `OPTIONS * HTTP/1.1\r\nHost: ${us}\r\nConnection: close\r\n\r\n`,
    `POST ${path}/ HTTP/1.1\r\nHost: ${us}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n`,
    `GET ${path}/\r\n evil HTTP/1.1\r\nHost: ${us}\r\n\r\n`,
  ]
  for (const shape of shapes) {
    const { bytes } = await rawRequest(proxy.port, shape)
    expect(bytes.toString(), shape).toMatch(/^HTTP\/1\.1 4\d\d |^$/)
  }
  // These are forwarded, and only to the configured upstream, whatever they say.
  for (const more of [
    `X-Forwarded-Host: ${them}`,
    `X-Upstream: http://${them}`,
    `X-Portkey-Custom-Host: http://${them}`,
    `Forwarded: host=${them}`,
  ]) {
    await rawRequest(
      proxy.port,
      `GET ${path}//${them}/../?url=http://${them}&api_base=http://${them} HTTP/1.1\r\nHost: ${us}\r\n${more}\r\nConnection: close\r\n\r\n`,
    )
  }
  expect(upstream.seen).toHaveLength(4)
  expect(upstream.seen[0]!.url).toBe(`//${them}/../?url=http://${them}&api_base=http://${them}`)
  expect(victim.seen).toHaveLength(0)
  expect(victim.sockets.size).toBe(0)
})

test("[K-10] upgrades are answered with 426 on model paths and 501 elsewhere, and never forwarded", async () => {
  const upstream = await startUpstream((_, response) => response.end("reached"))
  const proxy = await recordedProxy({ openai: upstream.origin })
  const base = new URL(proxy.urlFor("openai")).pathname
  const upgrade = async (path: string): Promise<string> => {
    const { bytes } = await rawRequest(
      proxy.port,
      `GET ${base}${path} HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n`,
    )
    return bytes.toString()
  }
  expect(await upgrade("/v1/responses")).toMatch(/^HTTP\/1\.1 426 /)
  expect(await upgrade("/v1/realtime")).toMatch(/^HTTP\/1\.1 501 /)
  expect(upstream.seen).toHaveLength(0)
})

test("[K-08] only the loopback address listens", async () => {
  const proxy = await recordedProxy({ api: "http://127.0.0.1:1" })
  const hexPort = proxy.port.toString(16).toUpperCase().padStart(4, "0")
  const listening = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => state === "0A" && local?.endsWith(`:${hexPort}`))
      .map(([, local]) => local),
  )
  expect(listening).toEqual([`0100007F:${hexPort}`])
})

test("[K-10] five hundred connections that never finish their headers do not keep others out", async () => {
  const upstream = await startUpstream((_, response) => response.end("fine"))
  const proxy = await recordedProxy({ api: upstream.origin }, { limits: { headersMs: 300 } })
  const sockets = Array.from({ length: 500 }, () => {
    const socket = connect(proxy.port, "127.0.0.1", () => socket.write("GET / HT"))
    socket.on("error", () => {})
    return socket
  })
  expect(await (await fetch(`${proxy.urlFor("api")}/`)).text()).toBe("fine")
  for (const socket of sockets) socket.destroy()
})

test("[K-10] as many idle connections as there may be, without the token, neither keep the agent out nor stay", async () => {
  const upstream = await startUpstream((_, response) => response.end("fine"))
  const proxy = await recordedProxy({ api: upstream.origin }, { limits: { unknownMs: 2000 } })
  const open = new Set<object>()
  const connected = async (): Promise<Socket> => {
    const socket = connect(proxy.port, "127.0.0.1")
    socket.on("error", () => {})
    open.add(socket)
    socket.once("close", () => open.delete(socket))
    await new Promise((resolve) => socket.once("connect", resolve).once("close", resolve))
    return socket
  }
  const sockets: Socket[] = []
  // Not all at once: what the kernel drops from a full backlog looks connected to its client, and the proxy never hears of it.
  while (sockets.length < 1100) sockets.push(...(await Promise.all(Array.from({ length: 100 }, connected))))
  expect(await (await fetch(`${proxy.urlFor("api")}/`)).text()).toBe("fine")
  // The oldest went when their number was too large, the others when their time was over. The agent's own connection stays.
  await expect.poll(() => open.size, { timeout: 100_000 }).toBe(0)
  expect(await (await fetch(`${proxy.urlFor("api")}/`)).text()).toBe("fine")
  for (const socket of sockets) socket.destroy()
})

test("[K-08] upstreams that are no origins are refused with the reason, link-local ones are warned of", async () => {
  await expect(recordedProxy({ api: "https://host/path" })).rejects.toThrow(/more than an origin/)
  await expect(recordedProxy({ api: "ftp://host" })).rejects.toThrow(/ftp:/)
  await expect(recordedProxy({ "Not A Name": "https://host" })).rejects.toThrow(/no name/)
  const warnings: string[] = []
  await recordedProxy({ api: "http://169.254.169.254" }, { onWarning: (warning) => warnings.push(warning.message) })
  expect(warnings.join()).toMatch(/link-local/)
})

test("[K-08] a port that is taken is said so", async () => {
  const proxy = await recordedProxy({ api: "http://127.0.0.1:1" })
  await expect(recordedProxy({ api: "http://127.0.0.1:1" }, { port: proxy.port })).rejects.toThrow(/is taken/)
  expect(startProxy).toBeTypeOf("function")
})

test("[K-08] every variable is chained to the server it named, else to its vendor's", () => {
  const plain = planVariables({})
  expect(
    Object.fromEntries(
      plain.variables.map(({ name, upstream, path }) => [name, `${plain.upstreams[upstream]}${path}`]),
    ),
  ).toEqual({
    ANTHROPIC_BASE_URL: "https://api.anthropic.com",
    ANTHROPIC_API_BASE: "https://api.anthropic.com",
    ANTHROPIC_HOST: "https://api.anthropic.com",
    OPENAI_BASE_URL: "https://api.openai.com/v1",
    OPENAI_API_BASE: "https://api.openai.com/v1",
    OPENAI_HOST: "https://api.openai.com",
    GOOGLE_GEMINI_BASE_URL: "https://generativelanguage.googleapis.com",
    GEMINI_API_BASE: "https://generativelanguage.googleapis.com/v1beta",
    CODE_ASSIST_ENDPOINT: "https://cloudcode-pa.googleapis.com",
  })
  const chained = planVariables(
    {
      OPENAI_BASE_URL: "http://localhost:4000/llm/v1/",
      OPENAI_API_BASE: "https://other.test/v2",
      ANTHROPIC_BASE_URL: "not a url",
    },
    [{ name: "MISTRAL_URL", url: "https://api.mistral.ai/v1" }],
  )
  const reached = (name: string): string | undefined => {
    const variable = chained.variables.find((candidate) => candidate.name === name)
    return variable && `${chained.upstreams[variable.upstream]}${variable.path}`
  }
  expect(reached("OPENAI_BASE_URL")).toBe("http://localhost:4000/llm/v1")
  expect(reached("OPENAI_API_BASE")).toBe("https://other.test/v2")
  expect(reached("OPENAI_HOST")).toBe("http://localhost:4000")
  expect(reached("MISTRAL_URL")).toBe("https://api.mistral.ai/v1")
  expect(chained.skipped).toEqual([{ name: "ANTHROPIC_BASE_URL", why: expect.stringContaining("no http URL") }])
  expect(() => planVariables({}, [{ name: "NOT_SET" }])).toThrow(/NOT_SET is not set/)
})

test("[K-10] what the proxy answers itself never looks like the upstream's word", async () => {
  const proxy = await recordedProxy({ api: "http://127.0.0.1:1" })
  const response = await fetch(`${proxy.origin}/wrong/api/`)
  expect(response.headers.get("x-orangebox-proxy")).toBe("token")
  expect(await response.json()).toMatchObject({ error: { type: "orangebox_proxy" } })
  await eventually(() => proxy.stats().refused === 1, "one refusal")
})
