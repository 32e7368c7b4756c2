import { openApi } from "../openapi.js"
import { type Route, route } from "../route.js"

/** @param table whatever else can be asked for; known only once the table is */
export const openApiRoute = (table: () => readonly Route[]): Route =>
  route({
    path: "/openapi.json",
    summary: "This API as an OpenAPI 3.1 document",
    params: {},
    answer: "OpenApi",
    isHeavy: false,
    handle: async (_, { version }) => openApi(table(), version),
  })
