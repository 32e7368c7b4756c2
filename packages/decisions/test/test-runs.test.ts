import { describe, expect, test } from "vitest"
import { readTestOutput } from "../src/commands/read-test-output.js"

const check = (output: string, expected: object): void => expect(readTestOutput(output)).toMatchObject(expected)

describe("[D-04] test runs are read from what the runner prints", () => {
  test("pytest, with failures, errors and expected failures", () => {
    check(
      `============================= test session starts ==============================
platform linux -- Python 3.12.3, pytest-8.2.0, pluggy-1.5.0
collected 18 items

tests/test_dates.py ..F.s                                                [ 27%]
tests/test_more.py ..........x..E                                        [100%]

=================================== FAILURES ===================================
E       assert 28 == 29
=========================== short test summary info ============================
FAILED tests/test_dates.py::test_leap - assert 28 == 29
ERROR tests/test_more.py::test_db - ConnectionError
======== 1 failed, 14 passed, 1 skipped, 1 xfailed, 1 error in 0.42s ==========
`.replace(" ==========\n", " =========\n"),
      {
        runner: "pytest",
        passed: 14,
        failed: 2,
        skipped: 2,
        summary: "1 failed, 14 passed, 1 skipped, 1 xfailed, 1 error in 0.42s",
      },
    )
  })

  test("pytest -q, and a run that found no tests", () => {
    check("....                                  [100%]\n4 passed in 0.01s\n", {
      runner: "pytest",
      passed: 4,
      failed: 0,
    })
    check("\nno tests ran in 0.00s\n", { runner: "pytest", passed: 0, failed: 0, skipped: 0 })
  })

  test("vitest, also in colour, and a file that does not load", () => {
    check(
      "\u001b[31m❯\u001b[39m test/date.test.ts (3 tests | 1 failed)\n\n\u001b[2m Test Files \u001b[22m \u001b[1m\u001b[31m1 failed\u001b[39m\u001b[22m\u001b[2m | \u001b[22m\u001b[1m\u001b[32m2 passed\u001b[39m\u001b[22m\u001b[90m (3)\u001b[39m\n\u001b[2m      Tests \u001b[22m \u001b[1m\u001b[31m1 failed\u001b[39m\u001b[22m\u001b[2m | \u001b[22m\u001b[1m\u001b[32m10 passed\u001b[39m\u001b[22m\u001b[90m (11)\u001b[39m\n",
      { runner: "vitest", passed: 10, failed: 1, skipped: 0 },
    )
    check(" Test Files  1 failed (1)\n      Tests  no tests\n   Start at  10:00:00\n", {
      runner: "vitest",
      passed: 0,
      failed: 1,
    })
  })

  test("jest", () => {
    check(
      `PASS src/a.test.js
FAIL src/b.test.js
Test Suites: 1 failed, 1 passed, 2 total
Tests:       1 failed, 2 skipped, 10 passed, 13 total
Snapshots:   0 total
Time:        1.234 s
Ran all test suites.
`,
      { runner: "jest", passed: 10, failed: 1, skipped: 2, summary: "Tests: 1 failed, 2 skipped, 10 passed, 13 total" },
    )
  })

  test("node:test, as TAP and as text", () => {
    check(
      "TAP version 13\nok 1 - adds\n1..5\n# tests 5\n# suites 0\n# pass 3\n# fail 1\n# cancelled 0\n# skipped 1\n# todo 0\n# duration_ms 12.1\n",
      {
        runner: "node:test",
        passed: 3,
        failed: 1,
        skipped: 1,
      },
    )
    check("✔ adds (0.4ms)\nℹ tests 2\nℹ suites 0\nℹ pass 2\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\n", {
      runner: "node:test",
      passed: 2,
      failed: 0,
    })
  })

  test("go test, quiet, verbose and as JSON", () => {
    check(
      "--- FAIL: TestLeap (0.00s)\n    date_test.go:9: got 28\nFAIL\nFAIL\texample.com/dates\t0.004s\nok  \texample.com/other\t0.002s\n",
      {
        runner: "go test",
        passed: null,
        failed: 1,
        summary: "1 package ok, 1 failed",
      },
    )
    check(
      "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- SKIP: TestB (0.00s)\nPASS\nok  \texample.com/dates\t(cached)\n",
      {
        passed: 1,
        failed: 0,
        skipped: 1,
      },
    )
    check(
      '{"Time":"2026-01-01T00:00:00Z","Action":"run","Package":"p","Test":"TestA"}\n{"Action":"pass","Package":"p","Test":"TestA"}\n{"Action":"fail","Package":"p","Test":"TestB/sub"}\n{"Action":"fail","Package":"p","Test":"TestB"}\n{"Action":"fail","Package":"p"}\n',
      { passed: 1, failed: 1, skipped: 0 },
    )
  })

  test("go test that does not build has failed", () => {
    check("# example.com/dates\n./date.go:3:1: syntax error\nFAIL\texample.com/dates [build failed]\nFAIL\n", {
      runner: "go test",
      failed: 1,
    })
  })

  test("cargo test sums its binaries; nextest has one line", () => {
    check(
      "running 5 tests\ntest result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n   Doc-tests dates\n\ntest result: FAILED. 1 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n",
      { runner: "cargo test", passed: 6, failed: 2, skipped: 1 },
    )
    check("     Summary [   0.103s] 10 tests run: 9 passed, 1 failed, 2 skipped\n", {
      runner: "cargo nextest",
      passed: 9,
      failed: 1,
      skipped: 2,
    })
  })

  test("maven sums its modules and not the classes in them", () => {
    check(
      `[INFO] Running com.acme.DateTest
[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in com.acme.DateTest
[INFO] Results:
[ERROR] Tests run: 12, Failures: 1, Errors: 1, Skipped: 2
[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0
[INFO] BUILD FAILURE
`,
      {
        runner: "maven surefire",
        passed: 11,
        failed: 2,
        skipped: 2,
        summary: "Tests run: 15, Failures: 1, Errors: 1, Skipped: 2",
      },
    )
  })

  test("what is no runner's output is none", () => {
    for (const text of ["", "3 passed the exam in 1999", "Tests: flaky", "ok then", "# pass the salt"]) {
      expect(readTestOutput(text)).toBeUndefined()
    }
  })
})

test("[D-04] a megabyte of nearly test output is read in one go", () => {
  for (const piece of [
    "\n",
    " ",
    "[",
    "http://",
    "ok  x",
    "Tests  1 a",
    "1 failed, ",
    "# pass ",
    "test result: ok. 1 passed; ",
  ]) {
    expect(readTestOutput(piece.repeat(1_000_000 / piece.length))?.failed ?? 0).toBe(0)
  }
})
