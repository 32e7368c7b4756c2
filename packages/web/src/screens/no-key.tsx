/** The page was opened without the way in: an old link, another browser, a server that was started anew. */
export function NoKey() {
  return (
    <main class="empty">
      <h1>This page has no key</h1>
      <p class="second">The server answers only who was let in by whoever started it. On the machine it runs on:</p>
      <pre>orangebox ui</pre>
      <p class="second">opens this page with a fresh key. Keys last as long as the server; links carry none.</p>
    </main>
  )
}
