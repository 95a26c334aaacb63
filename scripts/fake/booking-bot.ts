// The program under test: it offers a table, and books for each person who says yes.

type Relay = { readonly url: string; readonly key: string; readonly secret: string }

export function startBot({ url, key, secret }: Relay) {
  const seen = new Set<string>()
  const send = async (to: string, text: string, id: string) => {
    const headers = { 'X-API-Key': key, 'X-API-Secret': secret, 'Idempotency-Key': id }
    const body = JSON.stringify({ to, text })
    const request = { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' } }
    await fetch(`${url}/api/v1/messages/send`, { ...request, body })
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const id = request.headers.get('webhook-id') ?? ''
      // A delivery may come twice.
      if (seen.has(id)) return new Response()
      seen.add(id)
      const { message } = (await request.json()) as { message: { handle: string; text: string } }
      if (/\byes\b/i.test(message.text)) await send(message.handle, 'Booked.', `booked-${id}`)
      return new Response()
    },
  })
  const offer = (to: string) => send(to, 'A table on Tuesday?', `offer-${to}`)
  const remind = (to: string) => send(to, 'Tomorrow at 8.', `remind-${to}`)
  return { url: `http://127.0.0.1:${server.port}/`, offer, remind }
}
