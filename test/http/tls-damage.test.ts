// Renewals that are still being written, or that nothing can be served with.

import { afterAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:tls'

import { listen } from '../../src/http/listener.ts'
import type { Http } from '../../src/http/server.ts'
import { TlsWatch } from '../../src/http/tls.ts'
import { silentLog } from '../../src/system/log.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import { openTestStorage } from '../support/test-storage.ts'

const folder = new ScratchFolder()
afterAll(() => folder[Symbol.dispose]())

function pairOf(name: string) {
  const [certPath, keyPath] = [folder.file(`${name}.crt`), folder.file(`${name}.pem`)]
  const request = 'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
  const where = ['-days', '90', '-subj', `/CN=${name}`, '-keyout', keyPath, '-out', certPath]
  const made = Bun.spawnSync([...request.split(' '), ...where])
  if (made.exitCode !== 0) throw new Error(made.stderr.toString())
  return { cert: readFileSync(certPath, 'utf8'), key: readFileSync(keyPath, 'utf8') }
}

const [first, renewed, chain] = [pairOf('first'), pairOf('renewed'), pairOf('chain').cert]
const http = { fetch: async () => new Response('here'), endStreams() {} } as unknown as Http // Nothing else is called.

/** The name in the certificate that a new connection is shown. */
async function shownAt(port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
    resolve(String(socket.getPeerCertificate().subject.CN))
    socket.destroy()
  })
  socket.on('error', reject)
  return promise
}

const DAMAGED = {
  'whose chain is cut in the middle': renewed.cert + chain.slice(0, 300),
  'whose chain is cut in its first line': renewed.cert + chain.slice(0, 20),
  'whose chain is cut in its last line': renewed.cert + chain.slice(0, -10),
  'whose chain is no certificate': `${renewed.cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
  'whose chain is not Base64': renewed.cert + chain.replaceAll(/[A-Z](?=[a-z])/g, '*'),
}

for (const [what, cert] of Object.entries(DAMAGED)) {
  test(`a renewal ${what} is a finding, and the certificate before it goes on being served`, async () => {
    const { core, clock } = openTestStorage(':memory:', new TestClock(Date.now()))
    const [tlsCert, tlsKey] = [folder.file('served.crt'), folder.file('served.pem')]
    const write = (pair: { readonly cert: string; readonly key: string }) => {
      writeFileSync(tlsCert, pair.cert)
      writeFileSync(tlsKey, pair.key)
    }
    write(first)
    const place = { tlsCert, tlsKey, host: '127.0.0.1', publicUrl: null }
    const watch = new TlsWatch(core, place, (pair) => listener.renew(pair))
    const options = { host: '127.0.0.1', port: 0, tls: watch.pair, log: silentLog }
    const listener = listen(http, options)
    const stop = new AbortController()
    const running = watch.run(stop.signal)

    write({ cert, key: renewed.key })
    await clock.advance(60_000)
    const during = await shownAt(listener.port)
    const found = watch.findings().map(({ code }) => code)
    write({ cert: renewed.cert + chain, key: renewed.key })
    await clock.advance(60_000)

    expect([during, found]).toEqual(['first', ['certificate_not_renewed']])
    expect([await shownAt(listener.port), watch.findings()]).toEqual(['renewed', []])
    stop.abort()
    await running
    await listener.stop(0)
  })
}

test('a certificate that the server itself refuses leaves the one before it in place', async () => {
  const options = { host: '127.0.0.1', port: 0, tls: first, log: silentLog }
  const listener = listen(http, options)

  const renew = () => listener.renew({ cert: renewed.cert, key: first.key })

  expect(renew).toThrow('Cannot listen on')
  expect(await shownAt(listener.port)).toBe('first')
  listener.renew(renewed)
  expect(await shownAt(listener.port)).toBe('renewed')
  await listener.stop(0)
})
