import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { orangebox, type Scratch, scratchFolder } from "./command.js"
import { answerMessage, type ModelServer, startModelServer } from "./model-server.js"

/** What every agent here has at hand. Its program stands in a file, so that it is started with the same command whatever it does. */
const TOOLS = `
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
const send = (path, init = {}) => fetch(process.env.ANTHROPIC_BASE_URL + path, { method: "POST", ...init })
const ask = async (content, { headers = {}, ...more } = {}) => {
  const body = JSON.stringify({ model: "claude-x", max_tokens: 9, messages: [{ role: "user", content }], ...more })
  const response = await send("/v1/messages", { headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", ...headers }, body })
  return response.text()
}
`

interface Attack {
  readonly honest: string
  /** Each by its name: one place of the program that is another. */
  readonly changes: Readonly<Record<string, readonly [was: string, is: string]>>
  /** What differs and is no part of what a certificate says. */
  readonly fine?: Readonly<Record<string, readonly [was: string, is: string]>>
  readonly inWorkTree?: boolean
  readonly options?: readonly string[]
}

const ATTACKS: Readonly<Record<string, Attack>> = {
  "what it asks": {
    honest: `
      await ask("grüße 🦄 e\\u0301", { temperature: 0.5, stop_sequences: ["a", "b"], metadata: { user_id: "u1" } })
      await send("/v1/messages", { headers: { "content-type": "application/json" }, body: '{"model":"m","max_tokens":12345678901234567890,"messages":[],"x":1,"x":2}' })
    `,
    changes: {
      "another form of a letter": ["e\\u0301", "\\u00e9"],
      "a letter that nobody sees": ["🦄", "🦄\\u200b"],
      "another order of stops": ['["a", "b"]', '["b", "a"]'],
      "a number beyond what a double holds": ["67890,", "67891,"],
      "a member twice, in another order": ['"x":1,"x":2', '"x":2,"x":1'],
      "a member once that was there twice": ['"x":1,"x":2', '"x":2'],
      "another content type": [
        `{ "content-type": "application/json" }, body: '{"model":"m"`,
        `{ "content-type": "text/plain" }, body: '{"model":"m"`,
      ],
    },
    fine: { "another user": ["u1", "u2"], "white space in JSON": ['"max_tokens":123', '"max_tokens": 123'] },
  },
  "plain requests": {
    honest: `
      await (await send("/v1/models", { method: "GET" })).text()
      await (await send("/custom", { body: "hello" })).text()
      await (await send("/gone", { method: "DELETE" })).text()
      await (await send("/head", { method: "HEAD" })).text()
      await (await send("/bytes", { method: "PUT", body: new Uint8Array([0, 255, 1]) })).text()
    `,
    changes: {
      "another body": ['"hello"', '"hello!"'],
      "no body": ['"/custom", { body: "hello" }', '"/custom"'],
      "another method": ['method: "DELETE"', 'method: "PATCH"'],
      "a HEAD that is a GET": ['"HEAD"', '"GET"'],
      "another byte": ["255, 1", "255, 2"],
      "a parameter more": ["/v1/models", "/v1/models?after=1"],
      "another spelling of the path": ["/v1/models", "/v1/%6dodels"],
      "a request less": ['await (await send("/gone", { method: "DELETE" })).text()', ""],
    },
  },
  "when it asks": {
    honest: `
      await ask("one", { headers: { "anthropic-beta": "x-1" } })
      await ask("two")
    `,
    changes: {
      "both at once": [
        `await ask("one", { headers: { "anthropic-beta": "x-1" } })\n      await ask("two")`,
        `await Promise.all([ask("one", { headers: { "anthropic-beta": "x-1" } }), ask("two")])`,
      ],
      "another beta": ["x-1", "x-2"],
      "one beta more": ["x-1", "x-1,x-2"],
    },
    fine: { "a header of its own": ['"x-1" }', '"x-1", "x-own": "1" }'] },
    // So that the second question meets the first one for certain.
    options: ["--timing", "fixed:300"],
  },
  "what it asks at once": {
    honest: `
      const asks = Array.from({ length: 12 }, (_, i) => ask("part " + i))
      await Promise.all(asks)
      for (const name of ["one", "two"]) await ask(name)
    `,
    changes: {
      "a part less": ["length: 12", "length: 11"],
      "a part more": ["length: 12", "length: 13"],
      "the sum before the parts": ["await Promise.all(asks)", 'await ask("two"); await Promise.all(asks)'],
      "the rest in another order": ['["one", "two"]', '["two", "one"]'],
    },
  },
  "how it ends": {
    honest: `
      console.log(await ask("one"))
      console.error("careful")
      process.exitCode = 3
    `,
    changes: {
      "another exit code": ["= 3", "= 4"],
      "an end that is fine": ["process.exitCode = 3", ""],
      "a line more": ["process.exitCode", 'console.log("more"); process.exitCode'],
      "no line break": ['console.log(await ask("one"))', 'process.stdout.write(await ask("one"))'],
      "a signal": ["process.exitCode = 3", 'process.kill(process.pid, "SIGKILL")'],
      "the code of a signal": ["= 3", "= 137"],
      "an exception": ["process.exitCode = 3", 'throw new Error("no")'],
    },
    fine: { "another word on stderr": ["careful", "never mind"] },
  },
  "what it leaves": {
    honest: `
      await ask("one")
      writeFileSync("a.txt", "two\\n"); chmodSync("b.sh", 0o755); symlinkSync("a.txt", "link"); rmSync("c.txt")
      writeFileSync("empty", ""); renameSync("sub/d.txt", "sub/e.txt"); writeFileSync("bytes", Buffer.from([0, 255]))
    `,
    changes: {
      "another line end": ["two\\n", "two\\r\\n"],
      "another mode": ['chmodSync("b.sh", 0o755);', ""],
      "a link to elsewhere": ['symlinkSync("a.txt"', 'symlinkSync("b.sh"'],
      "a file for a link": ['symlinkSync("a.txt", "link")', 'writeFileSync("link", "a.txt")'],
      "a file that stays": ['rmSync("c.txt")', ""],
      "a file that is emptied, not removed": ['rmSync("c.txt")', 'writeFileSync("c.txt", "")'],
      "an empty file less": ['writeFileSync("empty", "");', ""],
      "another name": ["sub/e.txt", "sub/f.txt"],
      "another byte": ["0, 255", "0, 254"],
      "a file more": ['writeFileSync("empty", "")', 'writeFileSync("empty", ""); writeFileSync("more", "")'],
    },
    fine: { "an empty folder, which is named": ['rmSync("c.txt")', 'rmSync("c.txt"); mkdirSync("nothing")'] },
    inWorkTree: true,
  },
}

