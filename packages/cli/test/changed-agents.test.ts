import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
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

/** An agent stands in a folder of its own, from which no package is found by its name. */
const importOf = (names: string, module: string): string =>
  `import ${names} from ${JSON.stringify(import.meta.resolve(module))}\n`

/** The first one is refused; its client tries again by itself. */
function answerChat(response: ServerResponse, count: number, isStreamed: boolean): void {
  const said = { index: 0, finish_reason: "stop" }
  const content = `answer ${count}`
  const chat = { id: `chatcmpl-${count}`, created: 1, model: "gpt-x" }
  if (count === 1) response.writeHead(429, { "retry-after-ms": "1" }).end()
  else if (isStreamed) {
    const chunk = { ...chat, object: "chat.completion.chunk", choices: [{ ...said, delta: { content } }] }
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
  } else {
    response.writeHead(200, { "content-type": "application/json" })
    const choices = [{ ...said, message: { role: "assistant", content } }]
    response.end(JSON.stringify({ ...chat, object: "chat.completion", choices }))
  }
}

interface Attack {
  /** What its program has at hand beside that. */
  readonly uses?: string
  readonly honest: string
  /** Each by its name: one place of the program that is another. */
  readonly changes: Readonly<Record<string, readonly [was: string, is: string]>>
  /** What differs and is no part of what a certificate says. */
  readonly fine?: Readonly<Record<string, readonly [was: string, is: string]>>
  readonly inWorkTree?: boolean
  /** The exit code of the honest one, where that is not 0. */
  readonly ends?: number
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
    ends: 3,
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
  "what it asks with the OpenAI SDK, refused at first": {
    uses: importOf("OpenAI", "openai"),
    honest: `
      const client = new OpenAI({ apiKey: "k", maxRetries: 2 })
      const create = (content, more) => client.chat.completions.create({ model: "gpt-x", messages: [{ role: "system", content: "be brief" }, { role: "user", content }], ...more })
      const first = await create("one", { seed: 7, logit_bias: { 50256: -100 } })
      const parts = await create(first.choices[0].message.content, { stream: true, stop: ["END"] })
      for await (const part of parts) process.stdout.write(part.choices[0]?.delta?.content ?? "")
    `,
    changes: {
      "another seed": ["seed: 7", "seed: 8"],
      "another bias": ["-100", "-99"],
      "no bias": [", logit_bias: { 50256: -100 }", ""],
      "another role": ['role: "system"', 'role: "developer"'],
      "another model": ['"gpt-x"', '"gpt-y"'],
      "an answer that it changed": [".message.content,", '.message.content + ".",'],
      "another stop": ['["END"]', '["end"]'],
      "a whole answer for a stream": ["stream: true, ", ""],
      "no second try": ["maxRetries: 2", "maxRetries: 0"],
      "another organisation's answers": ['"one", { seed', '"one", { n: 2, seed'],
    },
    fine: { "another key": ['"k"', '"l"'], "more tries than it needs": ["maxRetries: 2", "maxRetries: 5"] },
  },
  "what it records itself": {
    uses: importOf("{ Recorder }", "@orangebox/recorder"),
    honest: `
      const recorder = Recorder.open({ app: "fixer" })
      const run = recorder.startRun({ entrypoint: "fix", input: "the roof" })
      const step = run.step("plan")
      const response = await step.fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
        method: "POST", headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "claude-x", max_tokens: 9, messages: [{ role: "user", content: "one" }] }),
      })
      await response.text()
      const write = (path, text) => step.tool({ name: "write", args: { path, text }, effect: "write" }, () => "written " + path)
      await write("a", "1"); await write("b", "2")
      await step.retrieval({ retriever: "docs", query: "roofs", topK: 2 }, () => [{ chunkId: "c1", content: "tiles" }])
      step.artifact({ id: "note", type: "other", summary: "a note", content: "tiles hold" })
      step.end()
      run.complete({ output: "done" })
      recorder.close()
    `,
    changes: {
      "another input": ["the roof", "the door"],
      "another output": ['output: "done"', 'output: "done?"'],
      "an end that failed": ['run.complete({ output: "done" })', 'run.fail(new Error("no"))'],
      "no end": ['run.complete({ output: "done" })', ""],
      "another argument": ['"a", "1"', '"a", "3"'],
      "writes in another order": [
        'await write("a", "1"); await write("b", "2")',
        'await write("b", "2"); await write("a", "1")',
      ],
      "a write less": ['; await write("b", "2")', ""],
      "a write more": ['await write("a", "1");', 'await write("a", "1"); await write("c", "3");'],
      "another question": ['content: "one"', 'content: "two"'],
      "another query": ['"roofs"', '"doors"'],
      "another limit": ["topK: 2", "topK: 3"],
      "another step": ['run.step("plan")', 'run.step("act")'],
      "another artifact": ["tiles hold", "tiles fall"],
      "no recorder at all": ["Recorder.open({", "Recorder.open({ enabled: false,"],
    },
    fine: { "a line of its log": ["step.end()", 'step.log.info("nearly"); step.end()'] },
  },
}

describe.each(Object.entries(ATTACKS))(
  "[P-10] an agent that changes %s",
  (_, { uses = "", honest, changes, fine = {}, inWorkTree, ends = 0, options = [] }) => {
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
      writeFileSync(join(folder, "agent.mjs"), `${uses}${TOOLS}${program}`)
      const command = [...args, "--data", join(scratch.path, "data"), "--", process.execPath, "agent.mjs"]
      const servers = { ANTHROPIC_BASE_URL: model.origin, OPENAI_BASE_URL: `${model.origin}/v1` }
      return orangebox(command, { cwd: folder, env: servers })
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
      model = await startModelServer((body, response, { method, url }) => {
        if (method === "DELETE") response.writeHead(204).end()
        else if (url?.endsWith("/chat/completions")) answerChat(response, ++count, body.includes('"stream":true'))
        else answerMessage(response, { id: `msg_${++count}`, content: [{ type: "text", text: `answer ${count}` }] })
      })
      const { exitCode, stderr } = await start(honest, "run")
      await model.close()
      // One that breaks at its first line is certified to break there again, whatever comes behind it.
      expect([exitCode, stderr]).toEqual([ends, expect.not.stringContaining("Error")])
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
