// Takes a text out of a store.
import { openStore } from "@orangebox/store"

const [folder, secret] = process.argv.slice(2)
const { store } = openStore(folder)
const text = (given) => given.replaceAll(secret, "…redacted…")
await store.redactStored({
  text,
  body: (bytes) => Buffer.from(bytes).includes(secret),
  event: (event) => {
    const json = JSON.stringify(event)
    return json.includes(secret) ? JSON.parse(text(json)) : event
  },
})
await store.close()
