import { spawnSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"

const FOLDER = fileURLToPath(new URL("../../../examples/", import.meta.url))

test.each(readdirSync(FOLDER).filter((name) => name.endsWith(".mjs")))(
  "the example %s runs and verifies itself",
  (name) => {
    const { ORANGEBOX_HOME: _home, ORANGEBOX: _switch, ...env } = process.env
    const { status, stdout, stderr } = spawnSync(process.execPath, [`${FOLDER}${name}`], { encoding: "utf8", env })
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    expect(stdout).not.toBe("")
  },
)
