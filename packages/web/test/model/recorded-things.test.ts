import { describe, expect, test } from "vitest"
import type { RunListRow } from "../../src/api/shapes.js"
import { imageKind } from "../../src/model/image-bytes.js"
import { forkCommand, replayCommand } from "../../src/model/run-commands.js"
import { ago, underSources } from "../../src/model/run-list.js"

const PNG = Buffer.from("89504e470d0a1a0a0000000d494844520000000100000001", "hex")

describe("images", () => {
  test("[O-05] an image is what its bytes say, whatever it was called", () => {
    expect(imageKind(PNG)).toBe("image/png")
    expect(imageKind(Buffer.from("RIFF0000WEBPVP8 "))).toBe("image/webp")
    for (const text of [
      "<svg xmlns='http://www.w3.org/2000/svg'/>",
      "<?xml version='1.0'?>",
      "%PDF-1.7",
      "GIF",
      "RIFF0000WAVE",
      "",
    ])
      expect(imageKind(Buffer.from(text)), text).toBeNull()
  })
})

describe("commands to copy", () => {
  test("[O-05] whatever stands in them is one word for a shell", () => {
    const given = {
      run: "run_1; rm -rf /",
      step: 13,
      set: "model=$(id) temperature=0",
      agent: "node a.js",
      samples: 3,
      hasControl: true,
      data: "/a b",
    }
    expect(forkCommand(given)).toBe(
      "orangebox fork 'run_1; rm -rf /' --at '#13' --set 'model=$(id)' --set temperature=0 --samples 3 --control --data '/a b' -- node a.js",
    )
    expect(replayCommand({ run: "run_1", agent: " ", data: null })).toBe("orangebox replay run_1")
  })
})

describe("the list of runs", () => {
  const run = (run_id: string, source_run_id: string | null = null) =>
    ({ run_id, source_run_id }) as unknown as RunListRow

  test("[O-05] replays and forks stand under their source, and every run stands once", () => {
    const listed = underSources([
      run("c", "b"),
      run("d", "elsewhere"),
      run("b", "a"),
      run("a"),
      run("x", "y"),
      run("y", "x"),
    ])
    expect(listed.map(({ row, depth }) => [row.run_id, depth])).toEqual([
      ["d", 0],
      ["a", 0],
      ["b", 1],
      ["c", 2],
      ["x", 0],
      ["y", 1],
    ])
  })

  test("[O-05] times are told shortly", () => {
    const now = Date.parse("2026-11-18T12:00:00Z")
    expect(
      ["2026-11-18T11:59:30Z", "2026-11-18T11:58:00Z", "2026-11-18T09:00:00Z", "2026-11-01T12:00:00Z"].map((at) =>
        ago(at, now),
      ),
    ).toEqual(["30 s", "2 m", "3 h", "17 d"])
  })
})
