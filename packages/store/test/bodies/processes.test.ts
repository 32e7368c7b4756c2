import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bodyHash } from "@orangebox/contract"
import { expect, onTestFinished, test } from "vitest"
import { BodyReader } from "../../src/bodies/body-reader.js"
import type { Block } from "../../src/bodies/chunk-catalogue.js"
import { PackReader } from "../../src/bodies/pack-reader.js"
import type { PackEnd } from "../../src/bodies/pack-writer.js"
import { MemoryCatalogue } from "./memory-catalogue.js"

interface Commit {
  readonly blocks: readonly Block[]
  readonly bodies: readonly { recipe: string; text: string; times: number }[]
  readonly end: PackEnd
}

test("[S-01] a writer killed at any moment, and its successors, leave every committed body whole", async () => {
  const folder = temporaryFolder()
  const commits: Commit[] = []
  for (const milliseconds of [150, 190, 230, 270, 310, 350])
    commits.push(...(await commitsUntilKilled(folder, commits, milliseconds)))
  expect(commits.length).toBeGreaterThan(0)
  const catalogue = catalogueOf(commits)
  const packs = new PackReader({ folder })
  const reader = new BodyReader({ catalogue, packs })
  for (const { recipe, text, times } of commits.flatMap(({ bodies }) => bodies)) {
    const body = Buffer.from(text.repeat(times))
    expect(reader.read(Buffer.from(recipe, "hex"), bodyHash(body)).bytes?.equals(body)).toBe(true)
  }
  packs.close()
})

test("[S-01] a body far larger than the memory it may take is stored and read in pieces", () => {
  const megabytes = 200
  const child = join(import.meta.dirname, "children/stream-a-large-body.mjs")
  const answer = JSON.parse(
    execFileSync(process.execPath, [child, temporaryFolder(), String(megabytes)], { encoding: "utf8" }),
  )
  expect(answer).toMatchObject({ isWhole: true, bytes: megabytes * 1024 * 1024 })
  expect(answer.recipeBytes).toBeLessThan(2048)
  expect(answer.grownMegabytes).toBeLessThan(120)
})

/** Whole lines only: a line the child was killed in was not committed. */
function commitsUntilKilled(folder: string, earlier: readonly Commit[], milliseconds: number): Promise<Commit[]> {
  const nextChunk = catalogueOf(earlier).nextChunkId()
  const resume = JSON.stringify({ end: earlier.at(-1)?.end ?? null, nextChunk })
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, "children/write-until-killed.mjs"), folder, resume],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  )
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    // The clock starts with the first commit, so that a slow machine does not kill it before it began.
    if (output === "") setTimeout(() => child.kill("SIGKILL"), milliseconds)
    output += text
  })
  return new Promise((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (_, signal) => {
      if (signal !== "SIGKILL") reject(new Error(`the child ended by itself: ${signal}`))
      const whole = output.slice(0, output.lastIndexOf("\n"))
      resolve(whole.split("\n").map((line): Commit => JSON.parse(line)))
    })
  })
}

function catalogueOf(commits: readonly Commit[]): MemoryCatalogue {
  const catalogue = new MemoryCatalogue()
  for (const block of commits.flatMap(({ blocks }) => blocks)) catalogue.addBlock(block, [])
  return catalogue
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-bodies-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}
