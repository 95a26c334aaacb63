// `hookline fake` as its users start it: the built executable, as a child that prints where it is.

import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'

import { builtExecutable, cleanEnvironment } from './executable.ts'
import type { Json } from './test-relay.ts'

/** Starts it by a shell, in which `$0` is the executable; resolves with what it prints when it is ready. */
export async function startFake(script: string) {
  const child = Bun.spawn(['/bin/sh', '-c', script, builtExecutable()], {
    env: cleanEnvironment({ HOOKLINE_HOST: '256.0.0.1', HOOKLINE_DATA_DIR: '/proc/none' }),
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const reader = child.stdout.getReader()
  let text = ''
  while (!text.includes('\n')) {
    const { value, done } = await reader.read()
    if (done) throw new Error(await new Response(child.stderr).text())
    text += new TextDecoder().decode(value)
  }
  const ready: Json = JSON.parse(text)
  /** Calls it, at another address if one is given. */
  const call = async (method: string, path: string, { body, url = ready.url }: Call = {}) => {
    const headers = { 'x-api-key': ready.key, 'x-api-secret': ready.secret }
    const json = body && {
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }
    const answer = await fetch(url + path, { method, headers, ...json })
    return { status: answer.status, body: (await answer.json()) as Json }
  }
  return { child, ready, call }
}

type Call = { readonly body?: object | undefined; readonly url?: string }

/** A port of this machine that leads to another one, as a container's port is mapped. */
export async function mapPort(port: number) {
  const server = createServer((outside) => {
    const inside = connect(port, '127.0.0.1')
    outside.pipe(inside).pipe(outside)
    for (const one of [outside, inside])
      one.on('error', () => [outside, inside].map((it) => it.destroy()))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port: mapped } = server.address() as AddressInfo // It listens on a port.
  return { url: `http://localhost:${mapped}`, [Symbol.dispose]: () => void server.close() }
}
