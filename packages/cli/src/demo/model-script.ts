import type { Constraint } from "@orangebox/contract"

/**
 * What the demo's model says. This is all that is canned: the files, the edits, the test runs and everything that is printed about
 * them happen for real.
 */
export interface ScriptedReply {
  readonly text: string
  readonly tools?: readonly { readonly name: string; readonly input: Readonly<Record<string, string>> }[]
  /** The server stops in the middle of this reply and never goes on. */
  readonly isNeverFinished?: boolean
}

export interface ScriptedTask {
  readonly entrypoint: string
  readonly request: string
  /** What the run is held to. */
  readonly constraints?: readonly Constraint[]
  /** One reply for each turn of the conversation. */
  readonly replies: readonly ScriptedReply[]
  /** The agent writes the time into its system prompt, as many do. */
  readonly hasClock?: boolean
}

export const FIX_LEAP_YEARS: ScriptedTask = {
  entrypoint: "fix-leap-years",
  request:
    "daysIn() in src/days.js is wrong in leap years. Fix it, and make the tests pass. Only change files under src/. No emojis.",
  // Of these the agent breaks the first two, on purpose: orangebox check and orangebox report show it.
  constraints: [
    { id: "src-only", type: "scope", rule: "paths.only src/**" },
    { id: "no-emoji", type: "style", rule: "output.no_emoji" },
    { id: "green", type: "other", rule: "tests.must_pass" },
    { id: "no-push", type: "safety", rule: 'commands.deny "git push" "npm publish"' },
  ],
  replies: [
    {
      text: "I will read the function and its tests first.",
      tools: [
        { name: "read_file", input: { path: "src/days.js" } },
        { name: "read_file", input: { path: "test/days.test.js" } },
      ],
    },
    {
      text: "February always gets 28 days. Every fourth year is a leap year, so I add that.",
      tools: [
        {
          name: "edit_file",
          input: {
            path: "src/days.js",
            find: "  return DAYS[month - 1]",
            replace: "  if (month === 2 && year % 4 === 0) return 29\n  return DAYS[month - 1]",
          },
        },
      ],
    },
    { text: "Now the tests.", tools: [{ name: "run_tests", input: { path: "test/days.test.js" } }] },
    {
      text: "1900 fails: centuries are leap years only when 400 divides them. I correct the condition.",
      tools: [
        {
          name: "edit_file",
          input: {
            path: "src/days.js",
            find: "  if (month === 2 && year % 4 === 0) return 29",
            replace:
              "  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0\n  if (month === 2 && isLeapYear) return 29",
          },
        },
      ],
    },
    {
      text: "While I am here, the project gets a test script. Then the tests again.",
      tools: [
        {
          name: "edit_file",
          input: {
            path: "package.json",
            find: '"type": "module"',
            replace: '"type": "module",\n  "scripts": { "test": "node --test" }',
          },
        },
        { name: "run_tests", input: { path: "test/days.test.js" } },
      ],
    },
    { text: "daysIn() now knows leap years, centuries included, and all five tests pass 🎉" },
  ],
}

export const ADD_WEEKDAYS: ScriptedTask = {
  entrypoint: "add-weekdays",
  request: "Add weekdayOf(year, month, day) to src/days.js, 0 for Sunday.",
  replies: [
    { text: "I will look at what is there.", tools: [{ name: "read_file", input: { path: "src/days.js" } }] },
    {
      text:
        "The plan: count the days since a Sunday that is known, and take the rest of a division by seven. The Gregorian calendar repeats " +
        "every 400 years, which is a whole number of weeks, so the count may start at the first of January of the year 2000, a Saturday. " +
        "Years before 2000 count backwards, and February needs the leap years that daysIn() already knows. Zeller's congruence would do " +
        "it in one line, but nobody who reads this file in a year will believe it, so I write the loop.",
      tools: [
        {
          name: "edit_file",
          input: { path: "src/days.js", find: "/** How many days", replace: "/** The day of the week */" },
        },
      ],
      isNeverFinished: true,
    },
  ],
}

export const NAME_LONG_MONTHS: ScriptedTask = {
  entrypoint: "name-long-months",
  request: "Which months have 31 days? Look it up in the project.",
  hasClock: true,
  replies: [
    { text: "I will look at the table.", tools: [{ name: "read_file", input: { path: "src/days.js" } }] },
    { text: "And at the tests.", tools: [{ name: "read_file", input: { path: "test/days.test.js" } }] },
    { text: "January, March, May, July, August, October and December." },
  ],
}

export const SCRIPT: readonly ScriptedTask[] = [NAME_LONG_MONTHS, FIX_LEAP_YEARS, ADD_WEEKDAYS]
