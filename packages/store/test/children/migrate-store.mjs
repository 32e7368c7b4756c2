// Opens a store, which creates and migrates its database.
import { openStore } from "@orangebox/store"

await openStore(process.argv[2]).store.close()
