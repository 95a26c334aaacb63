// HTTPS by the relay itself: real certificates, real sockets, and renewals on the test clock.

import { afterAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:tls'

import { TlsWatch } from '../../src/http/tls.ts'
import { eventually } from '../support/eventually.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import { type Json, startRelay } from '../support/test-relay.ts'
import { openTestStorage } from '../support/test-storage.ts'

const folder = new ScratchFolder()
afterAll(() => folder[Symbol.dispose]())

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

type Pair = { readonly cert: string; readonly key: string }

/** A pair of files with a certificate that signed itself, valid from now on. */
function pairOf(name: string, days = 90): Pair {
  const [cert, key] = [folder.file(`${name}.crt`), folder.file(`${name}.pem`)]
  const request = 'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
  const subject = ['-days', String(days), '-subj', `/CN=${name}`]
  const made = Bun.spawnSync([...request.split(' '), ...subject, '-keyout', key, '-out', cert])
  if (made.exitCode !== 0) throw new Error(made.stderr.toString())
  return { cert, key }
}

/** Puts the files of one pair in the place of another's. */
async function copy(from: Partial<Pair>, to: Pair): Promise<void> {
  if (from.cert !== undefined) writeFileSync(to.cert, await Bun.file(from.cert).text())
  if (from.key !== undefined) writeFileSync(to.key, await Bun.file(from.key).text())
}

/** A relay on a free port, whose webhooks are really called. */
async function startTls(pair: Pair, more: Readonly<Record<string, string>> = {}) {
  const clock = new TestClock(Date.now())
  const environment = {
    HOOKLINE_PORT: '0',
    HOOKLINE_TLS_CERT: pair.cert,
    HOOKLINE_TLS_KEY: pair.key,
    ...more,
  }
  const parts = { isListening: true }
  const home = new ScratchFolder()
  const relay = await startRelay({ clock, environment, parts, folder: home.path, post: 'own' })
  const document = await relay.request('GET', '/swagger/json', undefined, { host: 'localhost' })
  const url: string = document.body.servers[0].url
  const port = Number(new URL(url).port)
  const findings = async (): Promise<readonly Json[]> =>
    (await relay.get('/api/v1/health')).data.filter(({ code }: Json) => /tls|certif/.test(code))
  return { ...relay, clock, port, url, findings }
}

const TRUSTING = { tls: { rejectUnauthorized: false } }

/** The watch alone, with which nothing listens. */
function watchOf(place: ConstructorParameters<typeof TlsWatch>[1], clock = new TestClock()) {
  return new TlsWatch(openTestStorage(':memory:', clock).core, place, () => {})
}

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

test('a relay with a certificate serves HTTPS and nothing else, and a cookie that is for HTTPS only', async () => {
  await using relay = await startTls(pairOf('first'), {
    HOOKLINE_ADMIN_PASSWORD: 'long enough now',
  })

  const health = await fetch(`${relay.url}/healthz`, TRUSTING)
  const plain = await fetch(`http://127.0.0.1:${relay.port}/healthz`).catch(() => null)
  const body = JSON.stringify({ password: 'long enough now' })
  const signIn = await fetch(`${relay.url}/dashboard/session`, {
    ...TRUSTING,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body,
  })

  expect(await health.json()).toEqual({ status: 'ok' })
  expect(health.headers.has('strict-transport-security')).toBe(false)
  expect(plain?.ok ?? false).toBe(false)
  expect(signIn.headers.get('set-cookie')).toMatch(/^__Host-hookline_session=.+; Secure$/)
  expect(await relay.findings()).toEqual([])
})

test('a renewal is served within a minute, and open connections go on; half of one leaves the old, with a finding', async () => {
  const files = pairOf('served')
  await using relay = await startTls(files)
  const headers = { 'x-api-key': relay.key?.key ?? '', 'x-api-secret': relay.key?.secret ?? '' }
  const stream = await fetch(`${relay.url}/api/v1/events/stream`, { ...TRUSTING, headers })
  const reader = stream.body?.getReader()
  const first = await shownAt(relay.port)
  const link = await relay.app.dashboard.createSetupLink()

  await copy(pairOf('renewed'), files)
  await relay.clock.advance(MINUTE_MS)
  const second = await shownAt(relay.port)
  await relay.clock.advance(MINUTE_MS)
  const beat = await reader?.read()
  const whole = pairOf('whole')
  await copy({ cert: whole.cert }, files)
  await relay.clock.advance(MINUTE_MS)
  const during = await shownAt(relay.port)
  const found = await relay.findings()
  await copy({ key: whole.key }, files)
  await relay.clock.advance(MINUTE_MS)

  expect([first, second]).toEqual(['served', 'renewed'])
  expect(link.url).toStartWith(`${relay.url}/#/setup/`)
  expect([stream.status, beat?.done]).toEqual([200, false])
  expect(during).toBe('renewed')
  expect(found).toMatchObject([{ code: 'certificate_not_renewed', severity: 'warning' }])
  expect(found[0].why).toStartWith(
    `The key in ${files.key} is not that of the first certificate in ${files.cert}.`,
  )
  expect(await shownAt(relay.port)).toBe('whole')
  expect((await fetch(`${relay.url}/healthz`, TRUSTING)).status).toBe(200)
  expect(await relay.findings()).toEqual([])
  await reader?.cancel()
})

test('the test inbox takes events of a relay whose certificate has another name', async () => {
  await using relay = await startTls(pairOf('elsewhere.example'))
  const url = `${relay.url}/test-inbox/${'a'.repeat(32)}`
  const { body } = await relay.post('/api/v1/webhooks', { url, events: ['message.sent'] })

  await relay.post(`/api/v1/webhooks/${body.id}/test`, {})
  const delivery = await eventually('an attempt was made', async (): Promise<Json> => {
    await relay.clock.advance(100)
    const [first] = (await relay.get(`/api/v1/webhooks/${body.id}/deliveries`)).data
    return first.attempt_count === 1 ? first : null
  })

  expect(delivery.status).toBe('succeeded')
})

test('files that are no pair are refused at the start, each with its sentence', () => {
  const [one, other] = [pairOf('one'), pairOf('other')]
  const nothing = folder.file('nothing')
  writeFileSync(nothing, 'no PEM')
  const start = (tlsCert: string | null, tlsKey: string | null) => () =>
    watchOf({ tlsCert, tlsKey, host: '127.0.0.1', publicUrl: null })

  expect(start(one.cert, null)).toThrow('--tls-cert and --tls-key belong together')
  expect(start(one.cert, other.key)).toThrow(`The key in ${other.key} is not that of the first`)
  expect(start(nothing, one.key)).toThrow(`${nothing} holds no certificate in PEM.`)
  expect(start(one.cert, nothing)).toThrow(`${nothing} holds no private key in PEM`)
  expect(start('/nowhere', one.key)).toThrow('/nowhere cannot be read.')
  expect(start(null, null)).not.toThrow()
})

test('a certificate that expires soon is a warning, an expired one an error', async () => {
  const { cert: tlsCert, key: tlsKey } = pairOf('short', 90)
  const clock = new TestClock(Date.now())
  const place = { tlsCert, tlsKey, host: '0.0.0.0', publicUrl: null }
  const watch = watchOf(place, clock)
  const after = async (days: number) => {
    await clock.advance(days * DAY_MS)
    return watch.findings().map(({ code, severity }) => `${severity} ${code}`)
  }

  expect(await after(75)).toEqual([])
  expect(await after(2)).toEqual(['warning certificate_expires'])
  expect(await after(14)).toEqual(['error certificate_expires'])
})

test('a relay that others reach by HTTP says so, and not behind a proxy with TLS', () => {
  const found = (host: string, publicUrl: string | null) =>
    watchOf({ tlsCert: null, tlsKey: null, host, publicUrl })
      .findings()
      .map(({ code }) => code)

  expect(found('0.0.0.0', null)).toEqual(['lan_without_tls'])
  expect(found('0.0.0.0', 'http://relay.example')).toEqual(['lan_without_tls'])
  expect(found('0.0.0.0', 'https://relay.example')).toEqual([])
  expect([...found('127.0.0.1', null), ...found('::1', null), ...found('localhost', null)]).toEqual(
    [],
  )
})
