import fc from "fast-check"
import { expect, test } from "vitest"
import { hostileText } from "../../text/test/hostile-text.js"
import { ADDRESS_FORMS } from "../src/addresses.js"
import { parseAddress } from "../src/index.js"

const RUN = "run_01JT9QK2M0A7XK3V5B8D1E6F9G"

test.each([
  ["last", { form: "last", back: 0 }],
  ["last~1", { form: "last", back: 1 }],
  ["last~12#3", { form: "step", run: { form: "last", back: 12 }, n: 3 }],
  [RUN, { form: "run", idPrefix: RUN }],
  ["run_01jt9", { form: "run", idPrefix: "run_01JT9" }],
  ["run_OIL", { form: "run", idPrefix: "run_011" }],
  [`${RUN}#12`, { form: "step", run: { form: "run", idPrefix: RUN }, n: 12 }],
  ["last#13", { form: "step", run: { form: "last", back: 0 }, n: 13 }],
  ["#12", { form: "step", run: { form: "last", back: 0 }, n: 12 }],
  ["00f067aa0ba902b7", { form: "step_id", stepId: "00f067aa0ba902b7" }],
  ["0AF7651916CD43DD8448EB211C80319C", { form: "trace", traceId: "0af7651916cd43dd8448eb211c80319c" }],
  ["sha256:ab12", { form: "body", hashPrefix: "sha256:ab12" }],
  ["ab".repeat(32), { form: "body", hashPrefix: `sha256:${"ab".repeat(32)}` }],
  ["0195a000-0000-7000-8000-000000000016", { form: "event", eventId: "0195a000-0000-7000-8000-000000000016" }],
  ["toolu_01A09q90qw90lq917835lq9", { form: "id", id: "toolu_01A09q90qw90lq917835lq9", of: "tool_call" }],
  ["call_abc", { form: "id", id: "call_abc", of: "tool_call" }],
  ["req_011CS", { form: "id", id: "req_011CS", of: "provider_request" }],
  ["chatcmpl-123", { form: "id", id: "chatcmpl-123", of: "message" }],
  ["msg_01X", { form: "id", id: "msg_01X", of: "message" }],
  ["conversation:last", { form: "id", id: "last", of: "conversation" }],
  ["request:abc", { form: "id", id: "abc", of: "provider_request" }],
  ["support-thread-7", { form: "id", id: "support-thread-7", of: undefined }],
  ["  last  ", { form: "last", back: 0 }],
])("[Q-02] %s is understood", (text, address) => {
  expect(parseAddress(text)).toEqual(address)
})

test.each([
  "",
  "#0",
  "#x",
  "last#",
  "last~",
  "last~x",
  "last~-1",
  "last~1.5#2",
  "run_",
  "run_U!",
  "sha256:zz",
  "sha256:ab",
  "a\x1bb",
  "x".repeat(600),
])("[Q-02] %j is refused with the forms there are", (text) => {
  expect(() => parseAddress(text)).toThrow(expect.objectContaining({ code: "ADDRESS_FORM" }))
  expect(() => parseAddress(text)).toThrow(ADDRESS_FORMS[2])
})

test("[Q-02] anything typed is an address or a refusal that is safe to print", () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      try {
        parseAddress(text)
      } catch (error) {
        expect(error).toMatchObject({ code: "ADDRESS_FORM" })
        expect((error as Error).message).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
      }
    }),
  )
})
