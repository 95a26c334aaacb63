// Yardstick of the deliveries: signed posts as fast as one loop of `fetch` can, with as many in flight.
// Arguments: the urls, joined by commas, how many at once, how many in all. Prints posts per second.

import { createHmac } from 'node:crypto'

const [list = '', atOnce = '64', all = '20000', body = '{}'] = process.argv.slice(2)
const urls = list.split(',')
const total = Number(all)
const secret = Buffer.alloc(32, 7)

let next = 0
const startedAt = performance.now()
await Promise.all(Array.from({ length: Number(atOnce) }, work))
console.log(Math.round(total / ((performance.now() - startedAt) / 1_000)))

async function work(): Promise<void> {
  while (next < total) {
    next += 1
    const id = `evt_${next}`
    const timestamp = Math.floor(Date.now() / 1_000)
    const signature = createHmac('sha256', secret)
      .update(`${id}.${timestamp}.${body}`)
      .digest('base64')
    const response = await fetch(urls[next % urls.length] ?? '', {
      method: 'POST',
      body,
      headers: {
        'Content-Type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': `v1,${signature}`,
      },
      signal: AbortSignal.timeout(10_000),
    })
    await response.text()
  }
}
