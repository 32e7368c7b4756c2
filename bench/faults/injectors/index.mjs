/**
 * What `diagnose` looks for, and how each is laid into the work of an agent: one entry for each form of a fault, and every detector has at least one.
 *
 * | field | says |
 * |---|---|
 * | `detector` | which one has to find it; the name of the entry where it is left out |
 * | `confidence`, `isOfFive` | how sure it has to be; whether it is one of the failures that come first of all |
 * | `shapes` | the values of a shape it can be laid in; any, where it names none |
 * | `hiddenIn` | the values of a shape in which the record cannot show it |
 * | `start`, `fails` | how its run begins; the error its run ends with, where it does |
 * | `lay(agent, place)` | does it, and says where the cause is (the how-manieth model call, tool call or step of a queue) and what else is expected |
 * | `play(place)` | the same for a fault that takes more than one agent or process: it returns the run's id too |
 */
import { CALL_FAULTS } from "./calls.mjs"
import { CONTEXT_FAULTS } from "./context.mjs"
import { DELIVERY_FAULTS } from "./delivery.mjs"
import { HISTORY_FAULTS } from "./history.mjs"
import { TOOL_FAULTS } from "./tools.mjs"

export const INJECTORS = {
  ...DELIVERY_FAULTS,
  ...HISTORY_FAULTS,
  ...TOOL_FAULTS,
  ...CALL_FAULTS,
  ...CONTEXT_FAULTS,
}
