// Yardstick of the sends: as little as a server can do with the same request: parse it, and answer.

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    const body = (await request.json()) as { to: string; text: string } // The load's own words.
    return Response.json({ id: crypto.randomUUID(), to: body.to, text: body.text, status: 'sent' })
  },
})
console.log(server.url.origin)
