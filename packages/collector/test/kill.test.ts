import { expect, test } from "vitest"
import { killCollectors, namedPlaces } from "./kill-harness.js"

test("[L-01] collectors killed at every named place and at random moments store each acknowledged record exactly once (faults 1, 11, 27, 28, 30; I1–I4, I6)", async () => {
  const lanes = await Promise.all([
    killCollectors({ kills: 30 }),
    killCollectors({ kills: 30, firstPlace: Math.floor(namedPlaces().length / 2) }),
  ])

  expect(lanes.flatMap((lane) => lane.losses)).toEqual([])
  expect(lanes.every((lane) => lane.acknowledged > 0 && lane.kills === 30)).toBe(true)
}, 180_000)
