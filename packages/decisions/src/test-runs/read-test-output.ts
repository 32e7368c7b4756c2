import { readCargoTest } from "./cargo-test.js"
import { readGoTest } from "./go-test.js"
import { readJest } from "./jest.js"
import { readMaven } from "./maven.js"
import { readNodeTest } from "./node-test.js"
import { readPytest } from "./pytest.js"
import type { TestCounts, TestRunReader } from "./test-counts.js"
import { readVitest } from "./vitest.js"

/** Each runner is one file; adding one here is all the rest of the package needs. */
const READERS: readonly TestRunReader[] = [
  readPytest,
  readVitest,
  readJest,
  readNodeTest,
  readCargoTest,
  readGoTest,
  readMaven,
]

// Runners say how it went at the end. A log of many megabytes is not searched from its beginning.
const LONGEST_OUTPUT = 1_000_000

const ESCAPE_CODES = /\u001b\[[0-9;:?]*[ -/]*[@-~]/g

/** What a test runner said about its run; undefined when the text is no runner's that is known here. */
export function readTestOutput(output: string): TestCounts | undefined {
  const end = output.length > LONGEST_OUTPUT ? output.slice(-LONGEST_OUTPUT) : output
  const plain = end.replace(ESCAPE_CODES, "").replaceAll("\r\n", "\n")
  for (const read of READERS) {
    const counts = read(plain)
    if (counts) return counts
  }
  return undefined
}
