import { expect, test } from "vitest"
import { skeletonText, viewRun } from "../src/index.js"
import { crashedRun } from "./sample-runs.js"

test("[Q-01] the skeleton of a crashed run shows every step, what failed, and how it ended", () => {
  expect(skeletonText(viewRun(crashedRun()), { address: "last" })).toMatchInlineSnapshot(`
    "run_01JT9QK2M0A7XK3V5B8D1E6F9G · fixer · fix-issue · CRASHED after 33.1s · 5 model calls · 5 tool calls · 38.7k in (64 % cached) → 1.4k out + 1 call unknown · 1 error
    #1  run "Fix the failing date test"              open
    #2  ├ plan                                       5.4s
        │ ├ prompt persona(1180) · tool:read_file(300) · skill:web(400) · user(412)  2.3k of 32.0k tokens, 3 left out
    #3  │ ├ model claude-x 5.4k → 212 cache 0 %      4.9s  thought 1.8s · asks read_file
    #4  │ └ tool read_file src/date.ts               0.5s  ok 2.0 kB
    #5  ├ fix                                       15.7s
    #6  │ ├ model claude-x 9.0k → 400 cache 91 %     5.2s  asks edit_file
    #7  │ ├ tool edit_file src/date.ts               40ms  ok 180 B · "1 replacement"
    #8  │ ├ model claude-x 11.1k → 400 cache 74 %    5.2s  asks edit_file
    #9  │ ├ tool edit_file src/date.ts               40ms  ok 180 B · "1 replacement"
    #10 │ ├ model claude-x 13.2k → 400 cache 62 %    5.2s  asks edit_file
    #11 │ └ tool edit_file src/date.ts               40ms  ok 180 B · "1 replacement"
    #12 ├ tool run_tests "npm test"                 12.0s  ✗ exit 1 CommandFailed: "expected 2024-02-29, got 2024-03-01"
    #13 └ model claude-x ? → ?                       open  ✗ killed after 1.2 kB of the response
    ✗ process 4711 died in #13 after 1.2 kB of the answer: "pid 4711 is gone, same boot"
    25 events (+1 said later), 13 steps, 0 lost · next: orangebox step last#13 · orangebox diagnose last"
  `)
})