describe.each(Object.entries(ATTACKS))(
  "[P-10] an agent that changes %s",
  (_, { honest, changes, fine = {}, inWorkTree, options = [] }) => {
    let scratch: Scratch
    let model: ModelServer
    let runId: string
    let folder: string

    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
        cwd: folder,
        env: { ...process.env, GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z", GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z" },
      })

    /** The same files before every start. */
    const tidyUp = (): void => {
      if (!inWorkTree) return
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
      for (const [path, text] of Object.entries({
        ".gitignore": "agent.mjs\n",
        "a.txt": "one\n",
        "b.sh": "",
        "c.txt": "c",
      }))
        writeFileSync(join(folder, path), text)
      mkdirSync(join(folder, "sub"))
      writeFileSync(join(folder, "sub/d.txt"), "d")
      git("init", "-q")
      git("add", ".")
      git("commit", "-q", "-m", "first")
    }

    const start = (program: string, ...args: readonly string[]) => {
      tidyUp()
      writeFileSync(join(folder, "agent.mjs"), `${TOOLS}${program}`)
      const command = [...args, "--data", join(scratch.path, "data"), "--", process.execPath, "agent.mjs"]
      return orangebox(command, { cwd: folder, env: { ANTHROPIC_BASE_URL: model.origin } })
    }
    const replay = (program: string) => start(program, "replay", runId, "--json", ...options)
    const changed = ([was, is]: readonly [string, string]): string => {
      expect(honest.split(was)).toHaveLength(2)
      return honest.replace(was, () => is)
    }

    beforeAll(async () => {
      scratch = scratchFolder()
      folder = join(scratch.path, "tree")
      mkdirSync(folder)
      let count = 0
      model = await startModelServer((_body, response, { method }) => {
        if (method === "DELETE") response.writeHead(204).end()
        else answerMessage(response, { id: `msg_${++count}`, content: [{ type: "text", text: `answer ${count}` }] })
      })
      const { stderr } = await start(honest, "run")
      await model.close()
      runId = /run_\w{26}/.exec(stderr)![0]
    }, 120_000)
    afterAll(() => scratch.remove())

    test("is certified as it was", async () => {
      const { exitCode, stderr } = await replay(honest)
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining('"certified": true')])
    }, 120_000)

    test.each(Object.entries(changes))(
      "gets no certificate: %s",
      async (_name, change) => {
        const { exitCode, stderr } = await replay(changed(change))
        expect([exitCode, stderr]).toEqual([1, expect.stringContaining('"certified": false')])
      },
      120_000,
    )

    if (Object.keys(fine).length > 0)
      test.each(Object.entries(fine))(
        "gets one that names what was not compared: %s",
        async (_name, change) => {
          const { exitCode, stderr } = await replay(changed(change))
          expect([exitCode, stderr]).toEqual([0, expect.stringContaining('"certified": true')])
        },
        120_000,
      )
  },
)
