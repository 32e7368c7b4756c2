/** The typed door to the harness that `scripts/torture.mjs` shares with the tests. */
export { killCollectors, namedPlaces } from "./kill-harness.mjs"
