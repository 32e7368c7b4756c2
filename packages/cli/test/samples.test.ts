import { expect, test } from "vitest"
import { sampleIn, samples } from "../scripts/samples.mjs"

test("[O-02] the samples in README and docs are what is printed, but for ids, times and figures", () => {
  const made = samples()
  expect(made).toHaveLength(3)
  for (const [document, name, text] of made)
    expect(shapeOf(sampleIn(document, name) ?? ""), `${document}: node packages/cli/scripts/samples.mjs`).toBe(
      shapeOf(text),
    )
}, 120_000)

/** Where lines break depends on how long figures are. */
const shapeOf = (text: string): string =>
  text
    .replace(/run_[0-9A-Z]{26}/g, "run_ID")
    .replace(/sha256:[0-9a-f]+…?/g, "sha256:HASH")
    .replace(/\btool:[0-9a-f]{16}/g, "tool:ID")
    .replace(/[█▉▊▋▌▍▎▏▓▒░▁]+/g, "BAR")
    .replace(/(?:<?\d[\d.,:-]*(?:ms|s|m|k|h)?\b ?)+/g, "N ")
    .replace(/\s+/g, " ")
