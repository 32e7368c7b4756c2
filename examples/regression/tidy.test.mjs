// Hermetic: the model is answered from the fixture, no key and no network. `node --test`
import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import test from "node:test"
import { withTape } from "@orangebox/testing"
import { tidy } from "./agent.mjs"

test("reads the notes, and says that it did", () =>
  withTape("fixtures/tidy.obxrun", async ({ env }) => {
    writeFileSync("notes.txt", "buy milk\n")
    assert.equal(await tidy(env.ANTHROPIC_BASE_URL), "It is looked after.")
  }))
