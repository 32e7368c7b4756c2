/** The typed door to the harness that `scripts/torture.mjs` shares with the tests. */
export { emptyReport, killMany } from "./kill-harness.mjs"
