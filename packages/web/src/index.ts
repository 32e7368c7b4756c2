// A run as one page that needs no server

export { type SinglePage, singlePage } from "./single-page.js"
