// Random tests draw the same cases each time, so that a suite which was green is green again: what is rare is looked for on purpose, with
// `ORANGEBOX_SEED=random npm test`, or any other number. A failure prints its seed and path either way.
import fc from "fast-check"

const given = process.env["ORANGEBOX_SEED"]
if (given !== "random") fc.configureGlobal({ seed: Number(given ?? 1) })
