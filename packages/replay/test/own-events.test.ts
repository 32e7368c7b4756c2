import type { Event } from "@orangebox/contract"
import { expect, test } from "vitest"
import { ownEvents } from "../src/tape/tape-of.js"

const eventOf = (run_id: string, sequence_no: number, timestamp_utc: string): Event =>
  ({ run_id, sequence_no, timestamp_utc }) as unknown as Event

test("[P-12] runs are merged alike whatever order they are read in, also where events are of one microsecond: a digest is made of it", () => {
  const [early, late] = ["2026-11-18T06:00:00.000001Z", "2026-11-18T06:00:00.000002Z"]
  const main = [eventOf("run_2", 0, early), eventOf("run_2", 1, late), eventOf("run_2", 2, late)]
  const inner = [eventOf("run_1", 0, late), eventOf("run_1", 1, late)]
  const other = [eventOf("run_3", 0, late)]
  const merged = ownEvents([...main, ...inner, ...other])
  expect(merged.map(({ run_id, sequence_no }) => `${run_id}:${sequence_no}`)).toEqual([
    "run_2:0",
    "run_2:1",
    "run_2:2",
    "run_1:0",
    "run_1:1",
    "run_3:0",
  ])
  expect(ownEvents([...other, ...inner, ...main])).toEqual(merged)
  expect(ownEvents([...inner, ...main, ...other])).toEqual(merged)
})
